package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.runtime.Dist;
import org.mdlagent.runtime.SessionWords;

/// Fifty metrics that come and go in random order while the program works: its output is what it was, the metrics that
/// stay count every call, and nothing is left behind.
///
/// `-Dmdl.storm.changes=N` makes it longer or shorter, `-Dmdl.storm.seed=S` is another order.
@Tag("soak")
class MetricStormIT {
    private static final int CHANGES = Integer.getInteger("mdl.storm.changes", 1000);
    private static final long SEED = Long.getLong("mdl.storm.seed", 1);
    private static final int METRICS = 50;
    private static final List<String> OF_FUNCTIONS =
            List.of("procedure_calls", "exec_time", "cpu_inclusive", "call_rate");
    private static final int COUNTED = 4;

    /// What the program calls in libc.
    private static final String ALLOCATIONS = "memory_allocations";

    private static final List<String> OF_LIBRARIES = List.of("memory_allocated", "memory_freed", "io_ops", "io_bytes");
    private static final Pattern STATISTICS = Pattern.compile("cmdstat_(\\w+):calls=(\\d+)");
    private static final long PATIENCE_NANOS = 10_000_000_000L;

    /// A command that makes others, which redis counts by itself. Its answer tells of all that they have left.
    private static final String REDIS_WORK = "EVAL \""
            + "for i = 1, 300 do local k = 'k' .. i * 7919 % 101"
            + " redis.call('set', k, i) redis.call('incr', k) redis.call('lpush', 'l', k)"
            + " redis.call('hset', 'h', k, i) redis.call('zadd', 'z', i, k) end"
            + " local all = {redis.call('lrange', 'l', 0, -1), redis.call('zrange', 'z', 0, -1), redis.call('incr', 'n')}"
            + " redis.call('del', 'l')"
            + " return redis.status_reply(redis.sha1hex(cjson.encode(all)))\" 0";

    private static final List<String> REDIS_COMMANDS = List.of("set", "incr", "lpush", "hset", "zadd");
    private static final List<String> REDIS_FUNCTIONS = List.of(
            "call",
            "scriptCall",
            "lookupKey",
            "dictFind",
            "dictAddRaw",
            "sdsnewlen",
            "sdscatlen",
            "sdsfree",
            "createStringObject",
            "decrRefCount",
            "incrDecrCommand",
            "listTypePush",
            "hashTypeSet",
            "zsetAdd",
            "listpackNext",
            "addReplyLongLong",
            "signalModifiedKey");

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
            SessionWords words = SessionWords.of(session);
            byte[] kinds = words.bytes(words.get(HeaderDescriptor.VALUE_KINDS), ValueDescriptor.VALUES);
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
        List<String> counted = new ArrayList<>();
        JsonNode report;
        try {
            // One line before: then each function of the program has shown at its probes.
            Worker worker = new Worker(process.outputWriter(), process.inputReader(), program.line, answers);
            worker.work();
            awaitInput(process);
            for (String function : functions) {
                if (counted.size() < COUNTED && isEnabled(session, calls(function))) {
                    counted.add(function);
                }
            }
            assertThat(isEnabled(session, ALLOCATIONS)).isTrue();
            stormUnderLoad(session, worker, wanted(session, functions, counted));
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
        long allocations = allocations(input, command);
        Path first = lines(program, 1);
        Map<String, Long> before = Dist.countIndependently(directory, Map.of(), first, command);
        for (String function : counted) {
            long expected = independent.get(function) - before.get(function);
            assertCounted(program.name, report, "/" + function, expected);
        }
        assertCounted(program.name, report, ALLOCATIONS, allocations - allocations(first, command));
    }

    private long allocations(Path input, List<String> command) throws Exception {
        Path counting = Dist.compile(directory, "counting_allocations", "-shared", "-fPIC");
        Path counts = directory.resolve("allocations");
        Map<String, String> environment = Map.of("LD_PRELOAD", counting.toString(), "COUNTS", counts.toString());
        assertThat(Dist.run(directory, environment, input, command).status()).isZero();
        return Long.parseLong(Files.readString(counts).strip());
    }

    @Test
    void shouldCountTheCommandsOfRedisAsItDoes() throws Exception {
        Path session = directory.resolve("session");
        List<String> answers = new ArrayList<>();
        JsonNode report;
        Map<String, Long> before;
        Map<String, Long> after;
        try (Redis redis = new Redis(directory, Dist.preload("wait,profile=off,session=" + session))) {
            Worker worker = new Worker(redis.in, redis.out, REDIS_WORK, answers);
            worker.work();
            for (String command : REDIS_COMMANDS) {
                assertThat(isEnabled(session, calls(command + "Command"))).isTrue();
            }
            before = redis.calls();
            stormUnderLoad(session, worker, wanted(session, REDIS_FUNCTIONS, List.of()));
            after = redis.calls();
            report = Dist.report(directory, session);
            redis.shutDown();
        }

        for (String command : REDIS_COMMANDS) {
            assertCounted("redis", report, "/" + command + "Command", after.get(command) - before.get(command));
        }
        List<String> alone = new ArrayList<>();
        try (Redis redis = new Redis(directory, Map.of())) {
            Worker worker = new Worker(redis.in, redis.out, REDIS_WORK, alone);
            for (int i = 0; i < answers.size(); i++) {
                worker.work();
            }
            redis.shutDown();
        }
        assertThat(answers).isEqualTo(alone);
    }

    private static String calls(String function) {
        return "procedure_calls@/Code/*/" + function;
    }

    /// @param name how the metric or its focus ends
    private static void assertCounted(String program, JsonNode report, String name, long expected) {
        System.out.printf("%s: %,d of %s%n", program, expected, name);
        assertThat(expected).isPositive();
        assertThat(value(report, name)).as(name).isEqualTo(expected);
    }

    private static void stormUnderLoad(Path session, Worker worker, List<String> wanted) throws Exception {
        AtomicBoolean ends = new AtomicBoolean();
        Thread load = Thread.ofPlatform().start(() -> worker.workUntil(ends));
        storm(session, wanted);
        ends.set(true);
        load.join();
    }

    /// What it does for a line, it has done when it sleeps in wait for the next.
    private static void awaitInput(Process process) throws Exception {
        Path stat = Path.of("/proc/" + process.pid() + "/task/" + process.pid() + "/stat");
        while (!Files.readString(stat).contains(") S ")) {
            Thread.onSpinWait();
        }
    }

    private static double value(JsonNode report, String name) {
        for (JsonNode metric : report.get("metrics")) {
            String focus = metric.get("focus").path(0).asText();
            if ((metric.get("name").asText() + focus).endsWith(name)) {
                return metric.get("value").asDouble();
            }
        }
        throw new AssertionError(name + " is not in " + report.get("metrics"));
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
        for (String request : OF_LIBRARIES) {
            if (isEnabled(session, request)) {
                wanted.add(request);
            }
        }
        assertThat(wanted).isNotEmpty();
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
        System.out.println(CHANGES + " changes: " + before + " before, " + settled(session) + " after");
        Dist.await("nothing is left", () -> Usage.of(session).equals(before));
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

    /// A server, and one client.
    private static final class Redis implements AutoCloseable {
        private final Process process;
        private final SocketChannel client;
        private final Writer in;
        private final BufferedReader out;

        Redis(Path directory, Map<String, String> environment) throws Exception {
            Path socket = directory.resolve("redis");
            ProcessBuilder builder = new ProcessBuilder(
                            Dist.debian("redis").toString(),
                            "--port",
                            "0",
                            "--unixsocket",
                            socket.toString(),
                            "--save",
                            "")
                    .directory(directory.toFile())
                    .redirectOutput(directory.resolve("redis.log").toFile());
            builder.environment().putAll(environment);
            process = builder.start();
            while (!Files.exists(socket)) {
                assertThat(process.isAlive()).isTrue();
                Thread.sleep(10);
            }
            client = SocketChannel.open(UnixDomainSocketAddress.of(socket));
            in = Channels.newWriter(client, StandardCharsets.UTF_8);
            out = new BufferedReader(Channels.newReader(client, StandardCharsets.UTF_8));
        }

        /// By the names of commands, as it counts them.
        Map<String, Long> calls() throws IOException {
            in.write("INFO commandstats\n");
            in.flush();
            Map<String, Long> calls = new HashMap<>();
            out.readLine(); // how long the answer is
            for (String line = out.readLine(); !line.isEmpty(); line = out.readLine()) {
                Matcher one = STATISTICS.matcher(line);
                if (one.lookingAt()) {
                    calls.put(one.group(1), Long.valueOf(one.group(2)));
                }
            }
            return calls;
        }

        void shutDown() throws Exception {
            in.write("SHUTDOWN NOSAVE\n");
            in.flush();
            assertThat(process.waitFor()).isZero();
        }

        @Override
        public void close() throws IOException {
            client.close();
            process.destroyForcibly().onExit().join();
        }
    }

    /// Gives the program lines, and takes its answers.
    private static final class Worker {
        private final Writer in;
        private final BufferedReader out;
        private final String line;
        private final List<String> answers;

        Worker(Writer in, BufferedReader out, String line, List<String> answers) {
            this.in = in;
            this.out = out;
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
