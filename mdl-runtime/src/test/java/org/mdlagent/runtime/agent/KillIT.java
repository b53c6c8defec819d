package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// `kill -9` in the middle of a run loses no record.
class KillIT {
    private static final long CALLS_MIN = 100_000;

    @TempDir
    Path directory;

    @RepeatedTest(3)
    void shouldReportEveryCallUpToTheKill() throws Exception {
        Path session = directory.resolve("session");

        long returned = runAndKill(session);

        JsonNode report = Dist.report(directory, session);
        JsonNode work = Dist.function(report, "work");
        // One call may have returned that the program had not yet counted, and one more may have been entered.
        assertThat(work.get("calls").asLong()).isBetween(returned, returned + 2);
        assertThat(report.get("session").has("ended")).isFalse();
        assertThat(report.get("dropped").asLong()).isZero();
    }

    @Test
    void shouldMoveTheDataOutOfSharedMemoryWhenAnotherProgramIsRun() throws Exception {
        Path session = directory.resolve("session");
        Path data = session.resolve("session.mdl");
        long returned = runAndKill(session);
        assertThat(data).isSymbolicLink();
        Path memory = Files.readSymbolicLink(data);
        assertThat(memory).exists();

        assertThat(Dist.run(directory, Map.of(), List.of(Dist.mdl(), "run", "--", "true"))
                        .status())
                .isZero();

        assertThat(memory).doesNotExist();
        assertThat(data).isRegularFile();
        assertThat(Dist.function(Dist.report(directory, session), "work")
                        .get("calls")
                        .asLong())
                .isBetween(returned, returned + 2);
    }

    /// How many calls of work() the program had counted.
    private long runAndKill(Path session) throws Exception {
        Path program = Dist.compile(directory, "killed", "-finstrument-functions");
        Path done = directory.resolve("done");
        Process process = Dist.start(List.of(program.toString(), done.toString()), "wait,exact,session=" + session);
        try (BufferedReader output = process.inputReader()) {
            assertThat(output.readLine()).isEqualTo("ready");
            Dist.await("calls", () -> returned(done) > CALLS_MIN);
        } finally {
            new ProcessBuilder("kill", "-9", Long.toString(process.pid()))
                    .start()
                    .waitFor();
        }
        assertThat(process.waitFor()).isEqualTo(128 + 9);
        return returned(done);
    }

    private static long returned(Path done) throws IOException {
        return ByteBuffer.wrap(Files.readAllBytes(done))
                .order(ByteOrder.LITTLE_ENDIAN)
                .getLong();
    }
}
