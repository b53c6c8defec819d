package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// Timers of metrics measure what the program measures itself.
class TimersIT {
    private static final String FUNCTION = "@/Code/timers.c/";

    /// What a busy machine may put between two readings of a clock.
    private static final Offset<Double> TOLERANCE = within(0.03);

    @TempDir
    Path directory;

    private Path session;
    private Process process;
    private BufferedReader output;

    @BeforeEach
    void start() throws Exception {
        Path metrics = Files.writeString(directory.resolve("timers.mdl"), """
                list waiters is procedure { items { "waiting" }; }
                metric waited {
                    name "Waited"; units seconds; unitsType unnormalized; aggregateOperator sum;
                    constraint procedureConstraint;
                    base is wallTimer {
                        foreach func in waiters {
                            append preInsn func.entry constrained (* startWallTimer(waited); *)
                            prepend preInsn func.return (* stopWallTimer(waited); *)
                        }
                    }
                }
                metric spent {
                    name "Spent"; units seconds; unitsType unnormalized; aggregateOperator sum;
                    constraint ofProcedure /Code/* is replace processTimer {
                        append preInsn $constraint[0].entry (* startProcessTimer(ofProcedure); *)
                        prepend preInsn $constraint[0].return (* stopProcessTimer(ofProcedure); *)
                    }
                    base is void {}
                }
                metric own {
                    name "Own"; units seconds; unitsType unnormalized; aggregateOperator sum;
                    constraint ownOfProcedure /Code/* is replace processTimer {
                        prepend preInsn $constraint[0].entry (* startProcessTimer(ownOfProcedure); *)
                        append preInsn $constraint[0].return (* stopProcessTimer(ownOfProcedure); *)
                        append preInsn $constraint[0].calls (* stopProcessTimer(ownOfProcedure); *)
                        prepend postInsn $constraint[0].calls (* startProcessTimer(ownOfProcedure); *)
                    }
                    base is void {}
                }
                """);
        Path program = Dist.compile(directory, "timers", "-fpatchable-function-entry=5");
        session = directory.resolve("session");
        process = Dist.start(List.of(program.toString()), "wait,mdl=" + metrics + ",session=" + session);
        output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
    }

    @AfterEach
    void end() throws Exception {
        process.destroyForcibly().waitFor();
    }

    private void enable(String request, int metrics) throws Exception {
        assertThat(Dist.ask(session, "metric force " + request)).startsWith("ok\n" + metrics + "\t");
    }

    private void begin(String command) throws Exception {
        process.outputWriter().write(command + "\n");
        process.outputWriter().flush();
    }

    /// The seconds that the program has measured.
    private double[] measured() throws Exception {
        return Arrays.stream(output.readLine().split(" "))
                .mapToDouble(Double::parseDouble)
                .toArray();
    }

    private double value(String request) throws Exception {
        for (JsonNode metric : Dist.report(directory, session).get("metrics")) {
            if ((metric.get("name").asText() + "@" + metric.get("focus").path(0).asText()).equals(request)) {
                return metric.get("value").asDouble();
            }
        }
        throw new AssertionError(request + " is not there");
    }

    @Tag("timing")
    @Test
    void shouldEndWithTheThreadThatEndsInTheFunction() throws Exception {
        enable("exec_time" + FUNCTION + "ending", 1);
        enable("spent" + FUNCTION + "ending", 1);
        enable("own" + FUNCTION + "ending", 1);

        begin("thread");
        double[] measured = measured();

        double elapsed = value("exec_time" + FUNCTION + "ending");
        double spent = value("spent" + FUNCTION + "ending");
        assertThat(elapsed).isCloseTo(measured[0], TOLERANCE);
        assertThat(spent).isCloseTo(measured[1], TOLERANCE);
        assertThat(value("own" + FUNCTION + "ending")).isPositive().isCloseTo(0, TOLERANCE);
        begin("wait");
        assertThat(output.readLine()).isEqualTo("waiting");
        assertThat(measured()[0]).isGreaterThan(0.4);
        // The frequency of the time-stamp counter is known better every second.
        assertThat(value("exec_time" + FUNCTION + "ending")).isCloseTo(elapsed, within(0.001));
        assertThat(value("spent" + FUNCTION + "ending")).isCloseTo(spent, within(0.001));
    }

    @Test
    void shouldRefuseWhatCountsFromWhenMainBegins() throws Exception {
        for (String metric : List.of("cpu", "cpu_inclusive", "exec_time", "active_processes")) {
            assertThat(Dist.ask(session, "metric enable " + metric))
                    .startsWith("error " + metric + " starts with main");
        }
        enable("cpu" + FUNCTION + "waiting", 1);
    }

    /// The first has waited for the agent, the second has not.
    @Test
    void shouldMeasureFromWhenMainBeginsOrNotAtAll() throws Exception {
        for (boolean waits : List.of(true, false)) {
            Path other = directory.resolve("other-" + waits);
            Process begun = Dist.start(
                    List.of(directory.resolve("timers").toString()),
                    (waits ? "wait," : "") + "metric=active_processes,session=" + other);
            try {
                assertThat(begun.inputReader().readLine()).isEqualTo("ready");
                Path log = other.resolve("agent.log");
                Dist.await(
                        "the metric has been asked for",
                        () -> Files.exists(log) && Files.readString(log).contains("metric active_processes: "));
                if (!waits) {
                    Dist.await(
                            "it is given up", () -> Files.readString(log).contains("is not measured: main had begun"));
                }
                assertThat(Dist.metrics(directory, other))
                        .isEqualTo(waits ? Map.of("active_processes", 1.0) : Map.of());
            } finally {
                begun.destroyForcibly().waitFor();
            }
        }
    }

    @Tag("timing")
    @Test
    void shouldNotMeasureTheCallInWhichItWasEnabled() throws Exception {
        begin("wait");
        assertThat(output.readLine()).isEqualTo("waiting");
        enable("exec_time" + FUNCTION + "waiting", 1);
        assertThat(output.ready()).as("the call has ended").isFalse();
        double[] unseen = measured();

        assertThat(unseen[0]).isGreaterThan(0.4);
        assertThat(value("exec_time" + FUNCTION + "waiting")).isZero();
        begin("callers");
        double[] seen = measured();
        assertThat(value("exec_time" + FUNCTION + "waiting")).isCloseTo(seen[0] + seen[1], TOLERANCE);
    }

    /// In the child no timer runs, though its parent's did when it was forked.
    @Tag("timing")
    @Test
    void shouldGoOnInTheParentAndBeginAnewInTheChild() throws Exception {
        enable("exec_time" + FUNCTION + "forking", 1);
        enable("exec_time" + FUNCTION + "one", 1);

        begin("fork");
        double[] measured = measured();

        assertThat(value("exec_time" + FUNCTION + "forking")).isCloseTo(measured[0], TOLERANCE);
        assertThat(value("exec_time" + FUNCTION + "one")).isCloseTo(0.1, TOLERANCE);
        begin("callers");
        measured = measured();
        assertThat(value("exec_time" + FUNCTION + "one")).isCloseTo(0.1 + measured[0], TOLERANCE);
    }

    @Test
    void shouldCountWhatParentAndChildCall() throws Exception {
        enable("procedure_calls" + FUNCTION + "one", 1);
        enable("procedure_calls" + FUNCTION + "forking", 1);
        enable("waited" + FUNCTION + "*o*", 4);

        begin("fork");
        measured();

        assertThat(value("procedure_calls" + FUNCTION + "one")).isEqualTo(1);
        assertThat(value("procedure_calls" + FUNCTION + "forking")).isEqualTo(1);
        assertThat(value("waited" + FUNCTION + "one")).isPositive();
        assertThat(value("waited" + FUNCTION + "two")).isZero();
        assertThat(value("waited" + FUNCTION + "working")).isZero();
    }

    /// The callers' flags are in one set, and their timers side by side.
    @Tag("timing")
    @Test
    void shouldMeasureForEachCallerAtOnce() throws Exception {
        enable("waited" + FUNCTION + "*o*", 4);
        begin("callers");
        double[] measured = measured();

        assertThat(value("waited" + FUNCTION + "one")).isCloseTo(measured[0], TOLERANCE);
        assertThat(value("waited" + FUNCTION + "two")).isCloseTo(measured[1], TOLERANCE);
        assertThat(value("waited" + FUNCTION + "working")).isZero();
        assertThat(value("waited" + FUNCTION + "forking")).isZero();
    }
}
