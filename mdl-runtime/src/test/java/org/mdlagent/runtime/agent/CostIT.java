package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// What the agent costs a program that it starts with.
class CostIT {
    private static final int RUNS = 21;
    private static final double DELAY_MILLIS_MAX = 2;
    private static final double ARMED_MILLIS_MAX = 100;

    /// What a JVM takes that only starts, where the limit was set.
    private static final double BARE_JVM_MILLIS = 35;

    /// The agent starts on two processors. Where others leave it both, its threads wait 7 to 28 ms for one, summed up;
    /// beside a busy loop on one of two 86 to 108 ms, and it is armed 50 ms later.
    private static final double WAITED_MILLIS_MAX = 50;

    private static final int STARTS = 11;
    private static final int UNDISTURBED_MIN = 3;

    /// Another library that people preload. Where the script took 10 ms, it added 26 ms and the shim 5; a third of that
    /// is the thread that waits for the delay.
    private static final String PEER = "libjemalloc.so.2";

    private static final String SCRIPT = "i=0; while [ $i -lt 50 ]; do /bin/true; i=$((i + 1)); done";

    private static final int IDLE_SECONDS = 2;

    /// Twenty are the agent's; the JVM's threads wake five times, and its compiler at first.
    private static final double WAKINGS_MAX = 70;

    private static final long ADDED_KIB_MAX = 48 * 1024;
    private static final int LOOKS = 50;

    @TempDir
    Path directory;

    @Tag("timing")
    @Test
    void shouldDelayMainByLessThanTwoMilliseconds() throws Exception {
        Path program = Dist.compile(directory, "nothing", "-finstrument-functions");
        double[] alone = new double[RUNS];
        double[] under = new double[RUNS];
        for (int i = 0; i < RUNS; i++) {
            alone[i] = millis(program, Map.of());
            under[i] = millis(program, Dist.preload("startDelayMillis=0"));
        }
        double delay = median(under) - median(alone);
        System.out.printf("program that exits at once: %.2f ms, under the agent %+.2f ms%n", median(alone), delay);
        assertThat(Math.min(delay, min(under) - min(alone))).isLessThanOrEqualTo(DELAY_MILLIS_MAX);
    }

    @Tag("timing")
    @Test
    void shouldCostShortLivedCommandsNextToNothing() throws Exception {
        double alone = Double.POSITIVE_INFINITY;
        double under = Double.POSITIVE_INFINITY;
        double peer = Double.POSITIVE_INFINITY;
        for (int i = 0; i < RUNS; i++) {
            alone = Math.min(alone, millis(Path.of("/bin/sh"), Map.of(), "-c", SCRIPT));
            // The shell itself may live longer than the default delay.
            under = Math.min(under, millis(Path.of("/bin/sh"), Dist.preload("startDelayMillis=60000"), "-c", SCRIPT));
            peer = Math.min(peer, millis(Path.of("/bin/sh"), Map.of("LD_PRELOAD", PEER), "-c", SCRIPT));
        }
        System.out.printf(
                "script of 50 commands: %.1f ms, with the shim x %.2f, with jemalloc x %.2f, the fastest%n",
                alone, under / alone, peer / alone);
        assertThat(under).isLessThan(peer);
    }

    @Tag("timing")
    @Test
    void shouldBeArmedWithin100MillisecondsWithin48Mebibytes() throws Exception {
        Path program = Dist.compile(directory, "waiting", "-finstrument-functions");
        Path java = Dist.shim().resolve("../../runtime/bin/java").normalize();
        double[] bare = new double[STARTS];
        double[] waited = new double[STARTS];
        double[] armed = new double[STARTS];
        long[] added = new long[STARTS];
        for (int i = 0; i < STARTS; i++) {
            Path session = directory.resolve("session" + i);
            Started alone = start(program, Map.of(), session);
            Started under = start(program, Dist.preload("startDelayMillis=0,session=" + session), session);
            added[i] = under.rssKib - alone.rssKib;
            waited[i] = under.waitedMillis;
            bare[i] = millis(java, Map.of(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-version");
            armed[i] = armedMillis(Files.readString(session.resolve("agent.log")));
        }
        Arrays.sort(added);
        System.out.printf(
                "armed after %.0f ms, the fastest %.0f ms, a JVM that only starts %.0f ms, RSS + %.1f MiB, waited %.0f ms%n",
                median(armed), min(armed), median(bare), added[STARTS / 2] / 1024.0, median(waited));
        assertThat(added[STARTS / 2]).isLessThanOrEqualTo(ADDED_KIB_MAX);

        // On a slow machine a bare JVM tells how slow: the fastest of each, or those in the middle.
        double waitedMax = WAITED_MILLIS_MAX * slowness(median(bare));
        double[] undisturbed = IntStream.range(0, STARTS)
                .filter(i -> waited[i] <= waitedMax)
                .mapToDouble(i -> armed[i])
                .toArray();
        assumeThat(undisturbed.length).as("starts while the machine was quiet").isGreaterThanOrEqualTo(UNDISTURBED_MIN);
        double byFastest = min(undisturbed) / slowness(min(bare));
        double byMedian = median(undisturbed) / slowness(median(bare));
        assertThat(Math.min(byFastest, byMedian)).isLessThanOrEqualTo(ARMED_MILLIS_MAX);
    }

    private static double slowness(double bareMillis) {
        return Math.max(1, bareMillis / BARE_JVM_MILLIS);
    }

    @Tag("timing")
    @Test
    void shouldHardlyWakeWhileNothingIsMeasured() throws Exception {
        Path program = Dist.compile(directory, "waiting", "-finstrument-functions");
        Path session = directory.resolve("session");
        Process process = start(program, Dist.preload("startDelayMillis=0,profile=off,session=" + session));
        try {
            awaitArmed(process, session);
            assertThat(process.waitFor(1, TimeUnit.SECONDS)).isFalse();
            double slices = Dist.sumOfAgentThreads(process.pid(), Dist.SLICES);
            double nanos = Dist.sumOfAgentThreads(process.pid(), Dist.CPU_NANOS);
            assertThat(process.waitFor(IDLE_SECONDS, TimeUnit.SECONDS)).isFalse();
            slices = Dist.sumOfAgentThreads(process.pid(), Dist.SLICES) - slices;
            nanos = Dist.sumOfAgentThreads(process.pid(), Dist.CPU_NANOS) - nanos;
            double wakings = slices / IDLE_SECONDS;
            System.out.printf("idle: %.0f wakings a second, %.2f ms of CPU%n", wakings, nanos / 1e6 / IDLE_SECONDS);
            assertThat(wakings).isPositive().isLessThanOrEqualTo(WAKINGS_MAX);
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    /// Records' equals() and hashCode(), switches over types, reflection, foreign memory and functions: where one of
    /// these is first used, the JDK makes classes of method handles, each in a millisecond of CPU.
    @Test
    void shouldMakeNoMethodHandlesUntilArmed() throws Exception {
        Path program = Dist.compile(directory, "waiting");
        Path session = directory.resolve("session");
        Map<String, String> environment = new HashMap<>(Dist.preload("startDelayMillis=0,session=" + session));
        environment.put("MDL_JVM_EXTRA", "-Xlog:class+load");
        Process process = start(program, environment);
        try {
            awaitArmed(process, session);
        } finally {
            process.destroyForcibly().waitFor();
        }
        String log = Files.readString(session.resolve("agent.log"));
        assertThat(log).contains(" armed after ", "org.mdlagent.runtime.agent.Agent source: shared objects file");
        String untilArmed = log.substring(0, log.indexOf(" armed after "));
        assertThat(untilArmed.lines().filter(line -> line.contains("source: __JVM_LookupDefineClass__")))
                .isEmpty();
    }

    @Test
    void shouldNeverMapPagesWritableAndExecutable() throws Exception {
        Path program = Dist.compile(directory, "killed", "-finstrument-functions");
        Process process = start(program, Dist.preload("startDelayMillis=0,session=" + directory.resolve("session")));
        AtomicInteger looks = new AtomicInteger();
        try {
            // While the agent starts, and for a while when it has remapped the program's text.
            Dist.await("code of the agent's making", () -> looks.addAndGet(look(process, program) ? 1 : 0) == LOOKS);
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    /// Whether the program has the code that the agent makes; no page of it is writable and executable.
    private static boolean look(Process process, Path program) throws Exception {
        boolean remapped = false;
        for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/maps"))) {
            // The JVM's own code cache is not the program's text.
            boolean own = line.contains(program.toString()) || line.contains("/memfd:");
            assertThat(own && line.contains("rwx")).as(line).isFalse();
            remapped |= line.contains("r-xp") && line.contains("/memfd:");
        }
        return remapped;
    }

    private double millis(Path program, Map<String, String> environment, String... arguments) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(program.toString());
        builder.command().addAll(List.of(arguments));
        builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
        builder.environment().putAll(environment);
        builder.environment().put("XDG_STATE_HOME", directory.resolve("state").toString());
        long start = System.nanoTime();
        int status = builder.start().waitFor();
        double millis = (System.nanoTime() - start) / 1e6;
        assertThat(status).isZero();
        return millis;
    }

    private Process start(Path program, Map<String, String> environment) throws Exception {
        ProcessBuilder builder =
                new ProcessBuilder(program.toString(), directory.resolve("done").toString());
        builder.environment().putAll(environment);
        return builder.start();
    }

    /// @param waitedMillis for a processor, all threads together but the program's
    private record Started(long rssKib, double waitedMillis) {}

    /// As it is half a second after the agent has armed its probes or, without it, after the start.
    private Started start(Path program, Map<String, String> environment, Path session) throws Exception {
        Process process = start(program, environment);
        try (BufferedReader output = process.inputReader()) {
            assertThat(output.readLine()).isEqualTo("ready");
            if (!environment.isEmpty()) {
                awaitArmed(process, session);
            }
            assertThat(process.waitFor(500, TimeUnit.MILLISECONDS)).isFalse();
            double waited = Dist.sumOfAgentThreads(process.pid(), Dist.WAITED_NANOS) / 1e6;
            for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/status"))) {
                if (line.startsWith("VmRSS:")) {
                    return new Started(Long.parseLong(line.replaceAll("[^0-9]", "")), waited);
                }
            }
            throw new AssertionError("no VmRSS");
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    /// Five seconds at most. Not by spinning: the agent needs a processor as well.
    private static void awaitArmed(Process process, Path session) throws Exception {
        for (int i = 0; i < 500 && !isArmed(session); i++) {
            assertThat(process.waitFor(10, TimeUnit.MILLISECONDS)).isFalse();
        }
    }

    private static boolean isArmed(Path session) throws Exception {
        Path log = session.resolve("agent.log");
        return Files.exists(log) && Files.readString(log).contains(" armed after ");
    }

    private static double armedMillis(String log) {
        String before = " armed after ";
        int at = log.indexOf(before);
        assertThat(at).as(log).isNotNegative();
        return Double.parseDouble(log.substring(at + before.length(), log.indexOf(" ms", at)));
    }

    private static double min(double[] values) {
        return Arrays.stream(values).min().orElseThrow();
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
