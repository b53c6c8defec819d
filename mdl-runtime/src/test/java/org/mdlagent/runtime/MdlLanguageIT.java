package org.mdlagent.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Forms of MDL do in a running program what they say.
class MdlLanguageIT {
    @TempDir
    Path directory;

    private Process process;

    @AfterEach
    void end() throws Exception {
        if (process != null) {
            process.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldRunBlocksTakeItemsOfListsAndSeeTheExit() throws Exception {
        Path metrics = Files.writeString(directory.resolve("steps.mdl"), """
                list phases is procedure { items { "begin", "step" }; }
                metric late {
                    name "late"; units steps; aggregateOperator sum;
                    counter seen;
                    base is counter {
                        append preInsn phases[1].entry (*
                            if (readSymbol("timeSteps") >= 300) {
                                seen += 1;
                                late += 2;
                                if (seen > 5) { late += 50; late += 50; }
                            }
                        *)
                    }
                }
                metric ended {
                    name "ended"; units exits; aggregateOperator sum;
                    base is counter { append preInsn $exit.entry (* ended += $arg[0]; *) }
                }
                """);
        Path session = directory.resolve("session");
        Path program = Dist.compile(directory, "steps", "-fpatchable-function-entry=5");
        process = Dist.start(List.of(program.toString()), "wait,mdl=" + metrics + ",session=" + session);
        BufferedReader output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
        assertThat(Dist.ask(session, "metric enable late")).startsWith("ok\n1\t1\t");
        assertThat(Dist.ask(session, "metric enable ended")).startsWith("ok\n1\t1\t");

        process.outputWriter().write("310\n0\n");
        process.outputWriter().flush();

        assertThat(process.waitFor()).isEqualTo(3);
        assertThat(Dist.report(directory, session).get("metrics"))
                .extracting(metric -> metric.get("value").asDouble())
                .containsExactly(10 * 2 + 5 * 100.0, 3.0);
    }

    /// foo sends messages with the tags 1 and 2 and receives one with 3, bar sends one with 4.
    @Test
    void shouldCountMessagesByTheirTagsAndRefuseMetricsOfOtherFlavors() throws Exception {
        Path session = directory.resolve("session");
        Path program = Dist.compile(directory, "messages", "-fpatchable-function-entry=5");
        process = Dist.start(List.of(program.toString()), "wait,session=" + session);
        BufferedReader output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
        assertThat(Dist.ask(session, "metric enable msgs@/SyncObject/Message/3"))
                .startsWith("ok\n1\t6\t");
        assertThat(Dist.ask(session, "metric enable msgs@/SyncObject/Message/4"))
                .startsWith("ok\n1\t6\t");
        assertThat(Dist.ask(session, "metric enable msgs@/Code/messages.c/foo@/SyncObject/Message/4"))
                .startsWith("ok\n1\t8\t");
        assertThat(Dist.ask(session, "metric enable messages_sent"))
                .contains("messages_sent: it is for programs of flavor mpi, this one is of unix, pvm");

        process.outputWriter().write("100\n");
        process.outputWriter().flush();

        assertThat(output.readLine()).isEqualTo("done");
        assertThat(Dist.report(directory, session).get("metrics"))
                .extracting(metric -> metric.get("value").asDouble())
                .containsExactly(100.0, 100.0, 0.0);
    }

    /// A look for each tag that has appeared, and one before there is any.
    @Test
    void shouldWatchAPatternAsItWasEnabled() throws Exception {
        Path session = directory.resolve("session");
        Path program = Dist.compile(directory, "messages", "-fpatchable-function-entry=5");
        process = Dist.start(List.of(program.toString()), "wait,session=" + session);
        assertThat(process.inputReader().readLine()).isEqualTo("ready");
        String tags = "msgs@/SyncObject/Message/*";
        assertThat(Dist.ask(session, "metric enable " + tags)).startsWith("ok\n0\t");

        assertThat(watch(session, tags)).doesNotContain("Message");

        process.outputWriter().write("1\n");
        process.outputWriter().flush();
        assertThat(process.inputReader().readLine()).isEqualTo("done");
        Dist.await(
                "four tags",
                () -> Dist.report(directory, session).path("metrics").size() == 4);
        assertThat(watch(session, tags)).contains("/SyncObject/Message/1", "/SyncObject/Message/4");
    }

    private String watch(Path session, String request) throws Exception {
        Dist.Outcome outcome = Dist.run(
                directory,
                Map.of(),
                List.of(Dist.mdl(), "watch", "--count", "1", "--interval", "0.05", session.toString(), request));
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.status()).isZero();
        return outcome.text();
    }
}
