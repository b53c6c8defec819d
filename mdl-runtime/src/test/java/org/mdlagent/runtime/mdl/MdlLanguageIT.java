package org.mdlagent.runtime.mdl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

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

    /// Tags appear in a first round. In the second round each requested tag has its own count; the other tags
    /// have one count together.
    @ParameterizedTest
    @ValueSource(strings = {"direct", "hashed"})
    void shouldCountEachTagInAllThreadsAndTheOthersTogether(String index) throws Exception {
        int threads = 4;
        int tags = 120;
        Path metrics = Files.writeString(directory.resolve("tags.mdl"), """
                list senders is procedure { items { "deliver" }; }
                constraint tag /SyncObject/Tag is vector %s {
                    prepend preInsn senders[0].entry (* tag = $arg[1] / 7 == $constraint[0]; *)
                    append preInsn senders[0].return (* tag = 0; *)
                }
                metric delivered {
                    name "delivered"; units things; aggregateOperator sum; constraint tag;
                    base is counter { append preInsn senders[0].entry constrained (* delivered++; *) }
                }
                """.formatted(index));
        Path session = directory.resolve("session");
        Path program = Dist.compile(directory, "deliver", "-fpatchable-function-entry=5");
        process = Dist.start(List.of(program.toString()), "wait,mdl=" + metrics + ",session=" + session);
        BufferedReader output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
        for (int tag = 1; tag <= tags; tag++) {
            assertThat(Dist.ask(session, "metric force delivered@/SyncObject/Tag/" + tag))
                    .startsWith("ok\n1\t3\t");
        }
        assertThat(Dist.ask(session, "metric force delivered@/SyncObject/Tag/(other)"))
                .startsWith("ok\n1\t3\t");

        process.outputWriter().write(threads + " " + 2 * tags + "\n");
        process.outputWriter().flush();

        assertThat(output.readLine()).isEqualTo("done");
        Map<String, Double> counted = counted(session);
        for (int tag = 1; tag <= tags; tag++) {
            assertThat(counted).containsEntry("/SyncObject/Tag/" + tag, threads * (tag % 10 + 1.0));
        }
        assertThat(counted)
                .hasSize(tags + 1)
                .containsEntry(
                        "/SyncObject/Tag/(other)",
                        IntStream.rangeClosed(tags + 1, 2 * tags)
                                .mapToDouble(tag -> threads * (tag % 10 + 1.0))
                                .sum());
        assertThat(Dist.ask(session, "metric disable delivered@/SyncObject/Tag/*"))
                .startsWith("ok\n" + (tags + 1));
    }

    private Map<String, Double> counted(Path session) throws Exception {
        Map<String, Double> counted = new HashMap<>();
        Dist.report(directory, session)
                .get("metrics")
                .forEach(metric -> counted.put(
                        metric.get("focus").get(0).asText(), metric.get("value").asDouble()));
        return counted;
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
