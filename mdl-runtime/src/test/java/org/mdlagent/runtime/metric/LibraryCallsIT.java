package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// What a program calls in libc is measured where it calls it, and what it synchronises by appears as it is used. The
/// program counts itself.
class LibraryCallsIT {
    private static final int TIMES = 2000;
    private static final int THREADS = 3;

    @TempDir
    Path directory;

    private Process process;
    private BufferedReader output;
    private Path session;
    private String ledger;
    private String journal;
    private String condition;

    private void start(String... flags) throws Exception {
        List<String> all = new ArrayList<>(List.of("-pthread", "-fpatchable-function-entry=5"));
        all.addAll(List.of(flags));
        Path program = Dist.compile(directory, "library_calls", all.toArray(String[]::new));
        session = directory.resolve("session");
        process = Dist.start(List.of(program.toString()), "wait,session=" + session);
        output = process.inputReader();
        String[] addresses = output.readLine().split(" ");
        ledger = "/SyncObject/Mutex/" + addresses[1];
        journal = "/SyncObject/Mutex/" + addresses[2];
        condition = "/SyncObject/Condition/" + addresses[3];
    }

    @AfterEach
    void end() throws Exception {
        if (process != null) {
            process.destroyForcibly().waitFor();
        }
    }

    /// Three threads transfer and allocate `times` times, another thread tries a lock, and so on.
    ///
    /// @return transfers, failed attempts, seconds that it waited for a mutex and for a condition
    private String[] call(int times) throws Exception {
        process.outputWriter().write(times + "\n");
        process.outputWriter().flush();
        return output.readLine().split(" ");
    }

    private void enable(String... requests) throws Exception {
        for (String request : requests) {
            assertThat(Dist.ask(session, "metric enable " + request)).startsWith("ok\n");
        }
    }

    private Map<String, Double> values() throws Exception {
        return Dist.metrics(directory, session);
    }

    /// Linkage words that are filled lazily, linkage words on read-only pages, and programs that have only the
    /// words that their code calls through.
    @ParameterizedTest
    @ValueSource(strings = {"-Wl,-z,lazy", "-Wl,-z,now", "-fno-plt", "-no-pie"})
    void shouldMeasureCallsOfLibc(String flag) throws Exception {
        start(flag);
        enable("mutex_ops", "lock_contention", "io_ops", "io_bytes");
        enable("memory_allocations", "memory_allocated", "memory_freed");
        enable("mutex_ops@/Code/library_calls.c/transfer", "mutex_ops@" + ledger);

        String[] said = call(TIMES);

        Map<String, Double> values = values();
        int transfers = Integer.parseInt(said[0]);
        assertThat(transfers).isEqualTo(THREADS * TIMES);
        // Each second transfer takes another lock; main and its helper take four.
        assertThat(values).containsEntry("mutex_ops", 1.5 * transfers + 4);
        assertThat(values).containsEntry("mutex_ops@/Code/library_calls.c/transfer", 1.5 * transfers);
        assertThat(values).containsEntry("mutex_ops@" + ledger, transfers + 2.0);
        assertThat(values).containsEntry("lock_contention", Double.parseDouble(said[1]));
        assertThat(values).containsEntry("io_ops", 2.0 * TIMES);
        assertThat(values).containsEntry("io_bytes", 18.0 * TIMES);
        assertThat(values).containsEntry("memory_allocations", 2.0 * transfers);
        assertThat(values).containsEntry("memory_allocated", 300.5 * transfers);
        assertThat(values).containsEntry("memory_freed", 2.0 * transfers);
    }

    @Tag("timing")
    @ParameterizedTest
    @ValueSource(strings = {"-Wl,-z,lazy", "-Wl,-z,now", "-fno-plt", "-no-pie"})
    void shouldMeasureHowLongThreadsWait(String flag) throws Exception {
        start(flag);
        enable("mutex_wait", "condition_wait", "mutex_wait@" + ledger, "condition_wait@/SyncObject/*/*");
        String waitsForIt = "condition_wait@" + condition;
        // What appears is measured from the agent's next look.
        call(TIMES);
        Dist.await("the condition has appeared", () -> values().containsKey(waitsForIt));
        Map<String, Double> before = values();

        String[] said = call(TIMES);

        Map<String, Double> values = values();
        double forMutex = values.get("mutex_wait@" + ledger) - before.get("mutex_wait@" + ledger);
        assertThat(forMutex).isGreaterThan(Double.parseDouble(said[2]) - 0.001);
        for (String waits : List.of("condition_wait", waitsForIt)) {
            assertThat(values.get(waits) - before.get(waits)).isCloseTo(Double.parseDouble(said[3]), within(0.01));
        }
    }

    @Test
    void shouldMeasureWhatIsUsedWhileItMatches() throws Exception {
        start();
        enable("mutex_ops@/SyncObject/Mutex/*", "condition_wait@/SyncObject/*/*");
        // What appears is measured from the agent's next look.
        call(TIMES);
        List<String> appearing = List.of("mutex_ops@" + ledger, "mutex_ops@" + journal, "condition_wait@" + condition);
        Dist.await("all have appeared", () -> values().keySet().containsAll(appearing));
        Map<String, Double> before = values();

        call(TIMES);

        Map<String, Double> after = values();
        int transfers = THREADS * TIMES;
        assertThat(after.get("mutex_ops@" + ledger) - before.get("mutex_ops@" + ledger))
                .isEqualTo(transfers + 2.0);
        assertThat(after.get("mutex_ops@" + journal) - before.get("mutex_ops@" + journal))
                .isEqualTo(transfers / 2 + 2.0);
        assertThat(Dist.ask(session, "metric resources 0").lines()).contains(ledger, journal, condition);

        assertThat(Dist.ask(session, "metric disable mutex_ops@/SyncObject/Mutex/*"))
                .startsWith("ok\n");
        assertThat(values()).containsOnlyKeys("condition_wait@" + condition);
    }

    @Test
    void shouldKnowObjectsByTheNamesOfVariables() throws Exception {
        start();
        enable("mutex_ops@/SyncObject/Mutex/ledger");

        call(TIMES);

        assertThat(values()).containsEntry("mutex_ops@/SyncObject/Mutex/ledger", THREADS * TIMES + 2.0);
    }

    @Test
    void shouldMeasureEachThreadThatThereIs() throws Exception {
        start();
        assertThat(Dist.ask(session, "metric enable mutex_ops@/Thread/*")).startsWith("ok\n1\t1\t0\n");

        call(TIMES);

        assertThat(values()).containsEntry("mutex_ops@/Thread/" + process.pid(), 3.0);
    }

    /// The program stores what the dynamic linker would, had another thread called the function for the first time.
    @Test
    void shouldSeeCallsAgainThatTheDynamicLinkerHasLedAway() throws Exception {
        Path metrics = Files.writeString(directory.resolve("absolutes.mdl"), """
                list labs_func is procedure { items { "labs" }; library true; }
                metric absolutes {
                    name "Absolutes"; units calls; unitsType unnormalized; aggregateOperator sum;
                    base is counter { foreach func in labs_func { append preInsn func.entry (* absolutes++; *) } }
                }
                """);
        Path program = Dist.compile(
                directory, "late_linker", "-fno-builtin", "-no-pie", "-Wl,-z,lazy", "-fpatchable-function-entry=5");
        session = directory.resolve("session");
        process = Dist.start(List.of(program.toString()), "wait,mdl=" + metrics + ",session=" + session);
        output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
        enable("absolutes");

        assertThat(call(1000)).containsExactly("led");
        assertThat(call(0)).containsExactly("led");
        assertThat(call(500)).containsExactly("led");

        assertThat(values()).containsEntry("absolutes", 1500.0);
    }

    /// What a call costs, times how often the function has been called lately.
    @Tag("timing")
    @Test
    void shouldExpectWhatCallsOfLibcCost() throws Exception {
        start();
        process.outputWriter().write(TIMES * 1000 + "\n");
        process.outputWriter().flush();

        String answer = Dist.ask(session, "metric enable memory_allocated");

        assertThat(answer)
                .matches("(?s)(ok\n1\t\\d+\t(?!0\t)[0-9.]+\n.*|.*would take some [0-9.]+ % of a processor.*)");
    }

    /// Whoever compares pointers finds what the dynamic linker has told. What is called by them is not seen, and said.
    @Test
    void shouldLeavePointersOfTheProgramAlone() throws Exception {
        start("-DPOINTERS");

        assertThat(Dist.ask(session, "metric enable memory_freed"))
                .contains("calls of free in library_calls: calls through a pointer are not seen");
        call(TIMES);

        assertThat(output.readLine()).isEqualTo("same");
    }
}
