package org.mdlagent.profiler.report.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;

class SessionsPageTest {
    @TempDir
    private Path directory;

    private static String page(List<SessionsPage.Live> live, List<SessionsPage.Ended> ended) throws IOException {
        StringBuilder out = new StringBuilder();
        SessionsPage.write(live, ended, "a<b>", out);
        return out.toString();
    }

    @Test
    void shouldLinkToTheProgramsThatRunAndToThoseThatHaveEnded() throws IOException {
        Profile profile = Profiles.read(SessionImage.exactSample(), directory);

        String page = page(
                List.of(new SessionsPage.Live("app-1 #ä", profile)),
                List.of(new SessionsPage.Ended("app-2", profile.session(), "killed by 9")));

        assertThat(page)
                .contains("<a href=\"/session/app-1%20%23%C3%A4\">app</a>", "1 program runs", "2 of 3")
                .contains("<a href=\"/session/app-2\">app</a>", "killed by 9");
    }

    @Test
    void shouldShowAnyNameAsText() throws IOException {
        Profile profile = Profiles.with(
                Profiles.read(SessionImage.exactSample(), directory),
                List.of(Profiles.function(Profiles.HOSTILE, 100)));

        String page = page(List.of(new SessionsPage.Live("\"><b>", profile)), List.of());

        assertThat(page).contains("&lt;b&gt;&amp;amp; 'ä😀").doesNotContain("<b>", "\u2028", "\u202e");
    }

    @Test
    void shouldSayThatAnAgentHasFailed() throws IOException {
        SessionImage image = SessionImage.exactSample();
        image.putInt(HeaderDescriptor.STATE, HeaderDescriptor.STATE_AGENT_DEAD);

        Profile profile = Profiles.read(image, directory);

        assertThat(page(List.of(new SessionsPage.Live("app", profile)), List.of()))
                .contains("<td>agent failed</td>");
    }

    @Test
    void shouldSayWhatToDoWhereNothingRuns() throws IOException {
        assertThat(page(List.of(), List.of())).contains("<p class=\"none\" >", "mdl run -- PROGRAM", "<table hidden>");
    }
}
