package org.mdlagent.profiler.report.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.layout.MetricDescriptor;
import org.mdlagent.arch.layout.MetricPoints;
import org.mdlagent.arch.layout.PointDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.profiler.report.format.Tool;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.FunctionSource;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.profile.SlowCall;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.profiler.report.slice.TimeSlice;
import org.mdlagent.profiler.report.slice.Timeline;
import org.mdlagent.profiler.text.ForeignText;

public class HtmlReportTest {
    /// As it is shown.
    private static final String HOSTILE = ForeignText.printable(Profiles.HOSTILE);

    private static final Pattern DATA =
            Pattern.compile("<script type=\"application/json\" id=\"data\">(.*?)</script>", Pattern.DOTALL);

    @TempDir
    private Path directory;

    private static String report(Profile profile) throws IOException {
        return report(profile, Timeline.NONE);
    }

    private static String report(Profile profile, Timeline timeline) throws IOException {
        StringBuilder out = new StringBuilder();
        HtmlReport.write(profile, timeline, List.of(), ProfileOrder.TOTAL, Integer.MAX_VALUE, out);
        return out.toString();
    }

    private static JsonNode data(String page) throws IOException {
        Matcher data = DATA.matcher(page);
        assertThat(data.find()).isTrue();
        return new ObjectMapper().readTree(data.group(1));
    }

    private Profile sample(FunctionProfile... functions) throws IOException {
        return Profiles.with(Profiles.read(SessionImage.exactSample(), directory), List.of(functions));
    }

    @Test
    void shouldHoldSamplesInTheOrderOfTime() throws IOException {
        JsonNode data = data(report(Profiles.read(SessionImage.samplesSample(), directory)));

        // Milliseconds since the one before, thread, path and weight in turn.
        assertThat(data.at("/samples").size()).isEqualTo(40);
        assertThat(data.at("/samples/0").asLong()).isZero();
        assertThat(data.at("/samples/4").asLong()).isEqualTo(100);
        assertThat(data.at("/samples/1").asLong()).isEqualTo(1);
        assertThat(data.at("/samples/37").asLong()).isEqualTo(2);
        long path = data.at("/samples/38").asLong();
        assertThat(data.at("/frames/" + data.at("/paths/" + 4 * path).asLong() + "/name")
                        .asText())
                .isEqualTo("leaf");
        assertThat(data.at("/sampledThreads/2/name").asText()).isEqualTo("second");
        assertThat(data.at("/nanosPerSample").asLong()).isEqualTo(100);
    }

    @Test
    void shouldHoldTheTimeOffTheProcessorsByPath() throws IOException {
        JsonNode data = data(report(Profiles.read(SessionImage.waitsSample(), directory)));

        assertThat(data.at("/waits").size()).isEqualTo(8 + 1);
        // Of main, and of work called by it.
        assertThat(data.at("/waits/0").asLong()).isEqualTo(30_000);
        assertThat(data.at("/waits/1").asLong()).isEqualTo(20_000);
        assertThat(data.at("/paths/2").asLong()).isEqualTo(8_500);
    }

    @Test
    void shouldHoldTheSourceLinesThatSamplesHaveMet() throws IOException {
        Profile profile = Profiles.read(SessionImage.samplesSample(), directory);
        FunctionSource source = new FunctionSource(
                profile.functions().get(1),
                "/src/work.c",
                new TreeMap<>(Map.of(7, 2L, 9, 3L)),
                6,
                List.of("{", "  if (a < b) {"));
        StringBuilder out = new StringBuilder();
        HtmlReport.write(
                profile, Timeline.NONE, List.of(), SlowCall.All.NONE, List.of(source), ProfileOrder.TOTAL, 100, out);
        JsonNode shown = data(out.toString()).at("/sources/0");

        assertThat(shown.at("/file").asText()).isEqualTo("/src/work.c");
        assertThat(shown.at("/lines").toString()).isEqualTo("[7,2,9,3]");
        assertThat(shown.at("/text/1").asText()).isEqualTo("  if (a < b) {");
    }

    @Test
    void shouldHoldTheFiguresAndTheDistributions() throws IOException {
        JsonNode data = data(report(Profiles.read(SessionImage.exactSample(), directory)));

        JsonNode parse = data.at("/functions/1");
        assertThat(parse.at("/name").asText()).isEqualTo("ns::parse(char const*)");
        assertThat(parse.at("/p50Nanos").asLong()).isEqualTo(200);
        assertThat(parse.at("/latency").size()).isEqualTo(8);
        // Durations and calls in turn.
        assertThat(parse.at("/latency/0").asLong()).isEqualTo(100);
        assertThat(parse.at("/latency/1").asLong()).isEqualTo(1);
        assertThat(parse.at("/latency/6").asDouble() / 1_000_000).isBetween(0.99, 1.01);
        assertThat(data.at("/functions/2/latency").size()).isZero();
        assertThat(data.at("/session/id").asText()).isEqualTo("app-4711-20231114T221320");
        assertThat(data.at("/elapsedNanos").asLong()).isEqualTo(2_000_000_000);
        assertThat(data.at("/sortedBy").asText()).isEqualTo("total");
    }

    @Test
    void shouldHoldTheErrorOfAnEstimate() throws IOException {
        JsonNode data = data(report(Profiles.read(SessionImage.sampledSample(), directory)));

        assertThat(data.at("/functions")).anySatisfy(function -> {
            assertThat(function.at("/name").asText()).isEqualTo("hot");
            assertThat(function.at("/callsError").asDouble()).isBetween(0.059, 0.061);
        });
    }

    @Test
    void shouldNotLetANameEndTheData() throws IOException {
        JsonNode data = data(report(sample(Profiles.function(Profiles.HOSTILE, 100))));

        assertThat(data.at("/functions/0/name").asText()).isEqualTo(HOSTILE);
    }

    @Test
    void shouldLoadNothing() throws IOException {
        String page = report(sample(Profiles.function("f", 100)));

        assertThat(page).contains("default-src 'none'");
        assertThat(page.replace("http://www.w3.org/2000/svg", ""))
                .doesNotContain("http://", "https://", "src=", "@import");
    }

    private JsonNode use(Profile profile, String script) throws Exception {
        return use(profile, Timeline.NONE, script);
    }

    private JsonNode use(Profile profile, Timeline timeline, String script) throws Exception {
        return use(report(profile, timeline), directory, script);
    }

    /// Opens the page in a browser and lets `script` use it as a reader would; returns what the script returned.
    public static JsonNode use(String written, Path directory, String script) throws Exception {
        Tool chromium = Tool.installed("chromium", "chromium");
        Path page = directory.resolve("report.html");
        String use = """
                <script>
                const press = (key) => document.activeElement.dispatchEvent(
                  new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
                const type = (words) => {
                  byId("filter").value = words;
                  byId("filter").dispatchEvent(new Event("input"));
                };
                const column = (n) => [...document.querySelectorAll("#rows .row")]
                  .map(({ children }) => children[n].title || children[n].textContent);
                const head = (n) => document.querySelectorAll("#head button")[n];
                addEventListener("load", () => {
                  const seen = (() => { %s })();
                  document.body.replaceChildren(element("pre", { id: "seen" }, btoa(encodeURIComponent(JSON.stringify(seen)))));
                });
                </script>
                """;
        Files.writeString(page, written + use.formatted(script));
        String dom = chromium.run(
                page,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--user-data-dir=" + directory.resolve("chromium"),
                "--window-size=1280,900",
                "--dump-dom",
                page.toUri().toString());
        Matcher seen =
                Pattern.compile("<pre id=\"seen\">([A-Za-z0-9+/=]*)</pre>").matcher(dom);
        assertThat(seen.find()).as(dom).isTrue();
        String encoded = new String(Base64.getDecoder().decode(seen.group(1)), StandardCharsets.US_ASCII);
        String json = URLDecoder.decode(encoded, StandardCharsets.UTF_8);
        return new ObjectMapper().readTree(json);
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(text -> texts.add(text.asText()));
        return texts;
    }

    @Test
    void shouldSortFilterAndOpenByMouse() throws Exception {
        Profile profile = sample(
                Profiles.function("slow", 5_000, 5_000),
                Profiles.function("fast", 100, 100, 100),
                Profiles.function("unused"),
                Profiles.function(Profiles.HOSTILE, 20));

        JsonNode seen = use(profile, """
                const seen = { first: column(0) };
                head(0).click();
                seen.byName = column(0);
                head(1).click();
                seen.byCalls = column(0);
                head(1).click();
                seen.byCallsAscending = column(0);
                byId("uncalled").click();
                seen.all = column(0);
                type("FAST a.c");
                seen.filtered = column(0);
                type("no such function");
                seen.none = byId("rows").textContent;
                type("");
                document.querySelector("#rows .row").click();
                document.querySelectorAll("#rows .row")[3].click();
                seen.detail = byId("detail").innerText;
                seen.charts = document.querySelectorAll("#detail svg.chart").length;
                seen.scripts = document.scripts.length;
                document.querySelector("#detail .close").click();
                seen.closed = byId("detail").hidden;
                return seen;
                """);

        assertThat(texts(seen.at("/first"))).containsExactly("slow", "fast", HOSTILE);
        assertThat(texts(seen.at("/byName"))).containsExactly("fast", HOSTILE, "slow");
        assertThat(texts(seen.at("/byCalls"))).containsExactly("fast", "slow", HOSTILE);
        assertThat(texts(seen.at("/byCallsAscending"))).containsExactly(HOSTILE, "slow", "fast");
        assertThat(texts(seen.at("/all"))).startsWith("unused").hasSize(4);
        assertThat(texts(seen.at("/filtered"))).containsExactly("fast");
        assertThat(seen.at("/none").asText()).isEqualTo("No function matches.");
        assertThat(seen.at("/detail").asText()).contains("fast", "/src/a.c:1", "Calls by latency");
        assertThat(seen.at("/charts").asInt()).isEqualTo(2);
        assertThat(seen.at("/scripts").asInt()).isEqualTo(3);
        assertThat(seen.at("/closed").asBoolean()).isTrue();
    }

    @Test
    void shouldBeUsedByKeysAndDrawOnlyWhatIsInView() throws Exception {
        JsonNode seen = use(sample(Profiles.functions(20_000).toArray(new FunctionProfile[0])), """
                const seen = { count: byId("count").textContent, drawn: column(0).length };
                head(0).click();
                byId("grid").focus();
                press("End");
                seen.last = document.querySelector("[aria-selected=true]").children[0].textContent;
                press("Home");
                press("ArrowDown");
                seen.second = document.querySelector("[aria-selected=true]").children[0].textContent;
                press("Enter");
                seen.opened = document.querySelector("#detail h2").textContent;
                press("Escape");
                seen.closed = byId("detail").hidden;
                press("/");
                seen.focused = document.activeElement.id;
                return seen;
                """);

        assertThat(seen.at("/count").asText()).isEqualTo("17,142 of 20,000 functions");
        assertThat(seen.at("/drawn").asInt()).isBetween(10, 60);
        assertThat(seen.at("/last").asText()).isEqualTo("function_9999");
        assertThat(seen.at("/second").asText()).isEqualTo("function_10");
        assertThat(seen.at("/opened").asText()).isEqualTo("function_10");
        assertThat(seen.at("/closed").asBoolean()).isTrue();
        assertThat(seen.at("/focused").asText()).isEqualTo("filter");
    }

    @Test
    void shouldShowCallPathsAndZoomIntoThem() throws Exception {
        JsonNode seen = use(Profiles.read(SessionImage.pathsSample(), directory.resolve("session")), """
                const frames = () => [...document.querySelectorAll("#frames g")];
                const names = () => frames().map((g) => g.getAttribute("aria-label"));
                const width = (g) => Number(g.querySelector("rect").getAttribute("width"));
                const seen = {};
                byId("show-flame").click();
                seen.all = names();
                seen.width = width(frames()[0]) / width(frames()[1]);
                type("leaf");
                seen.found = byId("count").textContent;
                seen.others = document.querySelectorAll("#frames .other").length;
                type("");
                frames()[1].dispatchEvent(new MouseEvent("click"));
                seen.zoomed = names();
                byId("flame").focus();
                press("ArrowDown");
                seen.chosen = byId("path").textContent;
                press("o");
                seen.detail = byId("detail").innerText;
                document.querySelector("#detail .calls-table button").click();
                seen.caller = document.querySelector("#detail h2").textContent;
                press("Escape");
                byId("flame").focus();
                press("Escape");
                press("Escape");
                seen.again = names();
                return seen;
                """);

        String[] all = {"main", "work", "leaf", "rec", "leaf", "work", "leaf", "rec"};
        assertThat(texts(seen.at("/all"))).containsExactly(all);
        assertThat(seen.at("/width").asDouble()).isBetween(8.4 / 8, 8.6 / 8);
        assertThat(seen.at("/found").asText()).isEqualTo("19.0 % matches");
        assertThat(seen.at("/others").asInt()).isEqualTo(5);
        assertThat(texts(seen.at("/zoomed"))).containsExactly("main", "work", "leaf", "rec");
        assertThat(seen.at("/chosen").asText()).startsWith("leaf 1.20 us, 11.4 %");
        assertThat(seen.at("/detail").asText())
                .containsIgnoringCase("called by")
                .contains("work", "main");
        assertThat(seen.at("/caller").asText()).isEqualTo("work");
        assertThat(texts(seen.at("/again"))).containsExactly(all);
    }

    @Test
    void shouldShowHowMetricsHaveGone() throws Exception {
        SessionImage image = SessionImage.exactSample();
        long calls = image.metric("calls", ValueDescriptor.KIND_EVENTS, 0, MetricDescriptor.UNITS_AMOUNT, 0);
        image.putLong(calls + MetricDescriptor.EVENTS, 70);
        history(image, calls, 30, 60);
        history(image, image.metric("rate", ValueDescriptor.KIND_EVENTS, 0, MetricDescriptor.UNITS_RATE, 0), 15, 45);
        image.metric(Profiles.HOSTILE, ValueDescriptor.KIND_EVENTS, 0, MetricDescriptor.UNITS_AMOUNT, 0);

        JsonNode seen = use(Profiles.read(image, directory.resolve("session")), """
                const cards = () => [...document.querySelectorAll("#metrics article")];
                const seen = { hidden: byId("metrics").hidden };
                byId("show-metrics").click();
                seen.texts = cards().map((card) => card.innerText);
                seen.curves = cards().map((card) => card.querySelector(".curve")?.getAttribute("d") ?? "");
                seen.points = cards().map((card) => [...card.querySelectorAll("title")].map((title) => title.textContent).join());
                type("RATE a.c");
                seen.found = cards().map((card) => card.querySelector("h3").textContent);
                seen.count = byId("count").textContent;
                byId("filter").focus();
                press("Enter");
                seen.detail = byId("detail").hidden;
                seen.scripts = document.scripts.length;
                byId("show-grid").click();
                seen.again = byId("metrics").hidden;
                return seen;
                """);

        assertThat(seen.at("/hidden").asBoolean()).isTrue();
        List<String> texts = texts(seen.at("/texts"));
        assertThat(texts).hasSize(3);
        assertThat(texts.get(0)).contains("Name of calls", "70 things");
        assertThat(texts.get(1)).contains("Name of rate", "rate @ /Code/a.c /Thread/5", "120 things", "500 ms since");
        assertThat(texts.get(2)).contains("0 things", "It has no history.");
        // Steps of a rate; the line of an amount, which began with 0.
        assertThat(texts(seen.at("/curves"))).containsExactly("M0,100L50,50L100,0", "M0,50L50,50L50,0L100,0", "");
        assertThat(texts(seen.at("/points")))
                .containsExactly(
                        "30 things at 250 ms,60 things at 500 ms", "60 things at 250 ms,120 things at 500 ms", "");
        assertThat(texts(seen.at("/found"))).containsExactly("Name of rate");
        assertThat(seen.at("/count").asText()).isEqualTo("1 of 3 metrics");
        assertThat(seen.at("/detail").asBoolean()).isTrue();
        assertThat(seen.at("/scripts").asInt()).isEqualTo(3);
        assertThat(seen.at("/again").asBoolean()).isTrue();
    }

    /// Two points, a quarter and half a second after the metric was enabled.
    private static void history(SessionImage image, long metric, double... amounts) {
        long since = 1_000_005_000;
        image.putLong(metric + MetricDescriptor.HISTORY, MetricPoints.history(0, amounts.length));
        for (int i = 0; i < amounts.length; i++) {
            long at = metric + MetricPoints.point(0, i);
            image.putLong(at + PointDescriptor.TSC, since + (i + 1) * 250_000_000L);
            image.putLong(at + PointDescriptor.AMOUNT, Double.doubleToLongBits(amounts[i]));
        }
    }

    @Test
    void shouldHaveNoFlameGraphWhereCallersAreNotKnown() throws Exception {
        JsonNode seen = use(
                Profiles.read(SessionImage.exactSample(), directory.resolve("session")),
                "return { hidden: byId('views').hidden };");

        assertThat(seen.at("/hidden").asBoolean()).isTrue();
    }

    @Test
    void shouldShowTheLatencyOfAFunctionOverTime() throws Exception {
        Path session = Files.createDirectories(directory.resolve("session"));
        SessionImage.sliceSample().write(session);
        Profile profile;
        Timeline timeline;
        try (SessionReader reader = SessionReader.open(session)) {
            List<TimeSlice> slices = reader.slices();
            profile = reader.profile();
            timeline = new Timeline(profile.functions(), slices);
        }

        JsonNode seen = use(profile, timeline, """
                const seen = {};
                const says = () => document.querySelector("#detail .heat-note output").textContent;
                type("work");
                document.querySelector("#rows .row").click();
                const map = document.querySelector("#detail svg.heat");
                seen.cells = [...map.querySelectorAll("path")].map((path) => (path.getAttribute("d").match(/M/g) ?? []).length);
                map.focus();
                press("ArrowRight");
                seen.first = says();
                press("End");
                seen.last = says();
                type("main");
                document.querySelector("#rows .row").click();
                seen.without = byId("detail").innerText;
                return seen;
                """);

        // One, two and three calls: three columns, each darker than the one before.
        assertThat(texts(seen.at("/cells")).stream().filter(cells -> cells.equals("1")))
                .hasSize(3);
        assertThat(seen.at("/first").asText()).contains(": 1 calls, p50 ≤ 1.02 us");
        assertThat(seen.at("/last").asText()).contains(": 3 calls, p50 ≤ 1.02 us");
        assertThat(seen.at("/without").asText()).contains("None of its calls in the slices of time");
    }

    /// A heat map's cell is one number for its column, one for its row and one for its calls.
    @Test
    void shouldHoldTheHeatMapsOfTheFirstFunctions() throws IOException {
        Path session = Files.createDirectories(directory.resolve("session"));
        SessionImage.sliceSample().write(session);
        try (SessionReader reader = SessionReader.open(session)) {
            List<TimeSlice> slices = reader.slices();
            Profile profile = reader.profile();
            JsonNode data = data(report(profile, new Timeline(profile.functions(), slices)));

            assertThat(data.at("/columns").size()).isEqualTo(6);
            assertThat(data.at("/columns/1").asLong()).isEqualTo(1_700_000_000_500L);
            int row = data.at("/functions/1/heat/1").asInt();
            assertThat(data.at("/rows/" + row).asLong()).isLessThanOrEqualTo(1_000);
            assertThat(data.at("/rows/" + (row + 1)).asLong()).isGreaterThan(1_000);
            assertThat(texts(data.at("/functions/1/heat")))
                    .containsExactly("0", "" + row, "1", "1", "" + row, "2", "2", "" + row, "3");
        }
    }
}
