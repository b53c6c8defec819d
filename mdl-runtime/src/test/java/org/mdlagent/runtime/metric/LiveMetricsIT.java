package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// Metrics of one's own, given to a program that runs: foo sends messages with tags 1 and 2, bar with tag 4.
class LiveMetricsIT {
    private static final int CALLS = 100;

    @TempDir
    Path directory;

    private Process process;
    private BufferedReader output;
    private String session;

    @BeforeEach
    void start() throws Exception {
        start("messages");
    }

    private void start(String name) throws Exception {
        Path program = Dist.compile(directory, name, "-fpatchable-function-entry=5");
        session = directory.resolve("session-" + name).toString();
        process = Dist.start(List.of(program.toString()), "wait,session=" + session);
        output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
    }

    @AfterEach
    void end() throws Exception {
        process.destroyForcibly().waitFor();
    }

    private void call() throws Exception {
        process.outputWriter().write(CALLS + "\n");
        process.outputWriter().flush();
        assertThat(output.readLine()).isEqualTo("done");
    }

    private Dist.Outcome mdl(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(Dist.mdl()));
        command.addAll(List.of(arguments));
        return Dist.run(directory, Map.of(), command);
    }

    private double value(String metric) throws Exception {
        for (JsonNode each : Dist.report(directory, Path.of(session)).get("metrics")) {
            if (each.get("name").asText().equals(metric) && each.get("focus").isEmpty()) {
                return each.get("value").asDouble();
            }
        }
        throw new AssertionError(metric + " is not measured");
    }

    @Test
    void shouldMeasureWhatAFileDefines() throws Exception {
        Path file = Files.writeString(directory.resolve("my.mdl"), """
                // Messages with a high tag.
                metric high_tags {
                    name "High tags"; units messages; aggregateOperator sum; // no rate
                    base is counter {
                        foreach func in senders {
                            append preInsn func.entry (* if ($arg[1] > 1) high_tags++; *)
                        }
                    }
                }
                list senders is procedure { items { "pvm_send" }; }
                """);

        Dist.Outcome enabled = mdl("enable", "--mdl", file.toString(), session, "high_tags");
        call();

        assertThat(enabled.err()).isEmpty();
        assertThat(enabled.text()).startsWith("high_tags @ the whole program: 1 point");
        assertThat(value("high_tags")).isEqualTo(2 * CALLS);
    }

    /// Nothing sees the entry of a call that is under way.
    @Test
    void shouldSayWhatThreadsAreInsideOf() throws Exception {
        end();
        start("serves");
        call();

        Dist.Outcome enabled = mdl(
                "enable",
                session,
                "exec_time@/Code/serves.c/serve",
                "exec_time@/Code/serves.c/handle",
                "procedure_calls@/Code/serves.c/handle");
        call();

        assertThat(enabled.err())
                .isEqualTo("mdl: not measured: calls of serve that 1 thread is in: they began before; the next call"
                        + " counts\n");
        assertThat(mdl("enable", session, "exec_time@/Code/serves.c/main").err())
                .contains("exec_time starts with main, and main runs already");
    }

    @Test
    void shouldAnswerQuestionsInOneLine() throws Exception {
        Dist.Outcome enabled = mdl(
                "enable",
                session,
                "-e",
                "counter at entry of pvm_* when $arg[1] >= 3",
                "-e",
                "tags = counter of $arg[1] at entry of pvm_send",
                "-e",
                "inside = wallTimer of foo, bar");
        call();

        assertThat(enabled.err()).isEmpty();
        assertThat(enabled.status()).isZero();
        assertThat(value("entry_pvm")).isEqualTo(2 * CALLS);
        assertThat(value("tags")).isEqualTo((1 + 2 + 4) * CALLS);
        assertThat(value("inside")).isPositive();
        List<String> watched = mdl("watch", "--count=1", "--interval=0.1", session)
                .text()
                .lines()
                .toList();
        assertThat(watched.get(0)).contains("entry_pvm (calls)", "tags (units)", "inside (seconds)");
        assertThat(watched.get(1)).contains("       200  ", "       700  ");
    }

    @Test
    void shouldGoOnBehindWhatIsRefused() throws Exception {
        Dist.Outcome enabled =
                mdl("enable", session, "procedure_calls", "io_wiat", "procedure_calls@/Code/messages.c/foo");

        assertThat(enabled.status()).isEqualTo(1);
        assertThat(enabled.text().lines()).hasSize(2);
        assertThat(enabled.err()).contains("no metric io_wiat; did you mean 'io_wait'?", "2 of 3 enabled, 1 refused");
    }

    @Test
    void shouldKeepADefinitionWhileItIsEnabled() throws Exception {
        String question = "n = counter at entry of foo";
        assertThat(mdl("enable", session, "-e", question).status()).isZero();

        assertThat(mdl("enable", session, "-e", "n = counter at entry of bar").err())
                .contains("n is enabled with another definition");
        assertThat(mdl("enable", session, "-e", question).err()).contains("n is enabled already");
        assertThat(mdl("disable", session, "n").status()).isZero();
        assertThat(mdl("enable", session, "-e", "n = counter at entry of bar").status())
                .isZero();
        call();
        assertThat(value("n")).isEqualTo(CALLS);
    }

    @Test
    void shouldShowErrorsBeforeTheProgramIsAsked() throws Exception {
        Dist.Outcome wrong = mdl("enable", session, "-e", "counter at entry of foo when $arg[9] > 1");

        assertThat(wrong.status()).isEqualTo(2);
        assertThat(wrong.err()).contains("error: ", "mdl compile -e");
        assertThat(mdl("compile", "-e", "counter at entry of foo").text())
                .startsWith("list entry_foo_functions is procedure");
        assertThat(mdl("watch", session).err()).contains("no metric is enabled", "mdl enable PID io_wait starts one");
    }
}
