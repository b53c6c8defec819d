package org.mdlagent.profiler.report.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.report.slice.Timeline;

/// Where the kernel's clock found the threads, as the page shows it in a real browser.
class CpuTimeOnPageTest {
    @TempDir
    private Path directory;

    private String page(SessionImage image) throws IOException {
        Profile profile = Profiles.read(image, directory.resolve("session"));
        StringBuilder page = new StringBuilder();
        HtmlReport.write(profile, Timeline.NONE, List.of(), ProfileOrder.TOTAL, 100, page);
        return page.toString();
    }

    @Test
    void shouldShowWhereTheCpuTimeWasSpent() throws Exception {
        JsonNode seen = HtmlReportTest.use(page(SessionImage.cpuSample()), directory, """
                const seen = { facts: byId("facts").textContent, first: column(0).join(), cpu: column(3).join() };
                head(3).click();
                seen.byCpu = column(0).join();
                head(4).click();
                seen.bySelf = column(0).join();
                document.querySelectorAll("#rows .row")[1].click();
                seen.detail = byId("detail").innerText;
                seen.never = document.querySelectorAll("#rows .never").length;
                return seen;
                """);

        assertThat(seen.at("/facts").asText())
                .contains(" · not probed: 28.7 % of the CPU time: libc.so.6 18.0 %, libz.so.1 10.0 %, elsewhere 0.7 %");
        assertThat(seen.at("/first").asText()).isEqualTo("hot,loop,rare");
        assertThat(seen.at("/cpu").asText()).isEqualTo("≈ 600 ms ±8.0 %,≈ 100 ms ±20 %,-");
        assertThat(seen.at("/byCpu").asText()).isEqualTo("hot,loop,rare");
        assertThat(seen.at("/bySelf").asText()).isEqualTo("hot,loop,rare");
        assertThat(seen.at("/detail").asText())
                .contains(
                        "loop",
                        "≈ 100 ms, with 95 % certainty 80.4 ms to 120 ms",
                        "It ran, and no call of it was seen.");
        assertThat(seen.at("/never").asInt()).isZero();
    }

    @Test
    void shouldHaveNoColumnOfCpuTimeWithoutSamples() throws Exception {
        SessionImage empty = SessionImage.sampledSample();
        empty.cpuSamples(0, 0, 0);
        String page = page(SessionImage.sampledSample());

        JsonNode seen = HtmlReportTest.use(
                page, directory, "return { width: document.querySelectorAll('#head .cell')[3].offsetWidth };");

        assertThat(seen.at("/width").asInt(-1)).isZero();
        assertThat(page(empty)).isEqualTo(page);
    }

    @Test
    void shouldHaveRoomForTheColumnInAnyWindow() throws Exception {
        URI page = Files.writeString(directory.resolve("page.html"), page(SessionImage.cpuSample()))
                .toUri();
        String cells = "[...document.querySelectorAll('#head .cell')].filter((cell) => cell.offsetHeight > 0)";
        try (Browser browser = new Browser(directory)) {
            for (int width : new int[] {390, 660, 720, 900, 1180, 1230, 1280, 1400, 1480, 1600}) {
                browser.open(page, width, false);

                assertThat(browser.text("new Set(" + cells + ".map((cell) => cell.offsetTop)).size"))
                        .as("lines at " + width)
                        .isEqualTo("1");
                assertThat(browser.text(cells + ".some((cell) => cell.innerText.startsWith('CPU'))"))
                        .as("CPU at " + width)
                        .isEqualTo("true");
                assertThat(browser.text("byId('grid').scrollWidth - byId('grid').clientWidth"))
                        .as("what is beyond the table at " + width)
                        .isEqualTo("0");
                assertThat(browser.text("getComputedStyle(byId('head')).gridTemplateColumns.split(' ').length - "
                                + cells + ".length"))
                        .as("widths without cells at " + width)
                        .isEqualTo("0");
            }
            assertThat(browser.exceptions()).isEmpty();
        }
    }
}
