package org.mdlagent.profiler.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LiveReportTest {
    @TempDir
    private Path directory;

    private Profile session;

    @BeforeEach
    void read() throws IOException {
        session = Profiles.read(SessionImage.exactSample(), directory);
    }

    private Profile with(FunctionProfile... functions) {
        return Profiles.with(session, List.of(functions));
    }

    private static String news(LiveReport report, long since) throws IOException {
        StringBuilder out = new StringBuilder();
        report.writeNews(since, out);
        return out.toString();
    }

    private static List<String> all(JsonNode array, String member) {
        List<String> all = new ArrayList<>();
        array.forEach(element -> all.add(element.at(member).asText()));
        return all;
    }

    @Test
    void shouldHoldWhatHasChangedSinceALook() throws IOException {
        LiveReport first = new LiveReport(with(Profiles.function("a", 100), Profiles.function("b", 200)), true, 1_000);
        LiveReport second = first.next(
                with(Profiles.function("a", 100), Profiles.function("b", 200, 250), Profiles.function("c", 1)),
                false,
                2_000);

        JsonNode news = new ObjectMapper().readTree(news(second, 1_000));

        assertThat(news.at("/look").asLong()).isEqualTo(2_000);
        assertThat(news.at("/runs").asBoolean()).isFalse();
        assertThat(all(news.at("/positions"), "")).containsExactly("1", "2");
        assertThat(all(news.at("/functions"), "/name")).containsExactly("b", "c");
        assertThat(news.at("/functions/0/calls").asLong()).isEqualTo(2);
        assertThat(all(new ObjectMapper().readTree(news(second, 2_000)).at("/functions"), "/name"))
                .isEmpty();
    }

    @Test
    void shouldHoldAllForWhoKnowsNoLookOfIt() throws IOException {
        LiveReport report = new LiveReport(with(Profiles.function("a", 100), Profiles.function("b")), true, 1_000)
                .next(with(Profiles.function("a", 100), Profiles.function("b")), true, 1_000);

        for (long since : new long[] {0, 999, 5_000}) {
            assertThat(all(new ObjectMapper().readTree(news(report, since)).at("/functions"), "/name"))
                    .as("since " + since)
                    .containsExactly("a", "b");
        }
        // Two looks within a millisecond are two.
        assertThat(new ObjectMapper().readTree(news(report, 1_000)).at("/look").asLong())
                .isEqualTo(1_001);
    }

    @Test
    void shouldStayAsItsReaderHasLeftIt() throws Exception {
        LiveReport first = new LiveReport(
                with(
                        Profiles.function("slow", 5_000, 5_000),
                        Profiles.function("fast", 100),
                        Profiles.function("other", 7)),
                true,
                1_000);
        LiveReport second = first.next(
                with(
                        Profiles.function("slow", 5_000, 5_000),
                        Profiles.function("fast", 100, 20_000, 100),
                        Profiles.function("other", 7),
                        Profiles.function(Profiles.HOSTILE, 1)),
                true,
                2_000);
        StringBuilder page = new StringBuilder();
        first.writePage("/session/a/profile.json", page);
        String coming = Base64.getEncoder().encodeToString(news(second, 1_000).getBytes(StandardCharsets.UTF_8));

        JsonNode seen = HtmlReportTest.use(page.toString(), directory, """
                const news = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob("%s"), (c) => c.charCodeAt(0))));
                news.elapsedNanos += 2e9;
                const seen = { state: byId("state").textContent, before: column(0) };
                type("a.c");
                document.querySelectorAll("#rows .row")[1].click();
                seen.opened = document.querySelector("#detail h2").textContent;
                update(news);
                seen.after = column(0);
                seen.calls = column(1);
                seen.rates = column(2);
                seen.filter = byId("filter").value;
                seen.chosen = document.querySelector("[aria-selected=true]").children[0].textContent;
                seen.detail = byId("detail").innerText;
                seen.look = data.look;
                byId("grid").focus();
                press("p");
                seen.paused = byId("state").textContent;
                return seen;
                """.formatted(coming));

        assertThat(seen.at("/state").asText()).isEqualTo("live");
        assertThat(all(seen.at("/before"), "")).containsExactly("slow", "fast", "other");
        assertThat(seen.at("/opened").asText()).isEqualTo("fast");
        assertThat(all(seen.at("/after"), "")).containsExactly("fast", "slow", "other", Profiles.HOSTILE);
        assertThat(all(seen.at("/calls"), "")).containsExactly("3", "2", "1", "1");
        assertThat(all(seen.at("/rates"), "")).containsExactly("1/s", "0/s", "0/s", "0.500/s");
        assertThat(seen.at("/filter").asText()).isEqualTo("a.c");
        assertThat(seen.at("/chosen").asText()).isEqualTo("fast");
        assertThat(seen.at("/detail").asText()).contains("fast", "20.2 us");
        assertThat(seen.at("/look").asLong()).isEqualTo(2_000);
        assertThat(seen.at("/paused").asText()).isEqualTo("paused");
    }
}
