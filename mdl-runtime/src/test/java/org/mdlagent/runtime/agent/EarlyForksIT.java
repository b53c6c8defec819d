package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// A family has one agent and one session, whenever its processes were forked: with the default start delay, before
/// the JVM, while it starts, and after.
class EarlyForksIT {
    private static final List<String> MILLIS = List.of("0", "20", "100", "300", "1500");
    private static final int LAST_CALLS = 100;

    @TempDir
    Path directory;

    @Test
    void shouldCountInAllWorkersWheneverTheyWereForked() throws Exception {
        Path session = directory.resolve("session");
        Process process = start("exact,session=" + session, MILLIS);
        Dist.await("calls of all workers", () -> workersCalled(session) == MILLIS.size());
        assertAlone(session);
        process.outputWriter().close();
        assertThat(process.waitFor()).isZero();

        JsonNode report = Dist.report(directory, session);
        assertThat(Dist.calls(report)).containsEntry("last", (long) LAST_CALLS * MILLIS.size());
        assertThat(report.get("processes")).hasSize(1 + MILLIS.size());
        for (JsonNode each : report.get("processes")) {
            boolean isFirst = each.get("pid").asLong() == process.pid();
            assertThat(each.get("agent").asBoolean()).isEqualTo(isFirst);
            assertThat(each.at("/exit/status").asInt(-1)).isEqualTo(isFirst ? 0 : 3);
        }
        assertThat(sessions(session)).containsExactly(session);
    }

    @Test
    void shouldSayThatWorkersHaveConfinedThemselvesBeforeTheyHadProbes() throws Exception {
        Path session = directory.resolve("session");
        Process process = start("exact,startDelayMillis=2000,session=" + session, List.of("0", "0c", "50c"));
        Dist.await("calls of the first worker", () -> workersCalled(session) == 1);
        process.outputWriter().close();
        assertThat(process.waitFor()).isZero();

        Dist.Outcome report = Dist.run(directory, Map.of(), List.of(Dist.mdl(), "report", session.toString()));
        assertThat(report.text())
                .contains("2 processes that were forked before the probes were in place had none")
                .contains("last");
        assertThat(Dist.calls(Dist.report(directory, session))).containsEntry("last", (long) LAST_CALLS);
    }

    /// Mostly while its JVM starts: then another begins anew.
    @Test
    void shouldGoOnWhenTheFirstProcessIsKilled() throws Exception {
        Path first = directory.resolve("session");
        Process process = start("exact,session=" + first, List.of("0", "10", "30"));
        List<ProcessHandle> workers = new ArrayList<>();
        try {
            Dist.await("the workers", () -> process.descendants().count() == 3);
            process.descendants().forEach(workers::add);
            assertThat(process.waitFor(100, TimeUnit.MILLISECONDS)).isFalse();
            process.destroyForcibly().waitFor();
            Dist.await("a session with calls of all workers", () -> {
                for (Path session : sessions(first)) {
                    if (workersCalled(session) == workers.size()) {
                        return true;
                    }
                }
                return false;
            });
        } finally {
            workers.forEach(ProcessHandle::destroyForcibly);
        }
    }

    /// Nothing of the agent is left in workers but what it has mapped.
    private void assertAlone(Path session) throws Exception {
        for (JsonNode each : Dist.report(directory, session).get("processes")) {
            if (!each.get("agent").asBoolean()) {
                Path tasks = Path.of("/proc", each.get("pid").asText(), "task");
                Dist.await("the end of the thread that waited", () -> {
                    try (var entries = Files.list(tasks)) {
                        return entries.count() == 1;
                    }
                });
            }
        }
    }

    /// Of a process that has found the directory taken, the session is below.
    private static List<Path> sessions(Path directory) throws IOException {
        try (var files = Files.exists(directory) ? Files.walk(directory) : Stream.<Path>empty()) {
            return files.filter(file -> file.endsWith("session.mdl"))
                    .map(Path::getParent)
                    .toList();
        }
    }

    private long workersCalled(Path session) throws InterruptedException {
        JsonNode report = Dist.reportOrNull(directory, session);
        long called = 0;
        if (report != null) {
            for (JsonNode each : report.get("processes")) {
                called += each.path("calls").asLong() > 0 ? 1 : 0;
            }
        }
        return called;
    }

    private Process start(String options, List<String> millis) throws Exception {
        Path program = Dist.compile(directory, "early_forks", "-finstrument-functions");
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(millis);
        return Dist.start(command, options);
    }
}
