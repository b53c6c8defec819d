package org.mdlagent.profiler.report.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.profiler.report.live.LiveReport;
import org.mdlagent.profiler.report.live.SpentNews;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.profile.TimedCall;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.profiler.report.slice.Timeline;
import org.mdlagent.profiler.report.statistics.Comparison;
import org.mdlagent.profiler.report.statistics.ComparisonTest;
import org.mdlagent.profiler.report.statistics.FunctionChange;

/// The pages as a person uses them, by keys and by mouse, in a real browser.
class PageInBrowserTest {
    @TempDir
    private Path directory;

    private static final String NAMES =
            "[...document.querySelectorAll('#frames g')].map((g) => g.getAttribute('aria-label')).join(' ')";

    private URI write(CharSequence page) throws IOException {
        return Files.writeString(directory.resolve("page.html"), page).toUri();
    }

    /// A session with paths, and with single calls: one of work in 5 ms, and of leaf within it.
    private URI pageOfCalls() throws IOException {
        Profile profile = Profiles.read(SessionImage.pathsSample(), directory.resolve("session"));
        FunctionProfile work = profile.functions().get(1);
        FunctionProfile leaf = profile.functions().get(2);
        List<TimedCall> calls = List.of(
                new TimedCall(1, 7, work, 1_000_000, 5_000_000),
                new TimedCall(1, 7, leaf, 2_000_000, 3_000_000),
                new TimedCall(1, 8, leaf, 9_000_000, 1_000));
        StringBuilder page = new StringBuilder();
        HtmlReport.write(profile, Timeline.NONE, calls, ProfileOrder.TOTAL, 100, page);
        return write(page);
    }

    private URI pageOfSlices() throws IOException {
        SessionImage.sliceSample().write(Files.createDirectories(directory.resolve("session")));
        try (SessionReader reader = SessionReader.open(directory.resolve("session"))) {
            Profile profile = reader.profile();
            StringBuilder page = new StringBuilder();
            Timeline timeline = new Timeline(profile.functions(), reader.slices());
            HtmlReport.write(profile, timeline, List.of(), ProfileOrder.TOTAL, 100, page);
            return write(page);
        }
    }

    @Test
    void shouldTakeKeysAtOnceAndAskNobodyForAnything() throws Exception {
        try (Browser browser = new Browser(directory)) {
            URI page = pageOfCalls();
            browser.open(page, 1280, false);
            browser.press("ArrowDown", "Enter");
            String opened = browser.text("document.querySelector('#detail h2').textContent");
            browser.press("Escape", "/");
            browser.type("leaf");
            String found = browser.text("byId('count').textContent");
            browser.press("ArrowDown", "Enter");

            assertThat(browser.text("document.querySelector('#detail h2').textContent"))
                    .isEqualTo("leaf")
                    .isNotEqualTo(opened);
            assertThat(found).startsWith("1 of 5 functions, ≈ ").endsWith(" of the time in functions themselves");
            assertThat(browser.requests()).containsOnly(page.toString());
            assertThat(browser.exceptions()).isEmpty();
        }
    }

    @Test
    void shouldTurnTheFlameGraphAndSearchItByARegularExpression() throws Exception {
        try (Browser browser = new Browser(directory)) {
            browser.open(pageOfCalls(), 1280, false);
            String top = "document.querySelector('#frames g[aria-label=main] rect').getAttribute('y')";
            browser.click("#show-flame");
            String below = browser.text(top);
            browser.press("i");
            String above = browser.text(top);
            browser.press("r");
            String reversed = browser.text(NAMES);
            browser.press("ArrowUp", "Enter");
            String zoomed = browser.text("flame.zoomed.name");
            browser.press("Escape", "r", "/");
            browser.type("^(leaf|rec)$");
            String asWords = browser.text("byId('count').textContent");
            browser.click("#regex");
            String asExpression = browser.text("byId('count').textContent");
            browser.click("#filter");
            browser.type("(");

            assertThat(below).isEqualTo("0");
            assertThat(above).isEqualTo("40");
            // Of 10.5 us, work has spent 7.5 itself, rec 1, leaf 2. Their callers come next.
            assertThat(reversed).isEqualTo("work main leaf work main main rec work main");
            assertThat(zoomed).isEqualTo("work");
            assertThat(asWords).isEqualTo("0.00 % matches");
            assertThat(asExpression).isEqualTo("28.6 % matches");
            assertThat(browser.text("byId('filter').ariaInvalid")).isEqualTo("true");
            browser.click("#show-grid");
            assertThat(browser.text("byId('count').textContent")).isEqualTo("not a regular expression");
            assertThat(browser.exceptions()).isEmpty();
        }
    }

    @Test
    void shouldShowWhereThreadsWaitByTheWallClock() throws Exception {
        Profile profile = Profiles.read(SessionImage.waitsSample(), directory.resolve("session"));
        StringBuilder page = new StringBuilder();
        HtmlReport.write(profile, Timeline.NONE, List.of(), ProfileOrder.TOTAL, 100, page);
        try (Browser browser = new Browser(directory)) {
            browser.open(write(page), 1280, false);
            browser.click("#show-flame");
            String cpu = browser.text(NAMES);
            String count = browser.text("byId('count').textContent");
            browser.press("w");

            assertThat(cpu).isEqualTo("main work leaf rec leaf work leaf rec");
            assertThat(count).isEqualTo("10.5 us in 8 paths");
            assertThat(browser.text(NAMES)).isEqualTo("main work [waiting] leaf rec rec [waiting] leaf work leaf rec");
            assertThat(browser.text("byId('count').textContent")).isEqualTo("40.5 us in 9 paths");
            assertThat(browser.text("byId('images').textContent")).contains("[waiting] 74.1 %");
            assertThat(browser.text("location.hash")).contains("wall=on");
            browser.press("r");
            assertThat(browser.text(NAMES)).startsWith("[waiting] work main rec main");
            assertThat(browser.exceptions()).isEmpty();
        }
    }

    /// Of 1 s `work` has the first half, in the thread `first`, and `leaf` the second, in the other one.
    @Test
    void shouldShowAPartOfTheSessionByTimeAndByThread() throws Exception {
        try (Browser browser = new Browser(directory)) {
            StringBuilder text = new StringBuilder();
            Profile profile = Profiles.read(SessionImage.samplesSample(), directory.resolve("session"));
            HtmlReport.write(profile, Timeline.NONE, List.of(), ProfileOrder.TOTAL, 100, text);
            URI page = write(text);
            browser.open(page, 1280, false);
            String cpu = "data.functions.filter((f) => f.cpuNanos).map((f) => `${f.name} ${f.cpuNanos}`).join()";
            String whole = browser.text(cpu);
            browser.text("choosePart(part.begin, part.begin + 450)");
            String half = browser.text(cpu);
            String address = browser.text("location.hash");
            browser.text("choosePart(null, null, 2)");
            String other = browser.text(cpu);
            browser.click("#show-flame");
            String frames = browser.text(NAMES);
            browser.click("#part-all");

            assertThat(half).isEqualTo("work 500");
            assertThat(address).contains("time=0-450");
            assertThat(other).isEqualTo("leaf 500");
            assertThat(frames).isEqualTo("main leaf");
            assertThat(browser.text(cpu)).isEqualTo(whole);
            browser.open(URI.create(page + "?anew#time=500-1000&thread=102"), 1280, false);
            assertThat(browser.text(cpu)).isEqualTo("leaf 500");
            assertThat(browser.text("byId('thread').selectedOptions[0].textContent"))
                    .isEqualTo("second (102), 50.0 %");
            assertThat(browser.exceptions()).isEmpty();
        }
    }

    @Test
    void shouldShowTheWholeProgramOverTime() throws Exception {
        try (Browser browser = new Browser(directory)) {
            browser.open(pageOfSlices(), 1280, false);
            browser.click("#show-phases");
            String first = browser.text("byId('phase').textContent");
            browser.press("End");
            String last = browser.text("byId('phase').textContent");
            browser.press("Enter");

            // In half a second each: one call, and three, of 1 us.
            assertThat(first).contains("work ≈ 2.00 us a second, in 2").endsWith("calls/s");
            assertThat(last).endsWith(" 6 calls/s");
            assertThat(browser.text("document.querySelector('#detail h2').textContent"))
                    .isEqualTo("work");
            assertThat(browser.text("data.functions[1].spent.join()")).isEqualTo("0,1000,1,1,2000,2,2,3000,3");
            assertThat(browser.exceptions()).isEmpty();
        }
    }

    @Test
    void shouldShowTheSlowestCallsAndZoomIntoThem() throws Exception {
        try (Browser browser = new Browser(directory)) {
            browser.open(pageOfCalls(), 1280, false);
            browser.click("#show-calls");
            String lanes =
                    "trace.lanes.map((lane) => `${lane.tid}:${lane.calls.map((c) => c.f.name + c.depth)}`).join(' ')";
            String rows = "[...document.querySelectorAll('#slowest tbody tr')].map((row) => row.innerText).join('; ')";
            String widths =
                    "[...document.querySelectorAll('#lanes rect')].map((rect) => rect.getAttribute('width')).join()";
            String threads = browser.text(lanes);
            String listed = browser.text(rows).replace('\t', ' ');
            browser.press("ArrowDown", "ArrowDown");
            String said = browser.text("byId('call').textContent");
            browser.press("Enter");
            String zoomed = browser.text(widths);
            double width = browser.eval("byId('lanes').clientWidth").asDouble();
            browser.press("Escape", "o");

            assertThat(threads).isEqualTo("7:work0,leaf1 8:leaf0");
            assertThat(listed)
                    .isEqualTo("work 5.00 ms +0.001000 s thread 7; leaf 3.00 ms +0.002000 s thread 7;"
                            + " leaf 1.00 us +0.009000 s thread 8");
            assertThat(said).isEqualTo("leaf 3.00 ms, began +0.002000 s after the program, thread 7");
            // Half of what is shown is the call.
            assertThat(Double.parseDouble(zoomed.split(",")[1])).isEqualTo(width / 2);
            assertThat(browser.text("document.querySelector('#detail h2').textContent"))
                    .isEqualTo("leaf");
            assertThat(browser.exceptions()).isEmpty();
        }
    }

    @Test
    void shouldKeepInTheAddressWhatIsShown() throws Exception {
        String shown = "[view.name, table.sort, table.descending, byId('filter').value,"
                + " document.querySelector('#detail h2')?.textContent].join()";
        try (Browser browser = new Browser(directory)) {
            URI page = pageOfCalls();
            browser.open(page, 1280, false);
            browser.eval("table.sortBy('name'); byId('filter').value = 'l e'; table.search();"
                    + " switchView('flame'); show(data.functions[2])");
            String left = browser.text("location.hash");
            assertThat(browser.text(shown)).isEqualTo("flame,name,false,l e,leaf");

            browser.open(URI.create("about:blank"), 1280, false);
            browser.open(URI.create(page + left), 1280, false);

            assertThat(browser.text(shown)).isEqualTo("flame,name,false,l e,leaf");
            browser.open(URI.create("about:blank"), 1280, false);
            browser.open(URI.create(page + "#view=none&sort=none&filter=&function=none"), 1280, false);
            assertThat(browser.text(shown)).startsWith("grid,totalNanos,true,");
            assertThat(browser.exceptions()).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({"390, true", "1280, false", "2560, true"})
    void shouldFitTheirWindows(int width, boolean dark) throws Exception {
        try (Browser browser = new Browser(directory)) {
            for (URI page : List.of(pageOfCalls(), pageOfSlices())) {
                browser.open(page, width, dark);
                int views = browser.eval("Object.keys(VIEWS).length").asInt();
                for (int i = 0; i < views; i++) {
                    browser.eval("switchView(Object.keys(VIEWS)[" + i + "])");
                    assertThat(browser.eval("document.documentElement.scrollWidth")
                                    .asInt())
                            .isEqualTo(width);
                }
                browser.eval("switchView('grid')");
                assertThat(browser.eval("document.querySelector('#head [data-key=p99Nanos]').offsetWidth")
                                .asInt())
                        .as("room for p99")
                        .isPositive();
                assertThat(browser.text(
                                "[...document.querySelectorAll('#rows .cell:not(:first-child)')].some((cell) => cell.scrollWidth >"
                                        + " cell.clientWidth)"))
                        .as("a number is cut")
                        .isEqualTo("false");
                // No cell has slipped into another line.
                assertThat(browser.text("new Set([...document.querySelectorAll('#head .cell')]"
                                + ".filter((cell) => cell.offsetHeight > 0).map((cell) => cell.offsetTop)).size"))
                        .isEqualTo("1");
                assertThat(browser.text("getComputedStyle(document.body).backgroundColor"))
                        .isEqualTo(dark ? "rgb(20, 24, 29)" : "rgb(255, 255, 255)");
            }
        }
    }

    @Test
    void shouldColourWhatHasChangedInTheFlameGraph() throws Exception {
        Profile profile = Profiles.read(SessionImage.pathsSample(), directory.resolve("session"));
        List<FunctionChange> changes = profile.functions().stream()
                .map(f -> new FunctionChange(f, f, 0))
                .toList();
        Run run = ComparisonTest.run("app-1-20231114T221320");
        Comparison comparison = new Comparison(run, run, changes);
        StringBuilder page = new StringBuilder();
        ComparisonPage.write(comparison, profile.paths(), 100, page);
        try (Browser browser = new Browser(directory)) {
            browser.open(write(page), 1280, false);
            browser.eval(
                    "data.functions.forEach((f) => { f.totalChange = 100; f.totalError = f.name === 'leaf' ? undefined : 1; })");
            browser.click("#show-flame");

            assertThat(browser.text("document.querySelector('#frames g[aria-label=leaf] rect').getAttribute('fill')"))
                    .isEqualTo("var(--more-2)");
            assertThat(browser.text("document.querySelector('#frames g[aria-label=work] rect').getAttribute('fill')"))
                    .isEqualTo("var(--same)");
            assertThat(browser.text("document.querySelector('#frames g[aria-label=leaf] title').textContent"))
                    .contains("; total ▲ 100 %");
            assertThat(browser.exceptions()).isEmpty();
        }
    }

    private interface Answers {
        void write(URI asked, Appendable out) throws IOException;
    }

    private static HttpServer serve(Answers answers) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            StringBuilder answer = new StringBuilder();
            answers.write(exchange.getRequestURI(), answer);
            byte[] bytes = answer.toString().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
        return server;
    }

    private static URI address(HttpServer server) {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/s");
    }

    private static long number(URI asked, String parameter) {
        return Long.parseLong(String.valueOf(asked.getQuery()).replaceAll(".*" + parameter + "=(\\d+).*", "$1"));
    }

    @Test
    void shouldFollowAProgramThatRuns() throws Exception {
        Profile session = Profiles.read(SessionImage.exactSample(), directory.resolve("session"));
        LiveReport first = new LiveReport(Profiles.with(session, List.of(Profiles.function("a", 100))), true, 1_000);
        AtomicReference<LiveReport> now = new AtomicReference<>(first);
        HttpServer server = serve((asked, out) -> {
            if (asked.getPath().equals("/s/profile.json")) {
                now.get().writeNews(number(asked, "since"), Set.of(), out);
            } else {
                now.get().writePage("/s", out);
            }
        });
        try (Browser browser = new Browser(directory)) {
            browser.open(address(server), 1280, false);
            browser.press("ArrowDown", "Enter");
            String before = browser.text("document.querySelector('#detail dd').textContent");
            now.set(first.next(
                    Profiles.with(session, List.of(Profiles.function("a", 100, 100, 100), Profiles.function("b", 1))),
                    true,
                    2_000));
            browser.await("document.querySelectorAll('#rows .row').length === 2");

            assertThat(before).isEqualTo("1");
            assertThat(browser.text("document.querySelector('#detail dd').textContent"))
                    .isEqualTo("3");
            assertThat(browser.text("document.querySelector('[aria-selected=true] .cell').textContent"))
                    .isEqualTo("a");
            browser.press("p");
            assertThat(browser.text("byId('state').textContent")).isEqualTo("paused");
            assertThat(browser.exceptions()).isEmpty();
        } finally {
            server.stop(0);
        }
    }

    /// What is asked for while it is shown: of the functions in view from the first slice on, then what is new.
    @Test
    void shouldShowAProgramThatRunsOverTimeAndItsSlowestCalls() throws Exception {
        SessionImage.sliceSample().write(Files.createDirectories(directory.resolve("session")));
        List<String> asked = new CopyOnWriteArrayList<>();
        try (SessionReader reader = SessionReader.open(directory.resolve("session"));
                Browser browser = new Browser(directory)) {
            Profile profile = reader.profile();
            LiveReport report = new LiveReport(profile, true, 1_000);
            FunctionProfile work = profile.functions().get(1);
            HttpServer server = serve((uri, out) -> {
                switch (uri.getPath()) {
                    case "/s/profile.json" -> report.writeNews(number(uri, "since"), Set.of(), out);
                    case "/s/spent.json" -> {
                        asked.add(uri.getQuery());
                        new SpentNews(reader, Set.of(0, 1), number(uri, "from")).write(out);
                    }
                    case "/s/calls.json" ->
                        report.writeCalls(
                                List.of(
                                        new TimedCall(1, 7, work, 1_000_000, 5_000),
                                        new TimedCall(1, 7, work, 2_000_000, 9_000)),
                                out);
                    default -> report.writePage("/s", out);
                }
            });
            try {
                browser.open(address(server), 1280, false);
                browser.click("#show-phases");
                browser.await("document.querySelectorAll('#phase-map path').length > 0");
                String over = browser.text("byId('phase').textContent");
                String spent = browser.text("data.functions[1].spent.join()");
                browser.await("spent.next === 3");
                StringBuilder last = new StringBuilder();
                new SpentNews(reader, Set.of(1), 2).write(last);
                browser.eval("addSpent(" + last + ")");
                String more = browser.text("data.functions[1].spent.join()");
                browser.eval("for (let i = 0; i < 500; i++) addSpent(" + last + ")");
                String kept = browser.text("phases.columns.length + ':' + data.functions[1].spent.slice(0, 3)");
                browser.click("#show-calls");
                browser.await("document.querySelectorAll('#slowest tbody tr').length === 2");
                browser.press("ArrowDown");
                browser.eval("data.calls[2] += 7; readCalls()");

                assertThat(over).contains("work ≈ 2.00 us a second, in 2").endsWith("calls/s");
                assertThat(spent).isEqualTo("0,1000,1,1,2000,2,2,3000,3");
                assertThat(more).isEqualTo(spent + ",3,3000,3");
                assertThat(kept).isEqualTo("960:0,3000,3");
                assertThat(asked.getFirst()).isEqualTo("functions=0,1&from=0");
                assertThat(browser.text("byId('call').textContent"))
                        .isEqualTo("work 9.00 us, began +0.002000 s after the program, thread 7");
                assertThat(browser.text("trace.calls.indexOf(trace.chosen)")).isEqualTo("0");
                assertThat(browser.exceptions()).isEmpty();
            } finally {
                server.stop(0);
            }
        }
    }

    /// The part that the reader has chosen stays when new figures and new samples arrive.
    @Test
    void shouldChooseAPartOfAProgramThatRuns() throws Exception {
        Profile profile = Profiles.read(SessionImage.samplesSample(), directory.resolve("session"));
        LiveReport first = new LiveReport(profile, true, 1_000);
        AtomicReference<LiveReport> now = new AtomicReference<>(first);
        HttpServer server = serve((uri, out) -> {
            switch (uri.getPath()) {
                case "/s/profile.json" -> now.get().writeNews(number(uri, "since"), Set.of(), out);
                case "/s/samples.json" -> now.get().writeSamples(out);
                default -> now.get().writePage("/s", out);
            }
        });
        try (Browser browser = new Browser(directory)) {
            browser.open(address(server), 1280, false);
            browser.await("!byId('part').hidden && document.querySelectorAll('#strip path').length > 0");
            String threads = browser.text("[...byId('thread').options].map((one) => one.text).join()");
            String whole = browser.text("String(data.functions[1].calls ?? '-')");
            browser.eval("choosePart(part.begin, part.begin + 500)");
            browser.click("#show-flame");
            String names = browser.text(NAMES);
            now.set(first.next(profile, true, 2_000));
            browser.await("data.look === 2000");

            assertThat(threads).contains("all threads", "first (101), 50.0 %", "second (102), 50.0 %");
            assertThat(browser.text(NAMES)).isEqualTo(names).doesNotContain("rec");
            assertThat(browser.text("byId('part-says').textContent"))
                    .endsWith("the report (mdl report) has the calls too");
            assertThat(browser.text("String(data.functions[1].calls ?? '-')")).isEqualTo("-");
            browser.eval("choosePart(null, null)");
            assertThat(browser.text("String(data.functions[1].calls ?? '-')")).isEqualTo(whole);
            assertThat(browser.text(NAMES)).contains("rec");
            browser.click("#show-phases");
            assertThat(browser.text("phases.columns.length")).isEqualTo(browser.text("2 * stripColumns()"));
            assertThat(browser.exceptions()).isEmpty();
        } finally {
            server.stop(0);
        }
    }
}
