package org.mdlagent.runtime.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// What a wrapper executes in its place, or as its only child, is the program, without probes of a compiler too.
class WrappersIT {
    private static final String[] FUNCTIONS = {"work", "leaf"};

    /// Of the program, which its wrappers pass on.
    private static final int STATUS = 3;

    @TempDir
    static Path programs;

    @TempDir
    Path directory;

    private Path session;
    private Path end;

    @BeforeAll
    static void compile() throws Exception {
        Files.move(Dist.compile(programs, "wrapped"), programs.resolve("app"));
        Files.move(Dist.compile(programs, "wrapped", "-fpatchable-function-entry=5"), programs.resolve("prepared"));
        script("executes", "mkdir -p made", "exec ./app \"$1\"");
        script("calls", "./app \"$1\"");
    }

    private static void script(String name, String... lines) throws IOException {
        Path script = programs.resolve(name);
        Files.writeString(script, "#!/bin/sh\n" + String.join("\n", lines) + "\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
    }

    @BeforeEach
    void choosePlaces() {
        session = directory.resolve("session");
        end = directory.resolve("end");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "timeout 1000 ./app END",
                "nice ./app END",
                "env NAME=value ./app END",
                "setsid -f -w ./app END",
                "taskset -c 0 ./app END",
                "nohup ./app END",
                "setpriv --no-new-privs ./app END",
                "sh -c 'exec ./app END'",
                "sh -c './app END; exit $?'",
                "./executes END",
                "./calls END",
                "nice timeout 1000 timeout 900 env ./app END",
                "timeout 1000 ./prepared END",
            })
    void shouldShowTheFunctionsOfTheProgramThatAWrapperExecutes(String command) throws Exception {
        Process process = start("LD_PRELOAD=" + Dist.shim() + " exec " + command, "session=" + session);

        assertThat(statusOnceCounted(process)).isEqualTo(STATUS);
        assertThat(Dist.calls(Dist.report(directory, session))).containsKeys(FUNCTIONS);
    }

    /// Main of the wrapper has waited for the agent, so there is a session of the wrapper, too.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "timeout 1000 ./app END",
                "nice ./app END",
                "timeout 1000 nice ./app END",
                "./executes END",
                "timeout 1000 ./prepared END",
            })
    void shouldReportThatProgramBehindARunThatWaits(String command) throws Exception {
        Path written = directory.resolve("report.json");
        String run = Dist.mdl() + " run --wait -o " + session + " --report=json:" + written + " -- ";
        Process process = start("exec " + run + command, "");

        assertThat(statusOnceCounted(process)).isEqualTo(STATUS);
        assertThat(Dist.calls(new ObjectMapper().readTree(written.toFile()))).containsKeys(FUNCTIONS);
        assertThat(Dist.calls(Dist.report(directory, session))).containsKeys(FUNCTIONS);
    }

    /// By a shell that has no agent.
    private Process start(String command, String options) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("/bin/sh", "-c", command.replace("END", end.toString()))
                .directory(programs.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("output").toFile());
        builder.environment().putAll(Map.of("MDL_OPTIONS", options, "XDG_STATE_HOME", directory + "/state"));
        return builder.start();
    }

    /// Lets the program end as soon as its calls are seen. When they never are, it ends by itself.
    private int statusOnceCounted(Process process) throws Exception {
        Dist.await("calls of the program, or its end", () -> {
            JsonNode report = Dist.reportOrNull(directory, session);
            return !process.isAlive() || (report != null && Dist.calls(report).containsKey("leaf"));
        });
        Files.createFile(end);
        return process.waitFor();
    }
}
