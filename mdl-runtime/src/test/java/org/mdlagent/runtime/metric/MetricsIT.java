package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// Metrics are asked of running programs, and count what the programs do.
class MetricsIT {
    private static final Path PAPER =
            Path.of("src/test/resources/org/mdlagent/runtime/mdl/ast/paper.mdl").toAbsolutePath();
    private static final String PATCHABLE_LUA = Dist.PLAIN_CALLS + "-fpatchable-function-entry=5";
    private static final int CHANGES = 30;
    private static final String FOO = "msgs@/Code/messages.c/foo";

    @TempDir
    Path directory;

    private Process process;
    private BufferedReader output;
    private Path session;

    private void start(String probes) throws Exception {
        start(probes, PAPER);
    }

    private void start(String probes, Path metrics) throws Exception {
        assertThat(startProgram("messages", metrics, probes)).isEqualTo("ready");
    }

    /// The first line that the program writes.
    private String startProgram(String name, Path metrics, String... flags) throws Exception {
        Path program = Dist.compile(directory, name, flags);
        session = directory.resolve("session");
        process = Dist.start(List.of(program.toString()), "wait,mdl=" + metrics + ",session=" + session);
        output = process.inputReader();
        return output.readLine();
    }

    @AfterEach
    void end() throws Exception {
        if (process != null) {
            process.destroyForcibly().waitFor();
        }
    }

    /// Calls foo, which sends two messages and receives one, and bar, which sends one, `times` times each.
    private void call(int times) throws Exception {
        begin(times);
        assertThat(output.readLine()).isEqualTo("done");
    }

    private void begin(int times) throws Exception {
        process.outputWriter().write(times + "\n");
        process.outputWriter().flush();
    }

    private String mdl(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(Dist.mdl()));
        command.addAll(List.of(arguments));
        Dist.Outcome outcome = Dist.run(directory, Map.of(), command);
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.status()).isZero();
        return outcome.text();
    }

    private double value(String request) throws Exception {
        return value(Dist.report(directory, session), request);
    }

    private static double value(JsonNode report, String request) {
        for (JsonNode metric : report.get("metrics")) {
            StringBuilder found = new StringBuilder(metric.get("name").asText());
            metric.get("focus").forEach(path -> found.append('@').append(path.asText()));
            if (found.toString().equals(request)) {
                return metric.get("value").asDouble();
            }
        }
        throw new AssertionError(request + " is not in " + report.get("metrics"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-fpatchable-function-entry=5", "-finstrument-functions"})
    void shouldCountMessagesAsTheExampleOfThePaperDoes(String probes) throws Exception {
        start(probes);

        assertThat(mdl("enable", session.toString(), FOO))
                .isEqualTo("msgs @ /Code/messages.c/foo: 4 points, expected overhead 0 %\n");
        assertThat(mdl("enable", session.toString(), "msgs"))
                .isEqualTo("msgs @ the whole program: 2 points, expected overhead 0 %\n");
        assertThat(mdl("list", "points", session.toString()).lines().map(line -> line.replaceAll(" +", " ")))
                .containsExactly(
                        "METRIC ORDER POINT FUNCTION ONLY WHILE",
                        FOO + " append entry /Code/messages.c/foo -",
                        FOO + " prepend return /Code/messages.c/foo -",
                        FOO + " append entry /Code/messages.c/pvm_send procedure",
                        FOO + " append entry /Code/messages.c/pvm_recv procedure",
                        "msgs append entry /Code/messages.c/pvm_send -",
                        "msgs append entry /Code/messages.c/pvm_recv -");
        call(100);
        assertThat(value(FOO)).isEqualTo(300);
        assertThat(value("msgs")).isEqualTo(400);

        assertThat(mdl("disable", session.toString(), FOO)).isEqualTo("msgs @ /Code/messages.c/foo: off\n");
        call(100);
        assertThat(value("msgs")).isEqualTo(800);

        process.destroyForcibly().waitFor();
        assertThat(value("msgs")).isEqualTo(800);
    }

    /// The flags of all are in one set, so the code at `pvm_send` tests them at once.
    @ParameterizedTest
    @ValueSource(strings = {"-fpatchable-function-entry=5", "-finstrument-functions"})
    void shouldCountForEachFunctionThatAPatternMeans(String probes) throws Exception {
        start(probes);

        assertThat(Dist.ask(session, "metric enable msgs@/Code/*/*"))
                .startsWith("ok\n4\t16\t")
                .contains("/Code/messages.c/main: msgs starts with main");
        call(100);
        assertThat(value("msgs@/Code/messages.c/foo")).isEqualTo(300);
        assertThat(value("msgs@/Code/messages.c/bar")).isEqualTo(100);
        assertThat(value("msgs@/Code/messages.c/pvm_send")).isEqualTo(300);
        assertThat(value("msgs@/Code/messages.c/pvm_recv")).isEqualTo(100);

        assertThat(Dist.ask(session, "metric disable " + FOO)).isEqualTo("ok\n1\n");
        call(100);
        assertThat(Dist.ask(session, "metric enable " + FOO)).startsWith("ok\n1\t4\t");
        call(100);
        assertThat(value(FOO)).isEqualTo(300);
        assertThat(value("msgs@/Code/messages.c/bar")).isEqualTo(300);
        assertThat(value("msgs@/Code/messages.c/pvm_recv")).isEqualTo(300);
    }

    /// How often memory was asked for while each function ran, compared with hooks that keep a stack.
    @Test
    void shouldCountForEachOfHundredsOfFunctionsOfLua() throws Exception {
        Path script = Files.writeString(directory.resolve("work.lua"), """
                local t = {}
                for i = 1, 2000 do t[#t + 1] = string.format("%d:%s", i, ("x"):rep(i % 17)) end
                print(#table.concat(t))
                """);
        Path metrics = Files.writeString(directory.resolve("allocations.mdl"), """
                list allocators is procedure { items { "l_alloc" }; }
                metric allocations {
                    name "Allocations"; units calls; unitsType unnormalized; aggregateOperator sum;
                    constraint procedureConstraint;
                    base is counter {
                        foreach func in allocators {
                            append preInsn func.entry constrained (* allocations++; *)
                        }
                    }
                }
                """);
        Path lua = Dist.debian("lua5.4", PATCHABLE_LUA);
        session = directory.resolve("session");
        List<String> measured =
                new ArrayList<>(List.of(Dist.mdl(), "run", "--wait", "--no-profile", "-o", session.toString()));
        measured.addAll(List.of("--mdl=" + metrics, "--metric=allocations@/Code/*/lua*", "--"));
        measured.addAll(List.of(lua.toString(), script.toString()));
        assertThat(Dist.run(directory, Map.of(), measured).status()).isZero();
        JsonNode report = Dist.report(directory, session);

        Map<String, Long> expected = countWhileRunning(
                "l_alloc",
                List.of(
                        Dist.debian("lua5.4", Dist.PLAIN_CALLS + "-finstrument-functions")
                                .toString(),
                        script.toString()));

        int compared = 0;
        for (JsonNode metric : report.get("metrics")) {
            String path = metric.get("focus").path(0).asText();
            String function = path.substring(path.lastIndexOf('/') + 1);
            assertThat(metric.get("value").asLong()).as(function).isEqualTo(expected.getOrDefault(function, 0L));
            compared += expected.containsKey(function) ? 1 : 0;
        }
        System.out.printf(
                "%d functions, %d of them allocate%n", report.get("metrics").size(), compared);
        assertThat(report.get("metrics").size()).isGreaterThan(300);
        assertThat(compared).isGreaterThan(50);
    }

    /// By function, how often `callee` has been called while it was running.
    private Map<String, Long> countWhileRunning(String callee, List<String> command) throws Exception {
        Map<Long, String> names = Dist.functionNames(directory, command.getFirst());
        long offset = names.entrySet().stream()
                .filter(name -> name.getValue().equals(callee))
                .findAny()
                .orElseThrow()
                .getKey();
        Path hooks = Dist.compile(directory, "running_hooks", "-shared", "-fPIC");
        Path counts = directory.resolve("running");
        Map<String, String> environment =
                Map.of("LD_PRELOAD", hooks.toString(), "COUNTS", counts.toString(), "CALLEE", Long.toHexString(offset));
        assertThat(Dist.run(directory, environment, command).status()).isZero();
        Map<String, Long> running = new HashMap<>();
        for (String line : Files.readAllLines(counts)) {
            String[] fields = line.split(" ");
            running.put(names.get(Long.parseLong(fields[0], 16)), Long.parseLong(fields[1]));
        }
        return running;
    }

    @Test
    void shouldCountExactlyWhileOthersComeAndGo() throws Exception {
        start("-fpatchable-function-entry=5");
        assertThat(Dist.ask(session, "metric enable msgs")).isEqualTo("ok\n1\t2\t0\n");
        assertThat(Dist.ask(session, "metric enable procedure_calls@/Code/*/ba?"))
                .isEqualTo("ok\n1\t1\t0\n");
        int times = 500_000;

        begin(times);
        int rounds = 1;
        for (int i = 0; i < CHANGES; i++) {
            if (output.ready()) {
                assertThat(output.readLine()).isEqualTo("done");
                begin(times);
                rounds++;
            }
            assertThat(Dist.ask(session, "metric force " + FOO)).startsWith("ok\n1\t4\t");
            assertThat(Dist.ask(session, "metric force exec_time@/Code/messages.c/foo"))
                    .startsWith("ok\n1\t2\t");
            assertThat(Dist.ask(session, "metric force msgs@/Code/*/*a*")).startsWith("ok\n1\t4\t");
            assertThat(Dist.ask(session, "metric disable " + FOO)).isEqualTo("ok\n1\n");
            assertThat(Dist.ask(session, "metric disable msgs@/Code/*/*a*")).isEqualTo("ok\n1\n");
            assertThat(Dist.ask(session, "metric disable exec_time*")).isEqualTo("ok\n1\n");
        }

        assertThat(output.readLine()).isEqualTo("done");
        assertThat(value("msgs")).isEqualTo(4.0 * times * rounds);
        assertThat(value("procedure_calls@/Code/messages.c/bar")).isEqualTo(1.0 * times * rounds);
    }

    @Tag("timing")
    @Test
    void shouldRefuseWhatWouldCostMuchUnlessForced() throws Exception {
        start("-fpatchable-function-entry=5");
        begin(20_000_000);
        String costly = "cpu_inclusive@/Code/messages.c/foo";
        String refusal = Dist.ask(session, "metric enable " + costly);
        while (!refusal.startsWith("error ")) { // as long as few calls are known
            assertThat(Dist.ask(session, "metric disable " + costly)).isEqualTo("ok\n1\n");
            refusal = Dist.ask(session, "metric enable " + costly);
        }

        assertThat(refusal)
                .matches(
                        "error cpu_inclusive@/Code/messages.c/foo would take some [0-9.]+ % of a processor, more than 10"
                                + " %: narrow it, or use --force\n");
        assertThat(mdl("list", "points", session.toString())).doesNotContain("cpu_inclusive");
        assertThat(mdl("enable", "--force", session.toString(), costly)).contains(": 2 points, expected overhead ");
    }

    @Test
    void shouldShowHowAMetricHasGone() throws Exception {
        start("-fpatchable-function-entry=5");
        mdl("enable", session.toString(), "msgs");
        call(100);
        Dist.await("its value", () -> lastOf(series()) == 400);
        call(100);
        Dist.await("its value", () -> lastOf(series()) == 800);

        JsonNode series = series();
        for (int i = 1; i < series.size(); i++) {
            assertThat(series.get(i).get(0).asDouble())
                    .isGreaterThan(series.get(i - 1).get(0).asDouble());
            assertThat(series.get(i).get(1).asDouble())
                    .isGreaterThanOrEqualTo(series.get(i - 1).get(1).asDouble());
        }
        assertThat(series)
                .anySatisfy(point -> assertThat(point.get(1).asDouble()).isEqualTo(400));
    }

    private JsonNode series() throws Exception {
        return Dist.report(directory, session).get("metrics").get(0).get("series");
    }

    private static double lastOf(JsonNode series) {
        return series.isEmpty() ? 0 : series.get(series.size() - 1).get(1).asDouble();
    }

    @Test
    void shouldTellTagsOfMessagesAndLocksApart() throws Exception {
        String second =
                startProgram("tags", PAPER, "-fpatchable-function-entry=5").split(" ")[2];
        List<String> requests = List.of(
                "messages_sent@/SyncObject/Message/5",
                "messages_sent@/SyncObject/Message/6",
                "messages_sent",
                "mutex_ops@/SyncObject/Mutex/" + second,
                "mutex_ops");
        for (String request : requests) {
            mdl("enable", session.toString(), request);
        }

        call(100);

        JsonNode report = Dist.report(directory, session);
        assertThat(requests.stream().map(request -> value(report, request)))
                .containsExactly(200.0, 100.0, 300.0, 200.0, 300.0);
    }

    @Test
    void shouldReadAGlobalVariable() throws Exception {
        start("-fpatchable-function-entry=5", Files.writeString(directory.resolve("global.mdl"), """
                list bars is procedure { items { "bar" }; }
                metric latest_seen {
                    name "Latest"; units numbers; unitsType sampled; aggregateOperator sum;
                    base is counter {
                        foreach func in bars {
                            append preInsn func.entry (* latest_seen = readSymbol("latest"); *)
                        }
                    }
                }
                """));
        mdl("enable", session.toString(), "latest_seen");

        call(100);

        assertThat(value("latest_seen")).isEqualTo(-99);
    }

    @Test
    void shouldReadMemoryByItsAddressAndNeverFault() throws Exception {
        start("-fpatchable-function-entry=5", Files.writeString(directory.resolve("memory.mdl"), """
                list bars is procedure { items { "bar" }; }
                metric second_seen {
                    name "Second"; units numbers; unitsType sampled; aggregateOperator sum;
                    base is counter {
                        foreach func in bars {
                            append preInsn func.entry (* second_seen = 1 + readAddress(&history + 8); *)
                        }
                    }
                }
                metric wild {
                    name "Wild"; units numbers; unitsType sampled; aggregateOperator sum;
                    base is counter {
                        foreach func in bars {
                            append preInsn func.entry (* wild = 7 + readAddress($arg[0] * 8); *)
                        }
                    }
                }
                """));
        mdl("enable", session.toString(), "second_seen", "wild");

        call(100);

        assertThat(value("second_seen")).isEqualTo(1 + 3 * 99);
        assertThat(value("wild")).isEqualTo(7);
        for (JsonNode metric : Dist.report(directory, session).get("metrics")) {
            boolean wild = metric.get("name").asText().equals("wild");
            assertThat(metric.path("errors").asLong()).isEqualTo(wild ? 100 : 0);
        }
    }

    @Test
    void shouldSayWhatIsWrongWithARequest() throws Exception {
        start("-fpatchable-function-entry=5");

        assertThat(failure("enable", session.toString(), "io_wiat"))
                .isEqualTo("mdl: no metric io_wiat; did you mean 'io_wait'?\n     mdl list metrics\n");
        assertThat(failure("enable", session.toString(), "msgs@/Code/message.c"))
                .contains("the program has no such module, did you mean 'messages.c'?");
        assertThat(failure("enable", session.toString(), "io_wait"))
                .contains("the program has none of the functions that it measures");
        assertThat(failure("disable", session.toString(), "msgs")).contains("msgs is not enabled");
        assertThat(failure("watch", session.toString(), "msgs")).contains("msgs is not enabled");
    }

    private String failure(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(Dist.mdl()));
        command.addAll(List.of(arguments));
        Dist.Outcome outcome = Dist.run(directory, Map.of(), command);
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.text()).doesNotContain("points");
        return outcome.err();
    }

    @Test
    void shouldWatchWithALineForEachLook() throws Exception {
        start("-fpatchable-function-entry=5");
        mdl("enable", session.toString(), "msgs", "call_rate@/Code/messages.c/foo");
        call(100);

        List<String> lines = mdl(
                        "watch",
                        "--count=2",
                        "--interval=0.2",
                        session.toString(),
                        "msgs",
                        "call_rate@/Code/messages.c/foo")
                .lines()
                .toList();

        assertThat(lines).hasSize(3);
        assertThat(lines.get(0)).contains("msgs (msgs)", "call_rate (callsPerSecond)  /Code/messages.c/foo");
        assertThat(lines.get(2)).matches(" \\d\\d:\\d\\d:\\d\\d +400  .* +0  .*");
    }

    @Test
    void shouldCountAFunctionInAllCopiesThatTheCompilerHasMade() throws Exception {
        Path metrics = Files.writeString(directory.resolve("scalers.mdl"), """
                list scalers is procedure { items { "scale" }; }
                metric scaled {
                    name "Scaled"; units calls; unitsType unnormalized; aggregateOperator sum;
                    base is counter {
                        foreach func in scalers {
                            append preInsn func.entry (* scaled++; *)
                        }
                    }
                }
                """);
        assertThat(startProgram("clones", metrics, "-O3", "-fpatchable-function-entry=5"))
                .isEqualTo("ready");
        String copies = "procedure_calls@/Code/clones.c/scale";
        String one = "procedure_calls@/Code/clones.c/scale.constprop.0";

        assertThat(mdl("enable", session.toString(), copies, one, "scaled"))
                .contains(
                        "/Code/clones.c/scale: 3 points",
                        "/Code/clones.c/scale.constprop.0: 1 point,",
                        "program: 3 points");
        assertThat(mdl("list", "points", session.toString()))
                .contains(
                        "/Code/clones.c/scale ",
                        "/Code/clones.c/scale.constprop.0 ",
                        "/Code/clones.c/scale.constprop.1 ");
        call(100);

        assertThat(value(copies)).isEqualTo(400);
        assertThat(value("scaled")).isEqualTo(400);
        assertThat(value(one)).isIn(100.0, 200.0);
    }

    /// The recorder counts and times the same calls by other means.
    @Test
    void shouldCountLuaAsTheRecorderDoes() throws Exception {
        Path script = Files.writeString(directory.resolve("work.lua"), """
                local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
                local t = {}
                for i = 1, 20000 do t[#t + 1] = string.format("%d:%s", i, ("x"):rep(i % 17)) end
                print(#table.concat(t), fib(22), pcall(error, "caught"))
                """);
        List<String> command = List.of(Dist.debian("lua5.4", PATCHABLE_LUA).toString(), script.toString());

        Dist.Outcome alone = Dist.run(directory, Map.of(), command);
        Dist.Outcome under = measure(command, "procedure_calls", "procedure_calls@/Code/lstring.c");

        assertThat(under.out()).isEqualTo(alone.out());
        assertThat(under.err()).isEqualTo(alone.err());
        JsonNode report = Dist.report(directory, session);
        assertThat(value(report, "procedure_calls")).isPositive().isEqualTo(calls(report, ""));
        assertThat(value(report, "procedure_calls@/Code/lstring.c"))
                .isGreaterThan(1000)
                .isEqualTo(calls(report, "lstring.c"));
    }

    @Tag("timing")
    @Test
    void shouldTimeLuaAsTheRecorderDoes() throws Exception {
        Path script = Files.writeString(directory.resolve("work.lua"), """
                local t = {}
                for i = 1, 20000 do t[#t + 1] = string.format("%d:%s", i, ("x"):rep(i % 17)) end
                """);

        measure(
                List.of(Dist.debian("lua5.4", PATCHABLE_LUA).toString(), script.toString()),
                "exec_time@/Code/lua.c/pmain");

        JsonNode report = Dist.report(directory, session);
        double nanos = Objects.requireNonNull(Dist.function(report, "pmain").get("totalNanos"))
                .asDouble();
        assertThat(value(report, "exec_time@/Code/lua.c/pmain") * 1e9).isCloseTo(nanos, within(nanos / 20));
    }

    /// Runs a command and records every call.
    private Dist.Outcome measure(List<String> command, String... metrics) throws Exception {
        session = directory.resolve("session");
        List<String> measured =
                new ArrayList<>(List.of(Dist.mdl(), "run", "--wait", "--exact", "-o", session.toString()));
        for (String metric : metrics) {
            measured.add("--metric=" + metric);
        }
        measured.add("--");
        measured.addAll(command);
        return Dist.run(directory, Map.of(), measured);
    }

    private static double calls(JsonNode report, String file) {
        double sum = 0;
        for (JsonNode function : report.get("functions")) {
            if (function.path("file").asText().endsWith(file)) {
                sum += function.get("calls").asLong();
            }
        }
        return sum;
    }
}
