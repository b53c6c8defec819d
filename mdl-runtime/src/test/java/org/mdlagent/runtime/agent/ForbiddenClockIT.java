package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.Dist;

/// A thread that forbids itself the time-stamp counter (`prctl(PR_SET_TSC)`) goes on as without the agent. What it has
/// called before is recorded; what it calls later, and what its threads and children call, is not.
class ForbiddenClockIT {
    private static final int SIGSEGV = 11;

    private static final long CALLS = 1000;

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({
        "-finstrument-functions, prctl, exact",
        "-finstrument-functions, syscall, budget=100",
        "-fpatchable-function-entry=5, prctl, exact",
        "-fpatchable-function-entry=5, syscall, exact",
        "-fpatchable-function-entry=5, prctl, budget=100",
        "-O2, prctl, exact"
    })
    void shouldRecordNothingMore(String flags, String call, String options) throws Exception {
        Path program = Dist.compile(directory, "forbids_clock", flags, "-pthread");
        Path session = directory.resolve("session");

        Dist.Outcome bare = Dist.run(directory, Map.of(), List.of(program.toString(), call));
        Dist.Outcome outcome = Dist.run(
                directory, Dist.preload("wait," + options + ",session=" + session), List.of(program.toString(), call));

        assertThat(bare.status()).isZero();
        assertThat(outcome).usingRecursiveComparison().isEqualTo(bare);
        JsonNode report = Dist.report(directory, session);
        assertThat(Dist.calls(report)).containsEntry("work", CALLS).doesNotContainKey("work_behind");
        assertThat(Files.readString(session.resolve("agent.log"))).contains("PR_SET_TSC");
    }

    @Test
    void shouldLeaveAProgramAloneThatIsExecutedWithoutTheClock() throws Exception {
        Path program = Dist.compile(directory, "forbids_clock", "-finstrument-functions", "-pthread");
        Path session = directory.resolve("session");

        Dist.Outcome bare = Dist.run(directory, Map.of(), List.of(program.toString(), "executes"));
        Dist.Outcome outcome =
                Dist.run(directory, Dist.preload("wait,session=" + session), List.of(program.toString(), "executes"));

        assertThat(outcome).usingRecursiveComparison().isEqualTo(bare);
        // Where the processor has a fault for it, the dynamic linker, which reads it, ends the program before all else.
        assertThat(bare.status()).isIn(0, 128 + SIGSEGV);
        if (bare.status() == 0) {
            assertThat(logs(session)).contains("the program may not read the time-stamp counter");
        }
    }

    /// Of the session and of those in its directory: each program that is executed has its own.
    private static String logs(Path session) throws IOException {
        StringBuilder logs = new StringBuilder();
        try (Stream<Path> files = Files.walk(session)) {
            for (Path log : files.filter(file -> file.endsWith("agent.log")).toList()) {
                logs.append(Files.readString(log));
            }
        }
        return logs.toString();
    }
}
