package org.mdlagent.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.profiler.report.SessionReader;

/// Fifty metrics that come and go in random order while the program works: its output is what it was, the metrics that
/// stay count every call, and nothing is left behind.
///
/// `-Dmdl.storm.changes=1000` is the whole of it, `-Dmdl.storm.seed=S` another order.
class MetricStormIT {
    private static final int CHANGES = Integer.getInteger("mdl.storm.changes", 100);
    private static final long SEED = Long.getLong("mdl.storm.seed", 1);
    private static final int METRICS = 50;
    private static final List<String> OF_FUNCTIONS =
            List.of("procedure_calls", "exec_time", "cpu_inclusive", "call_rate");
    private static final int COUNTED = 4;
    private static final long PATIENCE_NANOS = 10_000_000_000L;

    /// Programs that work on each line of stdin, and answer with one.
    enum Program {
        SQLITE3(
                "sqlite3",
                "",
                "with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)"
                        + " select count(*), sum(length(hex(i * 7919 % 1009))) from n where i % 7 <> 3;"),
        LUA("lua5.4", """
                for line in io.lines() do
                  local t = {}
                  for i = 1, 1000 do t[#t + 1] = string.format("%d:%s", i, line:rep(i % 7)) end
                  print(#table.concat(t), pcall(error, line))
                end
                os.exit(0) -- at once: what closing calls depends on what is collected
                """, "again");

        private final String name;
        private final String script;
        private final String line;

        Program(String name, String script, String line) {
            this.name = name;
            this.script = script;
            this.line = line;
        }

        List<String> command(Path directory) throws Exception {
            Path file = Files.writeString(directory.resolve("script"), script);
            return List.of(Dist.debian(name).toString(), script.isEmpty() ? ":memory:" : file.toString());
        }
    }

    /// What of the session's memory metrics take up.
    private record Usage(long arena, long snippets, int values) {
        static Usage of(Path session) throws IOException {
            SessionWords words = SessionWords.of(SessionReader.locate(session));
            byte[] kinds = words.bytes(words.get(HeaderDescriptor.VALUE_KINDS), ValueDescriptor.COUNT);
            int taken = 0;
            for (byte kind : kinds) {
                taken += kind == ValueDescriptor.KIND_NONE ? 0 : 1;
            }
            return new Usage(words.get(HeaderDescriptor.ARENA_NEXT), words.get(HeaderDescriptor.SNIPPET_BYTES), taken);
        }
    }

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource
    void shouldCountExactlyAndLeaveNothingBehind(Program program) throws Exception {
        List<String> command = program.command(directory);
        Map<String, Long> hottest = Dist.countIndependently(directory, Map.of(), lines(program, 3), command);
        List<String> functions = hottest.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder()))
                .map(Map.Entry::getKey)
                .toList();
        Path session = directory.resolve("session");
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectError(directory.resolve("err").toFile());
        // The profiler would take up more of the session, too.
        builder.environment().putAll(Dist.preload("wait,profile=off,session=" + session));
        Process process = builder.start();
        List<String> answers = new ArrayList<>();
        AtomicBoolean ends = new AtomicBoolean();
        List<String> counted = new ArrayList<>();
        JsonNode report;
        try {
            // One line before: then each function of the program has shown at its probes.
            Worker worker = new Worker(process, program.line, answers);
            worker.work();
            awaitInput(process);
            for (String function : functions) {
                if (counted.size() < COUNTED && isEnabled(session, "procedure_calls@/Code/*/" + function)) {
                    counted.add(function);
                }
            }
            Thread load = Thread.ofPlatform().start(() -> worker.workUntil(ends));
            storm(session, wanted(session, functions, counted));
            ends.set(true);
            load.join();
            awaitInput(process);
            report = Dist.report(directory, session);
            worker.end();
            assertThat(process.waitFor()).isZero();
        } finally {
            process.destroyForcibly().waitFor();
        }

        Path input = lines(program, answers.size());
        assertThat(Dist.run(directory, Map.of(), input, command).text().lines()).containsExactlyElementsOf(answers);
        Map<String, Long> independent = Dist.countIndependently(directory, Map.of(), input, command);
        Map<String, Long> before = Dist.countIndependently(directory, Map.of(), lines(program, 1), command);
        for (String function : counted) {
            long expected = independent.get(function) - before.get(function);
            System.out.printf("%s: %,d calls of %s%n", program.name, expected, function);
            assertThat(value(report, function)).as(function).isEqualTo(expected);
        }
    }

    /// What it does for a line, it has done when it sleeps in wait for the next.
    private static void awaitInput(Process process) throws Exception {
        Path stat = Path.of("/proc/" + process.pid() + "/task/" + process.pid() + "/stat");
        while (!Files.readString(stat).contains(") S ")) {
            Thread.onSpinWait();
        }
    }

    private static double value(JsonNode report, String function) {
        for (JsonNode metric : report.get("metrics")) {
            if (metric.get("focus").path(0).asText().endsWith("/" + function)) {
                return metric.get("value").asDouble();
            }
        }
        throw new AssertionError(function + " is not in " + report.get("metrics"));
    }

    private Path lines(Program program, int count) throws IOException {
        return Files.writeString(directory.resolve("input"), (program.line + "\n").repeat(count));
    }

    private static boolean isEnabled(Path session, String request) throws IOException {
        return Dist.ask(session, "metric force " + request).startsWith("ok\n1\t");
    }

    /// Requests that come and go. Each has been there once: what it makes for good is there then.
    private static List<String> wanted(Path session, List<String> functions, List<String> counted) throws Exception {
        List<String> wanted = new ArrayList<>();
        for (String function : functions) {
            for (String metric : OF_FUNCTIONS) {
                String request = metric + "@/Code/*/" + function;
                if (wanted.size() < METRICS - 2 && !counted.contains(function) && isEnabled(session, request)) {
                    wanted.add(request);
                }
            }
        }
        for (String request : List.of("procedure_calls", "call_rate")) {
            assertThat(isEnabled(session, request)).isTrue();
            wanted.add(request);
        }
        assertThat(wanted).hasSize(METRICS);
        for (String request : wanted) {
            assertThat(Dist.ask(session, "metric disable " + request)).isEqualTo("ok\n1\n");
        }
        return wanted;
    }

    private static void storm(Path session, List<String> wanted) throws Exception {
        Usage before = settled(session);
        SplittableRandom random = new SplittableRandom(SEED);
        Set<String> on = new HashSet<>();
        for (int i = 0; i < CHANGES; i++) {
            String request = wanted.get(random.nextInt(wanted.size()));
            String verb = on.remove(request) ? "disable" : "force";
            assertThat(Dist.ask(session, "metric " + verb + " " + request)).startsWith("ok\n1");
            if (verb.equals("force")) {
                on.add(request);
            }
        }
        assertThat(Usage.of(session).snippets).isGreaterThan(before.snippets);
        for (String request : on) {
            assertThat(Dist.ask(session, "metric disable " + request)).isEqualTo("ok\n1\n");
        }
        Usage after = settled(session);
        System.out.println(CHANGES + " changes: " + before + " before, " + after + " after");
        assertThat(after).isEqualTo(before);
    }

    /// When nothing is freed any more.
    private static Usage settled(Path session) throws Exception {
        long end = System.nanoTime() + PATIENCE_NANOS;
        Usage usage = Usage.of(session);
        long since = System.nanoTime();
        while (System.nanoTime() < end && System.nanoTime() - since < PATIENCE_NANOS / 10) {
            Thread.sleep(20);
            Usage now = Usage.of(session);
            if (!now.equals(usage)) {
                usage = now;
                since = System.nanoTime();
            }
        }
        return usage;
    }

    /// Gives the program lines, and takes its answers.
    private static final class Worker {
        private final Writer in;
        private final BufferedReader out;
        private final String line;
        private final List<String> answers;

        Worker(Process process, String line, List<String> answers) {
            in = process.outputWriter();
            out = process.inputReader();
            this.line = line;
            this.answers = answers;
        }

        void work() throws IOException {
            in.write(line + "\n");
            in.flush();
            answers.add(out.readLine());
        }

        void workUntil(AtomicBoolean ends) {
            try {
                while (!ends.get()) {
                    work();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        void end() throws IOException {
            in.close();
        }
    }
}
