package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.profiler.report.profile.SiteProfile;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.Dist;

/// Libraries that a program opens and closes have probes while they are there.
class LibrariesIT {
    private static final int CALLS = 1000;

    /// Of leaf, for `CALLS` calls of work: 0, 1, 2, 3, 0, ...
    private static final long LEAVES = IntStream.range(0, CALLS).map(n -> n % 4).sum();

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(ints = {1, 1000})
    void shouldCountEveryCallOfALibraryThatIsOpenedSoOften(int cycles) throws Exception {
        Path session = directory.resolve("session");

        Dist.Outcome run = underAgent(session, "cycles", plugin().toString(), cycles, CALLS);

        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.text()).isEqualTo(alone("cycles", plugin().toString(), cycles, CALLS));
        JsonNode report = Dist.report(directory, session);
        assertThat(Dist.calls(report))
                .containsExactlyInAnyOrderEntriesOf(Map.of("work", (long) cycles * CALLS, "leaf", cycles * LEAVES));
        assertThat(report.get("dropped").asLong()).isZero();
        assertThat(report.get("unmatched").asLong()).isZero();
        try (SessionReader reader = SessionReader.open(session)) {
            List<SiteProfile> sites = reader.sites();
            assertThat(sites).as("one record for each").hasSizeLessThan(20).doesNotHaveDuplicates();
        }
        assertThat(log(session)).containsOnlyOnce("libplugin.so: opened").doesNotContain("goes on before");
    }

    /// Where hops can stand may be taken by others: then a function has no probe, and the log says so.
    @Test
    void shouldCountEveryCallOfALibraryThatNoCompilerHasPrepared() throws Exception {
        int cycles = 50;
        Path library = plugin("-fno-common");
        Path session = directory.resolve("session");

        Dist.Outcome run = Dist.run(
                directory,
                Dist.preload("wait,exact,include=libplugin.so!*,session=" + session),
                command(List.of(host().toString()), "cycles", library, cycles, CALLS));

        assertThat(run.status()).isZero();
        assertThat(run.text()).isEqualTo(alone("cycles", library.toString(), cycles, CALLS));
        Map<String, Long> calls = Dist.calls(Dist.report(directory, session));
        Map<String, Long> all = Map.of("work", (long) cycles * CALLS, "leaf", cycles * LEAVES);
        assertThat(all).containsAllEntriesOf(calls);
        if (calls.size() < all.size()) {
            assertThat(log(session)).contains("no free memory within reach of their jumps");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-finstrument-functions -fno-plt",
                "-fpatchable-function-entry=16",
                "-fpatchable-function-entry=7,5",
                "-pg -mfentry",
                "-pg"
            })
    void shouldCountEveryCallWhateverMadeTheProbes(String flags) throws Exception {
        int cycles = 50;
        Path library = plugin(flags.split(" "));
        Path session = directory.resolve("session");

        Dist.Outcome run = underAgent(session, "cycles", library.toString(), cycles, CALLS);

        assertThat(run.status()).isZero();
        assertThat(run.text()).isEqualTo(alone("cycles", library.toString(), cycles, CALLS));
        assertThat(Dist.calls(Dist.report(directory, session)))
                .containsEntry("work", (long) cycles * CALLS)
                .containsEntry("leaf", cycles * LEAVES);
    }

    @Test
    void shouldMeasureMetricsInALibraryThatComesAndGoes() throws Exception {
        int cycles = 20;
        Path session = directory.resolve("session");
        Path host = Dist.compile(directory, "host", "-fpatchable-function-entry=5");
        Path metrics = Files.writeString(directory.resolve("metrics.mdl"), """
                list works is procedure { items { "main", "work" }; }
                metric works_done {
                    name "Works"; units calls; unitsType unnormalized; aggregateOperator sum;
                    base is counter { foreach func in works { append preInsn func.entry (* works_done++; *) } }
                }
                """);

        Dist.Outcome run = Dist.run(
                directory,
                Dist.preload("wait,mdl=" + metrics + ",metric=works_done,session=" + session),
                command(List.of(host.toString()), "cycles", plugin(), cycles, CALLS));

        assertThat(run.status()).isZero();
        JsonNode metric = Dist.report(directory, session).get("metrics").get(0);
        assertThat(metric.get("value").asDouble()).isEqualTo(1 + cycles * CALLS);
    }

    @Test
    void shouldFindALibraryThatWasOpenedWithoutWaiting() throws Exception {
        Path session = directory.resolve("session");

        // The agent reads line tables behind everything else: a program that ends before has no source files.
        callUntil(
                session,
                () -> Dist.reportOrNull(directory, session) instanceof JsonNode report
                        && Dist.calls(report).containsKey("work")
                        && Dist.function(report, "work").path("sampled").asLong() > 0
                        && Dist.function(report, "work").has("file"));

        JsonNode work = Dist.function(Dist.report(directory, session), "work");
        assertThat(work.get("callsExact").asBoolean()).isFalse();
        assertThat(work.get("file").asText()).endsWith("plugin.c");
    }

    @Tag("timing")
    @Test
    void shouldEstimateTheCallsOfALibraryThatWasOpenedWithoutWaiting() throws Exception {
        Path session = directory.resolve("session");
        long end = System.nanoTime() + 3_000_000_000L;

        long calls = callUntil(session, () -> System.nanoTime() - end > 0);

        JsonNode work = Dist.function(Dist.report(directory, session), "work");
        assertThat(work.get("calls").asLong()).isBetween(calls / 3, calls * 3 / 2);
    }

    /// Lets a program that does not wait for the agent call the library.
    ///
    /// @return how often
    private long callUntil(Path session, Callable<Boolean> condition) throws Exception {
        Process process = Dist.start(
                List.of(host().toString(), "late", plugin().toString()), "startDelayMillis=0,session=" + session);
        try {
            Dist.await("enough calls", condition);
            process.outputWriter().close();
            long calls = Long.parseLong(process.inputReader().readLine());
            assertThat(process.waitFor()).isZero();
            return calls;
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void shouldNotLoseACallWhileThreadsOpenAndCloseAtOnce() throws Exception {
        int cycles = 200;
        Path session = directory.resolve("session");

        Dist.Outcome run = underAgent(session, "threads", plugin().toString(), cycles);

        assertThat(run.status()).isZero();
        assertThat(run.text()).isEqualTo(alone("threads", plugin().toString(), cycles));
        assertThat(Dist.calls(Dist.report(directory, session))).containsEntry("work", 4L * 50 * cycles);
    }

    @Test
    void shouldComputeTheSameWhileSitesToggleAndTheLibraryComesAndGoes() throws Exception {
        Path session = directory.resolve("session");
        List<String> command =
                List.of(host().toString(), "cycles", plugin().toString(), "2000", Integer.toString(CALLS));

        Dist.Outcome run =
                Dist.run(directory, Dist.preload("wait,sliced=*,budgetPercent=100,session=" + session), command);

        assertThat(run.status()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.text()).isEqualTo(alone("cycles", plugin().toString(), 2000, CALLS));
        assertThat(Dist.report(directory, session).at("/overhead/toggles").asLong())
                .isPositive();
    }

    @Test
    void shouldLeaveLibrariesAloneThatAForkedProcessOpens() throws Exception {
        Path session = directory.resolve("session");

        Dist.Outcome run = underAgent(session, "family", plugin().toString(), CALLS);

        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(Dist.calls(Dist.report(directory, session)))
                .containsExactlyInAnyOrderEntriesOf(Map.of("work", 2L * CALLS, "leaf", 2 * LEAVES));
    }

    @Test
    void shouldNotDisturbAForkedProcessWhoseLibraryTheParentClosesAndOpens() throws Exception {
        Path session = directory.resolve("session");
        int cycles = 300;

        Dist.Outcome run = underAgent(session, "inherited", plugin().toString(), cycles, CALLS);

        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        Map<String, Long> calls = Dist.calls(Dist.report(directory, session));
        assertThat(calls.get("work"))
                .as("all of the parent's; the child's until the parent first closes the library")
                .isBetween((1L + cycles) * CALLS, (1L + 2 * cycles) * CALLS);
        assertThat(calls).doesNotContainKey("later");
    }

    @Test
    void shouldFindALibraryThatWasOpenedByARelativePath() throws Exception {
        Path library = plugin();
        Path session = directory.resolve("session");

        Dist.Outcome run = underAgent(session, "cycles", "./" + library.getFileName(), 2, CALLS);

        assertThat(run.status()).isZero();
        assertThat(Dist.calls(Dist.report(directory, session))).containsEntry("work", 2L * CALLS);
    }

    @Test
    void shouldCountInALibraryForWhichRoomWasAskedFor() throws Exception {
        Path library = large();
        Path session = directory.resolve("session");

        Dist.Outcome run = Dist.run(
                directory,
                Dist.preload("wait,exact,libraryFunctions=5001,session=" + session),
                command(List.of(host().toString()), "cycles", library, 3, CALLS));

        assertThat(run.status()).isZero();
        JsonNode report = Dist.report(directory, session);
        assertThat(Dist.calls(report)).containsEntry("work", 3L * CALLS).containsEntry("f4999", 3L * CALLS);
        assertThat(report.get("losses")).isEmpty();
    }

    /// A library with 5,001 functions.
    private Path large() throws Exception {
        Path source = directory.resolve("many.c");
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 5000; i++) {
            text.append("unsigned f")
                    .append(i)
                    .append("(unsigned n) { return n + ")
                    .append(i)
                    .append("; }\n");
        }
        Files.writeString(source, text + "unsigned work(unsigned n) { return f7(n) + f4999(n); }\n");
        Path library = directory.resolve("libmany.so");
        Dist.Outcome built = Dist.run(
                directory,
                Map.of(),
                List.of(
                        "gcc",
                        "-shared",
                        "-fPIC",
                        "-finstrument-functions",
                        "-o",
                        library.toString(),
                        source.toString()));
        assertThat(built.status()).as(built.err()).isZero();
        return library;
    }

    @Test
    void shouldLeaveOutALibraryForWhichThereIsNoRoom() throws Exception {
        Path library = large();
        Path session = directory.resolve("session");

        Dist.Outcome run = underAgent(session, "cycles", library.toString(), 3, CALLS);

        assertThat(run.status()).isZero();
        assertThat(run.text()).isEqualTo(alone("cycles", library.toString(), 3, CALLS));
        JsonNode report = Dist.report(directory, session);
        assertThat(Dist.calls(report)).isEmpty();
        assertThat(report.at("/losses/0/reason").asText()).isEqualTo("images");
        assertThat(report.at("/losses/0/count").asLong()).isEqualTo(1);
        assertThat(report.at("/losses/1/reason").asText()).isEqualTo("functions");
        assertThat(report.at("/losses/1/count").asLong()).isEqualTo(5001);
        Dist.Outcome csv =
                Dist.run(directory, Map.of(), List.of(Dist.mdl(), "report", session.toString(), "--format", "csv"));
        assertThat(csv.err()).contains("5,001 functions have no probe");
        assertThat(log(session)).containsOnlyOnce("libmany.so: left alone: the session has no room for 5001 functions");
    }

    private String alone(Object... arguments) throws Exception {
        Dist.Outcome run = Dist.run(directory, Map.of(), command(List.of(host().toString()), arguments));
        assertThat(run.status()).isZero();
        return run.text();
    }

    private Dist.Outcome underAgent(Path session, Object... arguments) throws Exception {
        return Dist.run(
                directory,
                Dist.preload("wait,exact,exclude=host!*,session=" + session),
                command(List.of(host().toString()), arguments));
    }

    private static List<String> command(List<String> prefix, Object... arguments) {
        List<String> command = new ArrayList<>(prefix);
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return command;
    }

    private Path host() throws Exception {
        Path host = directory.resolve("host");
        return Files.exists(host) ? host : Dist.compile(directory, "host");
    }

    private Path plugin() throws Exception {
        return plugin("-finstrument-functions");
    }

    private Path plugin(String... flags) throws Exception {
        Path library = directory.resolve("libplugin.so");
        if (!Files.exists(library)) {
            List<String> all = new ArrayList<>(List.of("-shared", "-fPIC"));
            all.addAll(List.of(flags));
            Files.move(Dist.compile(directory, "plugin", all.toArray(String[]::new)), library);
        }
        return library;
    }

    private static String log(Path session) throws Exception {
        return Files.readString(session.resolve("agent.log"));
    }
}
