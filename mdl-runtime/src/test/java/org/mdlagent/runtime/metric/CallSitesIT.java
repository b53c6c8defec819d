package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;
import org.mdlagent.runtime.SessionWords;

/// Metrics whose points are call sites.
class CallSitesIT {
    private static final String WHOLE = "-fpatchable-function-entry=5";
    private static final String HOOKS = "-finstrument-functions";

    /// What Lua works on.
    private static final int LINES = 50;

    private static final int CHANGES = 50;
    private static final String ANSWER = "17780\tfalse\tcaught";

    @TempDir
    Path directory;

    private Path metrics;
    private Path session;
    private Process process;
    private BufferedReader output;

    @BeforeEach
    void writeMetrics() throws Exception {
        session = directory.resolve("session");
        metrics = Files.writeString(directory.resolve("calls.mdl"), """
                metric calls_made {
                    name "Calls made"; units calls; unitsType unnormalized; aggregateOperator sum;
                    constraint ofProcedure /Code/* is replace counter {
                        foreach callsite in $constraint[0].calls {
                            append preInsn callsite (* ofProcedure++; *)
                        }
                    }
                    base is counter {
                        foreach func in $procedures {
                            foreach callsite in func.calls {
                                append preInsn callsite (* calls_made++; *)
                            }
                        }
                    }
                }
                list passing is procedure { items { "twice" }; }
                metric passed {
                    name "Passed"; units numbers; unitsType unnormalized; aggregateOperator sum;
                    base is counter {
                        foreach func in passing {
                            foreach callsite in func.calls {
                                if (callsite.name == "work") {
                                    append preInsn callsite (* passed += $arg[0]; *)
                                }
                            }
                        }
                    }
                }
                metric returned {
                    name "Returned"; units numbers; unitsType unnormalized; aggregateOperator sum;
                    base is counter {
                        foreach func in passing {
                            append postInsn func.calls (* returned += $return; *)
                        }
                    }
                }
                metric waited {
                    name "Waited"; units seconds; unitsType unnormalized; aggregateOperator sum;
                    constraint byProcedure /Code/* is replace wallTimer {
                        append preInsn $constraint[0].calls (* startWallTimer(byProcedure); *)
                        prepend postInsn $constraint[0].calls (* stopWallTimer(byProcedure); *)
                    }
                    base is void {}
                }
                """);
    }

    @AfterEach
    void end() throws Exception {
        if (process != null) {
            process.destroyForcibly().waitFor();
        }
    }

    private void start(String probes) throws Exception {
        Path library = Dist.compile(directory, "callee", "-shared", "-fPIC", probes);
        Path program = Dist.compile(directory, "calls", probes, "-Wl,--no-as-needed", library.toString());
        process = Dist.start(List.of(program.toString()), "wait,mdl=" + metrics + ",session=" + session);
        output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
    }

    private void begin(int times) throws Exception {
        process.outputWriter().write(times + "\n");
        process.outputWriter().flush();
    }

    private void call(int times) throws Exception {
        begin(times);
        assertThat(output.readLine()).isEqualTo("done");
    }

    private Map<String, Double> values() throws Exception {
        Map<String, Double> values = new HashMap<>();
        for (JsonNode metric : Dist.report(directory, session).get("metrics")) {
            String path = metric.get("focus").path(0).asText();
            values.put(
                    metric.get("name").asText() + "@" + path.substring(path.lastIndexOf('/') + 1),
                    metric.get("value").asDouble());
        }
        return values;
    }

    @ParameterizedTest
    @ValueSource(strings = {WHOLE, HOOKS})
    void shouldCountTheCallsThatAFunctionMakes(String probes) throws Exception {
        start(probes);
        for (String function : List.of("twice", "once", "imported", "again", "main")) {
            assertThat(Dist.ask(session, "metric enable calls_made@/Code/calls.c/" + function))
                    .startsWith("ok\n1\t");
        }

        call(100);

        assertThat(values())
                .containsEntry("calls_made@twice", 200.0)
                .containsEntry("calls_made@once", 100.0)
                .containsEntry("calls_made@imported", 100.0)
                .containsEntry("calls_made@again", 600.0)
                .containsEntry("calls_made@main", 700.0);
    }

    @Test
    void shouldNameTheCallsThatNoProbeSees() throws Exception {
        start(WHOLE);

        assertThat(Dist.ask(session, "metric enable calls_made@/Code/calls.c/by_pointer"))
                .isEqualTo("error metric calls_made: the call of a function in /Code/calls.c/by_pointer:"
                        + " its target is known only when it runs\n");
        assertThat(Dist.ask(session, "metric enable calls_made@/Code/calls.c/absolute"))
                .isEqualTo(
                        "error metric calls_made: the call of strtol in /Code/calls.c/absolute: no probe of the callee is known\n");
        assertThat(Dist.ask(session, "metric enable calls_made@/Code/calls.c/last"))
                .isEqualTo("error metric calls_made: the call of work in /Code/calls.c/last:"
                        + " it is a tail jump: the callee does not return to this function\n");
        assertThat(Dist.ask(session, "metric enable calls_made"))
                .startsWith("ok\n1\t13\t")
                .contains("the call of strtol in /Code/calls.c/absolute: no probe of the callee is known\n")
                .contains("the call of puts in /Code/calls.c/main: no probe of the callee is known\n");

        call(100);
        assertThat(values()).containsEntry("calls_made@", 1700.0);
        assertThat(Dist.ask(session, "metric points 0"))
                .contains("calls_made\tappend\tbefore call of work\t/Code/calls.c/twice+0x")
                .contains("calls_made\tappend\tbefore call of from_library\t/Code/calls.c/imported+0x");
    }

    @Test
    void shouldKnowArgumentsAndResultsOfTheCall() throws Exception {
        start(WHOLE);
        assertThat(Dist.ask(session, "metric enable passed")).isEqualTo("ok\n1\t2\t0\n");
        assertThat(Dist.ask(session, "metric enable returned")).isEqualTo("ok\n1\t2\t0\n");

        call(100);

        // i and i + 1, of which the callee returns the double
        assertThat(values()).containsEntry("passed@", 10_000.0).containsEntry("returned@", 20_000.0);
    }

    @Test
    void shouldCountExactlyWhileOthersComeAndGo() throws Exception {
        start(WHOLE);
        assertThat(Dist.ask(session, "metric force calls_made@/Code/calls.c/again"))
                .startsWith("ok\n1\t2\t");
        int times = 100_000;

        begin(times);
        int rounds = 1;
        for (int i = 0; i < CHANGES; i++) {
            if (output.ready()) {
                assertThat(output.readLine()).isEqualTo("done");
                begin(times);
                rounds++;
            }
            assertThat(Dist.ask(session, "metric force waited@/Code/calls.c/twice"))
                    .startsWith("ok\n1\t4\t");
            assertThat(Dist.ask(session, "metric force calls_made")).startsWith("ok\n1\t13\t");
            assertThat(Dist.ask(session, "metric disable calls_made")).isEqualTo("ok\n1\n");
            assertThat(Dist.ask(session, "metric disable waited@/Code/calls.c/twice"))
                    .isEqualTo("ok\n1\n");
        }

        assertThat(output.readLine()).isEqualTo("done");
        assertThat(values()).containsEntry("calls_made@again", 6.0 * times * rounds);
    }

    /// A call that is on its way when the timer comes is not measured, and what begins is measured to its end.
    @Tag("timing")
    @Test
    void shouldTimeCallsFromBeforeToAfter() throws Exception {
        start(WHOLE);
        begin(50_000_000);
        assertThat(Dist.ask(session, "metric force waited@/Code/calls.c/main")).startsWith("ok\n1\t14\t");
        long from = System.nanoTime();
        Thread.sleep(300);
        double early = values().get("waited@main");
        Thread.sleep(300);
        double late = values().get("waited@main");
        double elapsed = (System.nanoTime() - from) / 1e9;

        assertThat(early).isPositive();
        assertThat(late - early).isBetween(0.03, elapsed);
    }

    /// Hooks that look at the code in front of the return address count the same, whatever else comes and goes
    /// meanwhile.
    @ParameterizedTest
    @ValueSource(strings = {WHOLE, HOOKS})
    void shouldCountTheCallsOfEachFunctionOfLua(String probes) throws Exception {
        Path script = Files.writeString(directory.resolve("work.lua"), """
                for line in io.lines() do
                  local t = {}
                  for i = 1, 500 do t[#t + 1] = string.format("%d:%s", i, line:rep(i % 17)) end
                  table.sort(t)
                  print(#table.concat(t), pcall(error, "caught"))
                  io.stdout:flush()
                end
                """);
        List<String> measured =
                new ArrayList<>(List.of(Dist.mdl(), "run", "--wait", "--no-profile", "-o", session.toString()));
        measured.addAll(List.of("--mdl=" + metrics, "--metric=calls_made@/Code/*/lua*", "--"));
        measured.addAll(List.of(Dist.debian("lua5.4", Dist.PLAIN_CALLS + probes).toString(), script.toString()));
        ProcessBuilder builder = new ProcessBuilder(measured)
                .redirectError(directory.resolve("err").toFile());
        builder.environment().put("XDG_STATE_HOME", directory.resolve("state").toString());
        process = builder.start();
        output = process.inputReader();
        work();
        assertThat(output.readLine()).isEqualTo(ANSWER);
        for (int i = 1; i < LINES; i++) {
            work();
            assertThat(Dist.ask(session, "metric force waited@/Code/*/luaH*")).startsWith("ok\n");
            assertThat(Dist.ask(session, "metric disable waited*")).startsWith("ok\n");
            assertThat(output.readLine()).isEqualTo(ANSWER);
        }
        process.outputWriter().close();
        assertThat(process.waitFor()).isZero();
        Map<String, Double> found = values();

        // Of a function that may have arguments on the stack no probe knows where its calls return to.
        Set<String> unseen = SessionWords.of(session.resolve("session.mdl")).countedOnly();
        Map<String, Long> expected = directCalls(
                List.of(Dist.debian("lua5.4", Dist.PLAIN_CALLS + HOOKS).toString(), script.toString()), unseen);

        int compared = 0;
        for (Map.Entry<String, Double> metric : found.entrySet()) {
            String function = metric.getKey().substring(metric.getKey().indexOf('@') + 1);
            assertThat(metric.getValue())
                    .as(function)
                    .isEqualTo(expected.getOrDefault(function, 0L).doubleValue());
            compared += expected.containsKey(function) ? 1 : 0;
        }
        System.out.printf("%d functions, %d of them call%n", found.size(), compared);
        assertThat(compared).isGreaterThan(100);
    }

    private void work() throws Exception {
        process.outputWriter().write("line\n");
        process.outputWriter().flush();
    }

    /// By function, how often its direct calls of functions with hooks have been made.
    ///
    /// @param except functions whose calls are left out
    private Map<String, Long> directCalls(List<String> command, Set<String> except) throws Exception {
        Path hooks = Dist.compile(directory, "site_hooks", "-shared", "-fPIC");
        Path counts = directory.resolve("sites");
        Map<String, String> environment = Map.of("LD_PRELOAD", hooks.toString(), "COUNTS", counts.toString());
        Path lines = Files.writeString(directory.resolve("lines"), "line\n".repeat(LINES));
        assertThat(Dist.run(directory, environment, lines, command).status()).isZero();
        TreeMap<Long, String> names = new TreeMap<>(Dist.functionNames(directory, command.getFirst()));
        Map<String, Long> calls = new HashMap<>();
        for (String line : Files.readAllLines(counts)) {
            String[] fields = line.split(" ");
            String caller = names.floorEntry(Long.parseLong(fields[0], 16) - 1).getValue();
            String callee = names.floorEntry(Long.parseLong(fields[1], 16)).getValue();
            if (!except.contains(callee)) {
                calls.merge(caller.split("\\.")[0], Long.parseLong(fields[2]), Long::sum);
            }
        }
        return calls;
    }
}
