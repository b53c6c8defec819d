package org.mdlagent.runtime.cli.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.report.live.LiveFunction;
import org.mdlagent.profiler.report.live.LiveOrder;
import org.mdlagent.profiler.report.live.LiveProfile;
import org.mdlagent.profiler.report.live.LiveThread;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.CpuSamples;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.profile.ThreadProfile;

/// What is on the screen, and what keys make of it.
class TopScreenTest {
    private static final int WIDTH = 80;
    private static final int HEIGHT = 10;

    private final TopScreen screen = new TopScreen(false, LiveOrder.RATE, tid -> "worker-" + tid);

    @BeforeEach
    void show() {
        screen.show(
                profile("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
                List.of());
    }

    @Test
    void shouldShowMetrics() {
        screen.show(
                profile("alpha"), List.of("         3  ▁▁▁▁▁▁▁█  msgs (operations)  /Code/a.c/f" + "x".repeat(WIDTH)));

        TopScreen.Wish unused = screen.press('m');
        assertThat(screen.lines(WIDTH, HEIGHT).get(1)).isEqualTo(MetricRows.HEAD);
        assertThat(screen.lines(WIDTH, HEIGHT).get(2))
                .startsWith("         3  ▁▁")
                .hasSize(WIDTH);
        assertThat(screen.press(' ')).isEqualTo(TopScreen.Wish.NONE);

        screen.show(profile("alpha"), List.of());
        assertThat(screen.lines(WIDTH, HEIGHT).get(2)).contains("no metric is enabled");
        unused = screen.press(TopScreen.ESCAPE);
        assertThat(screen.lines(WIDTH, HEIGHT).get(2)).contains("alpha");
    }

    @Test
    void shouldExplainKeysAndColumnsWithinEightyColumns() {
        TopScreen.Wish unused = screen.press('?');

        assertThat(screen.lines(WIDTH, 24)).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(WIDTH));
        assertThat(String.join("\n", screen.lines(WIDTH, 24))).contains("switch its probe off", "p50 p99 p99.9");
        assertThat(screen.lines(WIDTH, 24).getLast()).startsWith("[?] help ").endsWith("[q] quit");
        unused = screen.press(TopScreen.ESCAPE);
        assertThat(screen.lines(WIDTH, HEIGHT).get(2)).contains("alpha");
    }

    /// Each is called half as often as the one before it.
    private static LiveProfile profile(String... names) {
        List<LiveFunction> functions = new ArrayList<>();
        double rate = 1 << 20;
        for (String name : names) {
            functions.add(function(functions.size(), name, rate));
            rate /= 2;
        }
        SessionFacts facts = new SessionFacts(
                "app-1-x",
                new SessionFacts.MeasuredProcess(
                        "/bin/app",
                        1,
                        new SessionFacts.ProcessStart("", 0),
                        Instant.EPOCH,
                        null,
                        OptionalInt.empty(),
                        OptionalInt.empty(),
                        1),
                SessionFacts.State.ARMED,
                new SessionFacts.Method(Collected.LATENCY, false, false, SessionFacts.Sync.TMAX, OptionalDouble.of(1)),
                new SessionFacts.Probes(true, OptionalLong.of(0), true),
                new SessionFacts.Costs(0, 0, 0, 0, 0),
                OptionalLong.of(65_000_000_000L),
                OptionalDouble.empty());
        Profile whole = new Profile(
                facts,
                List.of(),
                0,
                List.of(),
                new Profile.Family(List.of(), 0, 0),
                0,
                0,
                CpuSamples.NONE,
                List.of(),
                List.of(),
                CallTree.NONE,
                null);
        LiveThread thread = new LiveThread(new ThreadProfile(42, 1, true, 7, 0), 3, OptionalDouble.of(12.5));
        return new LiveProfile(whole, functions, List.of(thread), OptionalDouble.of(0.25), OptionalDouble.empty());
    }

    private static LiveFunction function(int number, String name, double rate) {
        FunctionProfile whole = new FunctionProfile(
                new FunctionProfile.Code(name, name, "/src/app.c", 1, "/bin/app"),
                new FunctionProfile.Calls(9, true, OptionalDouble.empty()),
                new FunctionProfile.Timed(false, 0, Latency.NONE),
                FunctionProfile.Times.UNKNOWN,
                true);
        return new LiveFunction(number, whole, rate, new float[10], OptionalDouble.empty(), 0, Latency.NONE);
    }

    private List<String> lines() {
        return screen.lines(WIDTH, HEIGHT);
    }

    private String selected() {
        return lines().stream().filter(line -> line.startsWith("▶")).findFirst().orElse("none");
    }

    private void type(String keys) {
        keys.chars().forEach(screen::press);
    }

    @Test
    void shouldFillTheScreenAndNoMore() {
        assertThat(lines())
                .hasSize(HEIGHT)
                .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(WIDTH));
        assertThat(lines().getFirst()).startsWith("mdl top · app 1 · up 1:05 min · 1 thread · probes 0.3 %");
        assertThat(screen.lines(20, 3)).hasSize(3);
    }

    @Test
    void shouldSelectAndScroll() {
        assertThat(selected()).contains("alpha");

        screen.press(TopScreen.DOWN);
        assertThat(selected()).contains("beta");
        screen.press(TopScreen.END);
        assertThat(selected()).contains("kappa");
        assertThat(lines().get(2)).contains("delta");
        screen.press(TopScreen.PAGE_UP);
        assertThat(selected()).contains("gamma");
        screen.press(TopScreen.HOME);
        screen.press(TopScreen.UP);
        assertThat(selected()).contains("alpha");
    }

    @Test
    void shouldKeepTheChosenFunctionWhereverItGoes() {
        screen.press(TopScreen.DOWN);
        screen.show(profile("gamma", "alpha"), List.of());
        assertThat(screen.selected().number()).isEqualTo(1);

        screen.press('s');

        assertThat(screen.selected().number()).isEqualTo(1);
    }

    @Test
    void shouldSortByTheNextKeyAndBeginAgain() {
        type("ssss");
        assertThat(lines().get(1)).contains("FUNCTION▾");
        assertThat(lines().get(3)).contains("beta");
        assertThat(lines().get(4)).contains("delta");

        type("s");

        assertThat(lines().get(1)).contains("TOTAL▾").doesNotContain("FUNCTION▾");
    }

    @Test
    void shouldFilterWhileThePatternIsWritten() {
        type("/eta");
        assertThat(lines().getLast()).startsWith("filter: eta_");
        assertThat(lines().subList(2, 6))
                .satisfiesExactly(
                        line -> assertThat(line).contains("beta"),
                        line -> assertThat(line).contains("zeta"),
                        line -> assertThat(line).contains(" eta"),
                        line -> assertThat(line).contains("theta"));

        screen.press(127);
        type("\r");
        assertThat(lines().getLast()).startsWith("filter: et ");
        screen.press(TopScreen.ESCAPE);
        assertThat(lines().get(2)).contains("alpha");
    }

    @Test
    void shouldTakeLettersForThePatternAndNotAsKeys() {
        type("/q");

        assertThat(screen.press('q')).isEqualTo(TopScreen.Wish.NONE);
        assertThat(lines().get(2)).isEqualTo("  no function is qq");
        assertThat(screen.selected()).isNull();
        type("\r");
        assertThat(screen.press(' ')).isEqualTo(TopScreen.Wish.NONE);
    }

    @Test
    void shouldShowTheDetailBesideTheTableWhereThereIsRoom() {
        type("\r");

        assertThat(screen.lines(140, HEIGHT).get(2)).contains("▶ alpha").contains(" ┃ /src/app.c:1");
        assertThat(lines().get(1)).isEqualTo("alpha");
        screen.press(TopScreen.ESCAPE);
        assertThat(lines().get(2)).contains("▶ alpha");
    }

    @Test
    void shouldShowThreadsByName() {
        type("t");

        assertThat(lines().get(2)).contains("42").contains("worker-42").contains("12.5%");
        assertThat(screen.press(' ')).isEqualTo(TopScreen.Wish.NONE);
    }

    @Test
    void shouldAskForWhatItCannotDo() {
        assertThat(screen.press('q')).isEqualTo(TopScreen.Wish.QUIT);
        assertThat(screen.press(3)).isEqualTo(TopScreen.Wish.QUIT);
        screen.press(TopScreen.DOWN);
        assertThat(screen.press(' ')).isEqualTo(TopScreen.Wish.TOGGLE);
        assertThat(screen.selected().number()).isEqualTo(1);
        screen.say("off from now on: beta");
        assertThat(lines().getLast()).isEqualTo("off from now on: beta");
    }
}
