package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// Snippets call functions of the program and of libc. The program counts the calls itself, and looks whether its
/// threads have lost anything.
class CalledFunctionsIT {
    private static final Path METRICS = Path.of("src/test/resources/org/mdlagent/runtime/mdl/compile/calls.mdl")
            .toAbsolutePath();
    private static final int THREADS = 3;

    /// A multiple of 4: a thread deposits 0, 1, 2, 3 and again.
    private static final int TIMES = 10_000;

    private static final int CHANGES = 300;

    @TempDir
    Path directory;

    private Process process;
    private BufferedReader output;
    private Path session;

    /// What the program says after each line.
    private record Said(boolean intact, long audits, long audited, long words, long checks) {
        static Said of(String line) {
            String[] words = line.split(" ");
            return new Said(
                    words[0].equals("intact"),
                    Long.parseLong(words[1]),
                    Long.parseLong(words[2]),
                    Long.parseLong(words[3]),
                    Long.parseLong(words[4]));
        }
    }

    private void start(String probes) throws Exception {
        start(Dist.compile(directory, "called", "-pthread", "-O2", probes), METRICS);
    }

    private void start(Path program, Path metrics) throws Exception {
        start(List.of(program.toString()), metrics);
        assertThat(output.readLine()).isEqualTo("ready");
    }

    private void start(List<String> command, Path metrics) throws Exception {
        session = directory.resolve("session");
        process = Dist.start(command, "wait,mdl=" + metrics + ",session=" + session);
        output = process.inputReader();
    }

    @AfterEach
    void end() throws Exception {
        if (process != null) {
            process.destroyForcibly().waitFor();
        }
    }

    private Said deposit(int times) throws Exception {
        begin(times);
        return Said.of(output.readLine());
    }

    private void begin(int times) throws Exception {
        process.outputWriter().write(times + "\n");
        process.outputWriter().flush();
    }

    private void enable(String... metrics) throws Exception {
        for (String metric : metrics) {
            assertThat(Dist.ask(session, "metric force " + metric)).startsWith("ok\n1\t");
        }
    }

    private JsonNode metric(String name) throws Exception {
        for (JsonNode metric : Dist.report(directory, session).get("metrics")) {
            if (metric.get("name").asText().equals(name)) {
                return metric;
            }
        }
        throw new AssertionError(name + " is not enabled");
    }

    private long value(String name) throws Exception {
        return metric(name).get("value").asLong();
    }

    @Test
    void shouldAddWhatFunctionsReturn() throws Exception {
        start("-fpatchable-function-entry=5");
        enable("audited", "lengths", "returned");

        Said said = deposit(TIMES);

        long calls = (long) THREADS * TIMES;
        long deposited = calls / 4 * 6;
        long odd =
                balances().filter(balance -> balance % 2 == 1 && balance > 1000).count() * THREADS;
        long sum = balances().sum() * THREADS;
        assertThat(said).isEqualTo(new Said(true, 3 * calls, deposited + 3 * calls + sum, 8 * calls, 3 * calls + 1));
        assertThat(value("audited")).isEqualTo(2 * deposited);
        assertThat(value("lengths")).isEqualTo((4 + 6) * calls);
        assertThat(value("returned")).isEqualTo(odd);
    }

    /// After each of a thread's deposits.
    private static LongStream balances() {
        return LongStream.range(0, TIMES).map(i -> i / 4 * 6 + (i & 3) * ((i & 3) + 1) / 2);
    }

    @Test
    void shouldKeepResultsInAllKindsOfRegisters() throws Exception {
        start("-fpatchable-function-entry=5");
        enable("results");

        Said said = deposit(TIMES);

        long calls = 2L * THREADS * TIMES;
        assertThat(said).isEqualTo(new Said(true, 2 * calls, 2 * calls, 4 * 2 * calls, 2 * calls + 1));
        assertThat(value("results")).isEqualTo(calls);
    }

    @Test
    void shouldCallFromHooksToo() throws Exception {
        start("-finstrument-functions");
        enable("results", "checked");

        Said said = deposit(TIMES);

        long calls = 2L * THREADS * TIMES;
        assertThat(said).isEqualTo(new Said(true, 2 * calls + 1, 2 * calls, 4 * 2 * calls + 5, 2 * calls + 2));
    }

    /// `check` is called by `audit`, which is called at the entry of `check`.
    @Test
    void shouldNotCallFromAFunctionThatIsCalled() throws Exception {
        start("-fpatchable-function-entry=5");
        enable("checked", "audited");

        Said said = deposit(TIMES);

        long calls = (long) THREADS * TIMES;
        assertThat(said.intact).isTrue();
        assertThat(said.audits).isEqualTo(calls + 1);
        assertThat(said.checks).isEqualTo(calls + 2);
        assertThat(value("checked")).isEqualTo(calls + 2);
        assertThat(metric("checked").get("errors").asLong()).isEqualTo(calls + 1);
    }

    /// As if the function had thrown that has the probe; from then on the thread calls again.
    @ParameterizedTest
    @ValueSource(strings = {"entered", "left"})
    void shouldLetExceptionsPass(String metric) throws Exception {
        Path sources = Path.of("src/test/c").toAbsolutePath();
        Path program = directory.resolve("thrown");
        List<String> compiler =
                List.of("g++", "-O2", "-fpatchable-function-entry=5", "-o", program.toString(), sources + "/thrown.cc");
        assertThat(Dist.run(directory, Map.of(), compiler).status()).isZero();
        start(program, sources.resolve("thrown.mdl"));
        enable(metric);

        begin(TIMES);

        assertThat(output.readLine()).isEqualTo(TIMES + " " + TIMES / 10);
        assertThat(value(metric)).isEqualTo(TIMES - TIMES / 10);
    }

    @Test
    void shouldSayWhatCannotBeCalled() throws Exception {
        start("-fpatchable-function-entry=5");

        assertThat(Dist.ask(session, "metric force missing"))
                .contains("no_such_function: neither the program nor a library loaded at its start has this function")
                .contains("setjmp: neither");
    }

    @Test
    void shouldCallWhileMetricsComeAndGo() throws Exception {
        start("-fpatchable-function-entry=5");
        enable("audited");
        long before = deposit(4).audited();
        SplittableRandom random = new SplittableRandom(7);
        List<String> metrics = List.of("results", "checked", "lengths", "returned");
        Set<String> on = new HashSet<>();
        List<Said> said = new ArrayList<>();
        int deposits = 4;
        begin(40 * TIMES);
        for (int i = 0; i < CHANGES; i++) {
            String metric = metrics.get(random.nextInt(metrics.size()));
            String verb = on.remove(metric) ? "disable" : "force";
            assertThat(Dist.ask(session, "metric " + verb + " " + metric)).startsWith("ok\n1");
            if (verb.equals("force")) {
                on.add(metric);
            }
            if (output.ready()) {
                said.add(Said.of(output.readLine()));
                deposits += 40 * TIMES;
                begin(40 * TIMES);
            }
        }
        said.add(Said.of(output.readLine()));
        deposits += 40 * TIMES;

        assertThat(said).allMatch(Said::intact);
        assertThat(said.getLast().audited).isGreaterThan(before);
        assertThat(value("audited")).isEqualTo(2L * THREADS * deposits / 4 * 6);
    }

    /// Lua hashes a text with its own function wherever a script formats one, while another metric comes and goes.
    @Test
    void shouldCallFunctionsOfLuaWhileItRuns() throws Exception {
        Path metrics = Files.writeString(directory.resolve("lua.mdl"), """
                list formats is procedure { items { "str_format" }; }
                metric hashes {
                    name "Hashes"; units hashes; unitsType unnormalized; aggregateOperator sum;
                    base is counter {
                        foreach func in formats {
                            append preInsn func.entry (* hashes += Call("luaS_hash", "deposit", strlen("deposit"), 42); *)
                        }
                    }
                }
                metric lengths {
                    name "Lengths"; units bytes; unitsType unnormalized; aggregateOperator sum;
                    base is counter {
                        foreach func in formats {
                            append preInsn func.return (* lengths += strlen("four"); *)
                        }
                    }
                }
                """);
        Path script = Files.writeString(directory.resolve("format.lua"), """
                for line in io.lines() do
                  local t = {}
                  for i = 1, 20000 do t[i] = string.format("%d:%s", i, line) end
                  print(#table.concat(t))
                end
                """);
        Path lua = Dist.debian("lua5.4", Dist.PLAIN_CALLS + "-fpatchable-function-entry=5");
        start(List.of(lua.toString(), script.toString()), metrics);
        begin(1);
        String first = output.readLine();
        enable("hashes");

        int lines = 100;
        for (int i = 0; i < lines; i++) {
            begin(1);
            assertThat(Dist.ask(session, "metric " + (i % 2 == 0 ? "force" : "disable") + " lengths"))
                    .startsWith("ok\n1");
            assertThat(output.readLine()).isEqualTo(first);
        }

        assertThat(value("hashes")).isEqualTo(20_000L * lines * hash("deposit", 42));
    }

    /// What `lstring.c` says.
    private static long hash(String text, int seed) {
        int hash = seed ^ text.length();
        for (int i = text.length(); i > 0; i--) {
            hash ^= (hash << 5) + (hash >>> 2) + text.charAt(i - 1);
        }
        return Integer.toUnsignedLong(hash);
    }
}
