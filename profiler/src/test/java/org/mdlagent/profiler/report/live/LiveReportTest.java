package org.mdlagent.profiler.report.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.page.HtmlReportTest;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.profiler.text.ForeignText;

class LiveReportTest {
    private static final int MANY = 20_000;

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

    private static String news(LiveReport report, long since, Integer... inView) throws IOException {
        StringBuilder out = new StringBuilder();
        report.writeNews(since, Set.of(inView), out);
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
        assertThat(news.at("/functions/0/calls").asLong()).isEqualTo(2);
        assertThat(all(new ObjectMapper().readTree(news(second, 2_000)).at("/functions"), "/name"))
                .isEmpty();
    }

    @Test
    void shouldHoldNamesOfNewFunctionsAndHistogramsOfThoseInView() throws IOException {
        FunctionProfile b = Profiles.function("b", 200, 250);
        LiveReport report = new LiveReport(
                        with(Profiles.function("a", 100), Profiles.function("b", 200), Profiles.function("?")),
                        true,
                        1_000)
                .next(
                        with(Profiles.function("a", 100), b, Profiles.function("found"), Profiles.function("c", 1)),
                        true,
                        2);

        JsonNode unseen = new ObjectMapper().readTree(news(report, 1_000));
        JsonNode seen = new ObjectMapper().readTree(news(report, 1_001, 0, 1, 99));

        assertThat(all(unseen.at("/positions"), "")).containsExactly("1", "2", "3");
        assertThat(all(unseen.at("/functions"), "/name")).containsExactly("", "found", "c");
        assertThat(unseen.at("/functions/0").has("latency")).isFalse();
        assertThat(unseen.at("/functions/2/latency").size()).isEqualTo(2);
        assertThat(all(seen.at("/positions"), "")).containsExactly("0", "1");
        assertThat(seen.at("/functions/1/latency").size()).isEqualTo(4);
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
        first.writePage("/session/a", page);
        String coming =
                Base64.getEncoder().encodeToString(news(second, 1_000, 1).getBytes(StandardCharsets.UTF_8));

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
                seen.inView = inView().map((i) => data.functions[i].name);
                return seen;
                """.formatted(coming));

        assertThat(seen.at("/state").asText()).isEqualTo("live");
        assertThat(all(seen.at("/before"), "")).containsExactly("slow", "fast", "other");
        assertThat(seen.at("/opened").asText()).isEqualTo("fast");
        assertThat(all(seen.at("/after"), ""))
                .containsExactly("fast", "slow", "other", ForeignText.printable(Profiles.HOSTILE));
        assertThat(all(seen.at("/calls"), "")).containsExactly("3", "2", "1", "1");
        assertThat(all(seen.at("/rates"), "")).containsExactly("1/s", "0/s", "0/s", "0.500/s");
        assertThat(seen.at("/filter").asText()).isEqualTo("a.c");
        assertThat(seen.at("/chosen").asText()).isEqualTo("fast");
        assertThat(seen.at("/detail").asText()).contains("fast", "20.2 us");
        assertThat(seen.at("/look").asLong()).isEqualTo(2_000);
        assertThat(seen.at("/paused").asText()).isEqualTo("paused");
        assertThat(all(seen.at("/inView"), "")).contains("fast", ForeignText.printable(Profiles.HOSTILE));
    }

    @Test
    void shouldHoldAFunctionThatHasRunSinceALookThoughItWasNotCalled() throws IOException {
        LiveReport first = new LiveReport(with(Profiles.function("a"), Profiles.function("b", 200)), true, 1_000);
        LiveReport second =
                first.next(with(Profiles.function("a").withCpu(4_000, 0.98), Profiles.function("b", 200)), true, 2_000);

        JsonNode news = new ObjectMapper().readTree(news(second, 1_000));

        assertThat(news.at("/positions").size()).isEqualTo(1);
        assertThat(news.at("/positions/0").asInt()).isZero();
        assertThat(news.at("/functions/0/cpuNanos").asLong()).isEqualTo(4_000);
    }

    private static String heat(SessionReader session, int function, long from) throws IOException {
        StringBuilder out = new StringBuilder();
        new HeatNews(session, function, from).write(out);
        return out.toString();
    }

    /// A bound for the bytes that come each second.
    @Test
    void shouldTakeNewsOfManyFunctions() throws Exception {
        JsonNode seen = newsOfMany();

        assertThat(seen.at("/rows").asInt()).isEqualTo(MANY);
        assertThat(seen.at("/calls").asText()).isEqualTo("30");
    }

    @Test
    @Tag("timing")
    void shouldStayFluentWhereManyFunctionsAreCalled() throws Exception {
        assertThat(newsOfMany().at("/millis").asDouble()).isLessThan(1_000);
    }

    private JsonNode newsOfMany() throws Exception {
        SplittableRandom random = new SplittableRandom(MANY);
        List<FunctionProfile> before = new ArrayList<>();
        List<FunctionProfile> after = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            long[] nanos = random.longs(30, 20, 1_000_000).toArray();
            before.add(Profiles.function("function_" + i, Arrays.copyOf(nanos, 20)));
            after.add(Profiles.function("function_" + i, nanos));
        }
        LiveReport first = new LiveReport(Profiles.with(session, before), true, 1_000);
        LiveReport second = first.next(Profiles.with(session, after), true, 2_000);
        StringBuilder page = new StringBuilder();
        first.writePage("/session/a", page);
        String news = news(second, 1_000, 0, 1, 2);

        assertThat(news.length()).isLessThan(MANY * 350);
        return HtmlReportTest.use(page.toString(), directory, """
                const news = %s;
                const begin = performance.now();
                update(news);
                return { millis: performance.now() - begin, rows: table.rows.length, calls: column(1)[0] };
                """.formatted(news));
    }

    @Test
    void shouldTellOfTheSlicesOfAFunctionThatAPageDoesNotKnow() throws IOException {
        SessionImage.sliceSample().write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            JsonNode all = new ObjectMapper().readTree(heat(reader, 1, 0));
            JsonNode last = new ObjectMapper().readTree(heat(reader, 1, 2));
            JsonNode none = new ObjectMapper().readTree(heat(reader, 1, 3));

            String row = all.at("/heat/1").asText();
            assertThat(all.at("/columns").size()).isEqualTo(6);
            assertThat(all(all.at("/heat"), "")).containsExactly("0", row, "1", "1", row, "2", "2", row, "3");
            assertThat(all.at("/next").asLong()).isEqualTo(3);
            assertThat(all(last.at("/columns"), ""))
                    .isEqualTo(all(all.at("/columns"), "").subList(4, 6));
            assertThat(all(last.at("/heat"), "")).containsExactly("0", row, "3");
            assertThat(none.toString()).isEqualTo("{\"columns\":[],\"next\":3,\"heat\":[]}");
            assertThat(new ObjectMapper().readTree(heat(reader, 99, 0)).at("/heat"))
                    .isEmpty();
        }
    }

    @Test
    void shouldGoOnWithTheHeatMapOfTheFunctionThatIsOpen() throws Exception {
        Path sliced = Files.createDirectories(directory.resolve("sliced"));
        SessionImage.sliceSample().write(sliced);
        StringBuilder page = new StringBuilder();
        String all;
        String last;
        try (SessionReader reader = SessionReader.open(sliced)) {
            new LiveReport(reader.profile(), true, 1_000).writePage("/session/a", page);
            all = heat(reader, 1, 0);
            last = heat(reader, 1, 2);
        }

        JsonNode seen = HtmlReportTest.use(page.toString(), directory, """
                const seen = {};
                const cells = () => [...document.querySelectorAll("#heat path")]
                  .reduce((sum, path) => sum + (path.getAttribute("d").match(/M/g) ?? []).length, 0);
                const says = () => document.querySelector("#heat output").textContent;
                type("work");
                document.querySelector("#rows .row").click();
                seen.before = byId("heat").innerText;
                addSlices(view.shown, %1$s);
                redrawDetail();
                seen.first = cells();
                document.querySelector("#heat svg").focus();
                press("ArrowRight");
                seen.chosen = says();
                addSlices(view.shown, %2$s);
                redrawDetail();
                seen.more = cells();
                seen.still = says();
                seen.focused = document.activeElement === document.querySelector("#heat svg");
                for (let i = 0; i < 500; i++) {
                  addSlices(view.shown, %2$s);
                }
                seen.columns = view.shown.columns.length;
                seen.leftmost = view.shown.heat.slice(0, 3);
                return seen;
                """.formatted(all, last));

        assertThat(seen.at("/before").asText()).isEmpty();
        assertThat(seen.at("/first").asInt()).isEqualTo(3);
        assertThat(seen.at("/chosen").asText()).contains(": 1 calls");
        assertThat(seen.at("/more").asInt()).isEqualTo(4);
        assertThat(seen.at("/still")).isEqualTo(seen.at("/chosen"));
        assertThat(seen.at("/focused").asBoolean()).isTrue();
        assertThat(seen.at("/columns").asInt()).isEqualTo(960);
        assertThat(seen.at("/leftmost/0").asInt()).isZero();
        assertThat(seen.at("/leftmost/2").asInt()).isEqualTo(3);
    }
}
