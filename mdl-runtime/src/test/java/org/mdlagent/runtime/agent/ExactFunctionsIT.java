package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// With `--exact=GLOB` every call of some functions is recorded, while the others are sampled.
class ExactFunctionsIT {
    private static final int SECONDS = 8;

    @TempDir
    Path directory;

    private Path session() {
        return directory.resolve("session");
    }

    private List<String> exactly(List<String> globs, List<String> command) {
        List<String> all = new ArrayList<>(List.of(
                Dist.mdl(), "run", "--wait", "--sliced=*", "-o", session().toString()));
        globs.forEach(glob -> all.add("--exact=" + glob));
        all.add("--");
        all.addAll(command);
        return all;
    }

    /// Every fourth function of sqlite3 is inlined somewhere, and sites are shared by exact and sampled ones.
    @Test
    void shouldCountEveryCallOfChosenFunctionsOfSqlite() throws Exception {
        Path script = Dist.sqliteWork(directory, 200_000, 100_000);
        List<String> command = List.of(Dist.debian("sqlite3").toString(), ":memory:");
        Dist.Outcome alone = Dist.run(directory, Map.of(), script, command);

        Dist.Outcome under =
                Dist.run(directory, Map.of(), script, exactly(List.of("sqlite3Btree*", "*Serial*"), command));

        assertThat(under.text()).isEqualTo(alone.text()).isNotEmpty();
        assertThat(under.err()).isEmpty();
        JsonNode report = Dist.report(directory, session());
        Map<String, Long> independent = Dist.countIndependently(directory, Map.of(), script, command);
        independent.keySet().removeIf(name -> !name.startsWith("sqlite3Btree") && !name.contains("Serial"));
        assertThat(independent).hasSizeGreaterThan(20);
        assertThat(exactCalls(report)).containsExactlyInAnyOrderEntriesOf(independent);
        assertThat(report.get("dropped").asLong()).isZero();
    }

    /// Also calls that end by `longjmp`.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "-finstrument-functions",
                // Else recursion becomes a loop.
                "-fpatchable-function-entry=5 -fno-optimize-sibling-calls"
            })
    void shouldCountRecursionSiblingsLongjmpAndThreads(String flags) throws Exception {
        Path program = Dist.compile(directory, "threads", flags.split(" "));

        Dist.Outcome run = Dist.run(
                directory,
                Map.of(),
                exactly(List.of("leaf", "recurse", "jumps", "catches"), List.of(program.toString())));

        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        Map<String, Long> expected = ExactCountsIT.printed(run.text());
        expected.keySet().removeAll(List.of("sibling", "body", "main"));
        JsonNode report = Dist.report(directory, session());
        assertThat(exactCalls(report)).containsExactlyInAnyOrderEntriesOf(expected);
        for (String returns : List.of("leaf", "recurse", "catches")) {
            assertThat(Dist.function(report, returns).get("sampled").asLong()).isEqualTo(expected.get(returns));
        }
        assertThat(Dist.function(report, "sibling").get("exact").asBoolean()).isFalse();
    }

    /// The slices of the others open and close a hundred times a second, and somebody switches one by hand.
    @ParameterizedTest
    @ValueSource(strings = {"-finstrument-functions", "-fpatchable-function-entry=5"})
    void shouldCountEveryCallWhileProbesAreSwitchedAndThreadsComeAndGo(String flags) throws Exception {
        Path program = Dist.compile(directory, "churn", flags);
        ProcessBuilder builder =
                new ProcessBuilder(program.toString(), "10000").redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment()
                .putAll(Dist.preload("wait,budgetPercent=100,sliced=*,exact=work,exact=leaf,session=" + session()));
        Process process = builder.start();
        BufferedReader output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
        do {
            assertThat(Dist.ask(session(), "probes off leaf")).isEqualTo("ok\n1 function off\n");
            assertThat(Dist.ask(session(), "probes on leaf")).isEqualTo("ok\n1 function on\n");
        } while (!output.ready());
        long calls = Long.parseLong(output.readLine());
        process.outputWriter().close();
        assertThat(process.waitFor()).isZero();

        Map<String, Long> counted = exactCalls(Dist.report(directory, session()));
        assertThat(counted).containsEntry("work", calls);
        assertThat(counted.get("leaf")).isBetween(1L, 2 * calls);
    }

    /// Slices rest for longer than probes stay on by themselves.
    @Test
    void shouldCountEveryCallWhileNothingIsLeftForTheOthers() throws Exception {
        Path program = Dist.compile(directory, "awakes", "-fpatchable-function-entry=5");

        Dist.Outcome run = Dist.run(
                directory,
                Dist.preload("wait,budgetPercent=0.01,exact=f_0*,session=" + session()),
                List.of(program.toString(), Integer.toString(SECONDS)));

        Map<String, Long> truths = ExactCountsIT.printed(run.text());
        truths.keySet().removeIf(name -> !name.startsWith("f_0"));
        assertThat(truths).hasSize(64);
        assertThat(exactCalls(Dist.report(directory, session()))).containsExactlyInAnyOrderEntriesOf(truths);
    }

    @Tag("timing")
    @Test
    void shouldKnowWhoCallsThem() throws Exception {
        Path script = Dist.sqliteWork(directory, 200_000, 100_000);
        List<String> command = List.of(Dist.debian("sqlite3").toString(), ":memory:");

        Dist.run(directory, Map.of(), script, exactly(List.of("sqlite3BtreeInsert"), command));

        JsonNode insert = Dist.function(Dist.report(directory, session()), "sqlite3BtreeInsert");
        assertThat(insert.get("callers")).hasSize(1);
        assertThat(insert.at("/callers/0/name").asText()).isEqualTo("sqlite3VdbeExec");
        assertThat(insert.at("/callers/0/calls").asLong())
                .isEqualTo(insert.get("calls").asLong());
    }

    @Test
    void shouldSayThatNoFunctionIsMeant() throws Exception {
        Path program = Dist.compile(directory, "threads", "-finstrument-functions");

        Dist.Outcome run = Dist.run(directory, Map.of(), exactly(List.of("no_such_*"), List.of(program.toString())));

        assertThat(run.status()).isZero();
        assertThat(run.err()).contains("--exact=no_such_*: no function with probes matches");
    }

    @Tag("timing")
    @Test
    void shouldGoOnSamplingTheOthersWhenTheBudgetIsExceeded() throws Exception {
        Path script = Files.writeString(directory.resolve("work.lua"), """
                local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
                local t = {}
                for i = 1, 3000000 do t["k" .. i % 1000] = ("%d"):format(i) end
                print(fib(27))
                """);
        List<String> command = List.of(Dist.debian("lua5.4").toString(), script.toString());

        Dist.run(directory, Map.of(), exactly(List.of("no_such_*", "luaH_*", "luaS_*"), command));

        JsonNode report = Dist.report(directory, session());
        assertThat(report.at("/overhead/everyCallPercent").asDouble()).isGreaterThan(1);
        assertThat(Dist.function(report, "luaV_execute").get("sampled").asLong())
                .isPositive();
        assertThat(Files.readString(session().resolve("agent.log")))
                .contains("cost more than the budget of 1.0 %")
                .contains("exact=no_such_*: no function");
        Dist.Outcome table = Dist.run(
                directory, Map.of(), List.of(Dist.mdl(), "report", session().toString()));
        assertThat(table.text()).contains(": over the budget").contains("mdl: recording every call of functions costs");
    }

    /// By symbol, the calls of the functions that are recorded exactly.
    private static Map<String, Long> exactCalls(JsonNode report) {
        Map<String, Long> calls = new TreeMap<>();
        for (JsonNode function : report.get("functions")) {
            if (function.get("exact").asBoolean() && function.get("calls").asLong() > 0) {
                assertThat(function.get("callsExact").asBoolean()).isTrue();
                calls.merge(
                        function.get("symbol").asText(), function.get("calls").asLong(), Long::sum);
            }
        }
        return calls;
    }
}
