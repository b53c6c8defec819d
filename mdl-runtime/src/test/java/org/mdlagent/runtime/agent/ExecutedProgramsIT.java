package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// Processes that execute other programs, and what they have forked before.
class ExecutedProgramsIT {
    private static final int STATUS_OF_WORKER = 3;

    @TempDir
    Path directory;

    private Path end;

    @BeforeEach
    void choosePlaces() {
        end = directory.resolve("end");
    }

    /// Forked before the agent's thread goes on, and while it starts the JVM, of which the worker has a part then. A
    /// worker that confines itself does so long before its agent begins: behind that, it would stay without.
    @ParameterizedTest
    @ValueSource(strings = {"0", "0c", "60", "3060c"})
    void shouldProfileAWorkerWhoseParentExecutesAnotherProgram(String millis) throws Exception {
        Process process = start(millis.endsWith("c") ? "exact,startDelayMillis=3000" : "exact", millis);
        String worker = process.inputReader().readLine();

        Dist.await("calls of the worker, and of its parent", () -> {
            assertThat(process.isAlive()).isTrue();
            return calls(worker).containsKey("work")
                    && calls(Long.toString(process.pid())).containsKey("wait_for");
        });
        Files.createFile(end);
        assertThat(process.waitFor()).isEqualTo(STATUS_OF_WORKER);
        assertThat(process.errorReader().lines()).isEmpty();
    }

    /// A worker that has made no call when its parent executes another program goes on without probes.
    @Test
    void shouldNotCallAProcessKilledThatHasExecutedAnotherProgram() throws Exception {
        Process process = start("exact,wait", "0w");
        String worker = process.inputReader().readLine();
        String master = Long.toString(process.pid());
        Dist.await("calls of the parent", () -> calls(master).containsKey("wait_for"));

        Path first = session(master, false);
        Dist.await("calls of the worker, which was forked with probes, in its parent's first session", () -> {
            JsonNode report = Dist.reportOrNull(directory, first);
            return report != null && Dist.calls(report).containsKey("work");
        });
        Dist.Outcome report = Dist.run(directory, Map.of(), List.of(Dist.mdl(), "report", String.valueOf(first)));
        assertThat(report.text())
                .containsPattern(master + " .* executed another program, has the agent")
                .containsPattern(worker + " .* runs")
                .doesNotContain("killed");
        Files.createFile(end);
        assertThat(process.waitFor()).isEqualTo(STATUS_OF_WORKER);
    }

    /// Its dynamic linker would say on stderr that it cannot load the library.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "sh -c './elf32; exit $?'",
                "env ./elf32",
                "timeout 1000 ./elf32",
                "find elf32 -exec ./elf32 {} +",
                "env elf32",
                "timeout 1000 elf32",
                "./spawns elf32"
            })
    void shouldNotNameTheLibraryToAProgramOf32Bits(String command) throws Exception {
        Path program = Dist.compile(
                directory,
                "elf32",
                "-m32",
                "-nostdlib",
                "-static",
                "-fno-pie",
                "-no-pie",
                "-fno-stack-protector",
                "-fno-tree-loop-distribute-patterns");
        assumeTrue(Dist.works(program.toString()), "the kernel executes programs of 32 bits");
        Path other = Dist.compile(directory, "plugin", "-shared", "-fPIC");
        Dist.compile(directory, "spawns");
        String path = directory.resolve("none") + ":" + directory + ":" + System.getenv("PATH");
        Map<String, String> environment =
                Map.of("LD_PRELOAD", Dist.shim() + ":" + other, "MDL_OPTIONS", "", "PATH", path);

        Dist.Outcome outcome = Dist.run(directory, environment, List.of("/bin/sh", "-c", "exec " + command));

        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.text().lines()).contains("LD_PRELOAD=" + other, "MDL_OPTIONS=");
    }

    private Process start(String options, String millis) throws Exception {
        Path program = Dist.compile(directory, "executes", "-finstrument-functions");
        ProcessBuilder builder = new ProcessBuilder(program.toString(), end.toString(), millis);
        builder.environment().putAll(Dist.preload(options));
        builder.environment().put("XDG_STATE_HOME", directory.resolve("state").toString());
        return builder.start();
    }

    private Map<String, Long> calls(String pid) throws Exception {
        Path session = session(pid, true);
        JsonNode report = session == null ? null : Dist.reportOrNull(directory, session);
        return report == null ? Map.of() : Dist.calls(report);
    }

    /// The first or the last session of a process.
    private @Nullable Path session(String pid, boolean last) throws IOException {
        Path sessions = directory.resolve("state/mdl/sessions");
        try (Stream<Path> all = Files.exists(sessions) ? Files.list(sessions) : Stream.empty()) {
            List<Path> own = all.filter(
                            session -> session.getFileName().toString().contains("-" + pid + "-"))
                    .filter(session -> Files.exists(session.resolve("session.mdl")))
                    .sorted()
                    .toList();
            return own.isEmpty() ? null : last ? own.getLast() : own.getFirst();
        }
    }
}
