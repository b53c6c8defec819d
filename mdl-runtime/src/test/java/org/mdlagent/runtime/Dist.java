package org.mdlagent.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.runtime.cli.Mdl;
import org.mdlagent.runtime.cli.context.Installation;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.Console;

/// The built distribution, and programs that are run with and without it.
public final class Dist {
    /// Columns of `schedstat`: how long a thread has run, has waited for a processor, and how often it began to run.
    public static final int CPU_NANOS = 0;

    public static final int WAITED_NANOS = 1;

    public static final int SLICES = 2;

    /// Flags of programs in which each call of the source is a call, so that those with one kind of probes make the
    /// same as those with another.
    public static final String PLAIN_CALLS = "-O1 -g -fno-inline -fno-optimize-sibling-calls ";

    private static final Path ROOT =
            Path.of(System.getProperty("mdl.dist", "../dist")).toAbsolutePath().normalize();

    /// Tests give up waiting after this time. It says nothing about how soon a result should come.
    public static final Duration PATIENCE = Duration.ofMinutes(10);

    private static final long POLL_MILLIS = 20;

    static {
        System.setProperty("mdl.home", ROOT.toString()); // for reports that are made in this JVM
    }

    private Dist() {}

    /// What a command did.
    public record Outcome(int status, byte[] out, String err) {
        public String text() {
            return new String(out, StandardCharsets.UTF_8);
        }
    }

    public static Path root() {
        return ROOT;
    }

    public static Path examples() {
        return Path.of(System.getProperty("mdl.examples", "../examples"))
                .toAbsolutePath()
                .normalize();
    }

    public static Path shim() {
        return ROOT.resolve("lib/libmdlagent.so");
    }

    public static String mdl() {
        return ROOT.resolve("bin/mdl").toString();
    }

    public static Outcome run(Path directory, Map<String, String> environment, List<String> command)
            throws IOException, InterruptedException {
        return run(directory, environment, null, command);
    }

    public static Outcome run(
            Path directory, Map<String, String> environment, @Nullable Path input, List<String> command)
            throws IOException, InterruptedException {
        Path out = Files.createTempFile(directory, "out", ".txt");
        Path err = Files.createTempFile(directory, "err", ".txt");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .redirectInput(input == null ? Path.of("/dev/null").toFile() : input.toFile());
        builder.environment().putAll(environment);
        builder.environment().put("XDG_STATE_HOME", directory.resolve("state").toString());
        Process process = builder.start();
        if (!process.waitFor(PATIENCE)) {
            process.destroyForcibly();
            throw new IOException(command + " did not end within " + PATIENCE);
        }
        return new Outcome(process.exitValue(), Files.readAllBytes(out), Files.readString(err));
    }

    /// Waits until something is so.
    public static void await(String what, Callable<Boolean> condition) throws Exception {
        long start = System.nanoTime();
        while (!condition.call()) {
            assertThat(System.nanoTime() - start).as(what).isLessThan(PATIENCE.toNanos());
            Thread.sleep(POLL_MILLIS);
        }
    }

    /// Waits until the agent, however seldom it gets a processor, has looked at all that there was when this began.
    public static void awaitLook(Path session) throws Exception {
        // A look ends with the agent's account of its CPU time, which it has always taken some of. One that has begun
        // before may end with the first change, and it is over when there is another.
        for (int i = 0; i < 3; i++) {
            long before = agentNanos(session);
            await("the agent's next look", () -> agentNanos(session) != before);
        }
    }

    private static long agentNanos(Path session) throws IOException {
        return SessionWords.of(session).get(HeaderDescriptor.AGENT_CPU_NANOS);
    }

    /// Whether a tool is there and tells its version. One that is there and cannot is as good as absent.
    public static boolean works(String tool, String... version) {
        List<String> command = new ArrayList<>(List.of(tool));
        command.addAll(version.length == 0 ? List.of("--version") : List.of(version));
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /// The environment of a program under the agent, started without `mdl run`.
    public static Map<String, String> preload(String options) {
        return Map.of("LD_PRELOAD", shim().toString(), "MDL_OPTIONS", options);
    }

    /// Starts a program under the agent.
    public static Process start(List<String> command, String options) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(preload(options));
        return builder.start();
    }

    /// The session's report for scripts.
    public static JsonNode report(Path directory, Path session) throws IOException, InterruptedException {
        return report(directory, session.toString());
    }

    public static JsonNode report(Path directory, String session) throws IOException, InterruptedException {
        Outcome report = runHere(directory, "report", session, "--format", "json");
        if (report.status != 0) {
            throw new IOException("mdl report: " + report.err);
        }
        return new ObjectMapper().readTree(report.out);
    }

    /// The session's report, null while the session is not complete yet.
    public static @Nullable JsonNode reportOrNull(Path directory, Path session) throws InterruptedException {
        try {
            return report(directory, session);
        } catch (IOException e) {
            return null;
        }
    }

    /// The JSON of one process, whatever the command says of it.
    public static Outcome reportOfProcess(Path directory, Path session, int pid) {
        return runHere(directory, "report", session.toString(), "--format", "json", "--process", Integer.toString(pid));
    }

    /// What the command does, without a JVM of its own: tests ask for hundreds of reports.
    private static Outcome runHere(Path directory, String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Console console = new Console(stream(out), stream(err), false, false);
        String state = directory.resolve("state").toString();
        SessionStore store = SessionStore.ofUser(Map.of("XDG_STATE_HOME", state), console);
        int status = new Mdl(console, store, new Installation(ROOT)).execute(arguments);
        return new Outcome(status, out.toByteArray(), err.toString(StandardCharsets.UTF_8));
    }

    private static PrintStream stream(ByteArrayOutputStream bytes) {
        return new PrintStream(bytes, true, StandardCharsets.UTF_8);
    }

    /// Calls of each function by its symbol; functions of one name are added up.
    public static Map<String, Long> calls(JsonNode report) {
        Map<String, Long> calls = new TreeMap<>();
        for (JsonNode function : report.get("functions")) {
            if (function.get("calls").asLong() > 0) {
                calls.merge(
                        function.get("symbol").asText(), function.get("calls").asLong(), Long::sum);
            }
        }
        return calls;
    }

    public static JsonNode function(JsonNode report, String symbol) {
        for (JsonNode function : report.get("functions")) {
            if (function.get("symbol").asText().equals(symbol)) {
                return function;
            }
        }
        throw new AssertionError("no function " + symbol + " in the report");
    }

    /// Compiles one of the programs in `src/test/c`.
    public static Path compile(Path directory, String name, String... flags) throws IOException, InterruptedException {
        Path program = directory.resolve(name + (List.of(flags).contains("-shared") ? ".so" : ""));
        List<String> command = new ArrayList<>(List.of("gcc", "-O2", "-g", "-w"));
        command.addAll(List.of(flags));
        command.addAll(List.of(
                "-o",
                program.toString(),
                Path.of("src/test/c", name + ".c").toAbsolutePath().toString(),
                "-pthread"));
        Outcome outcome = run(directory, Map.of(), command);
        if (outcome.status != 0) {
            throw new IOException(outcome.err);
        }
        return program;
    }

    /// What metrics have counted, by their requests.
    public static Map<String, Double> metrics(Path directory, Path session) throws IOException, InterruptedException {
        Map<String, Double> values = new HashMap<>();
        for (JsonNode metric : report(directory, session).get("metrics")) {
            StringBuilder request = new StringBuilder(metric.get("name").asText());
            metric.get("focus").forEach(path -> request.append('@').append(path.asText()));
            values.put(request.toString(), metric.get("value").asDouble());
        }
        return values;
    }

    /// Asks the agent of a session by its control socket.
    public static String ask(Path session, String request) throws IOException {
        return ask(session, request.getBytes(StandardCharsets.UTF_8));
    }

    public static String ask(Path session, byte[] request) throws IOException {
        try (SocketChannel agent = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            agent.connect(UnixDomainSocketAddress.of(session.resolve("control")));
            agent.write(new ByteBuffer[] {ByteBuffer.wrap(request), ByteBuffer.wrap(new byte[] {'\n'})});
            ByteBuffer answer = ByteBuffer.allocate(1 << 16);
            while (agent.read(answer) >= 0) {}
            return new String(answer.array(), 0, answer.position(), StandardCharsets.UTF_8);
        }
    }

    /// A script for sqlite3: inserts, an index, a sum and a join.
    ///
    /// @param rows   of its table
    /// @param joined how many of them are joined with others
    public static Path sqliteWork(Path directory, int rows, int joined) throws IOException {
        return Files.writeString(directory.resolve("work.sql"), """
                create table t(a integer primary key, b text, c integer);
                begin;
                with recursive n(i) as (select 1 union all select i + 1 from n where i < %d)
                  insert into t select i, 'row ' || i, i * 7919 %% 1009 from n;
                commit;
                create index tc on t(c);
                select c, count(*), max(b) from t group by c order by 2 desc, 1 limit 5;
                select count(*) from t x join t y on x.c = y.a where x.a < %d;
                """.formatted(rows, joined));
    }

    /// A script for sqlite3: the work of the examples, again and again, each time in a database of its own in the
    /// directory that sqlite3 runs in.
    public static Path sqliteRounds(Path directory, int rounds) throws IOException {
        String round = Files.readString(examples().resolve("sqlite-workload.sql"));
        StringBuilder script = new StringBuilder();
        for (int i = 0; i < rounds; i++) {
            script.append(".open db").append(i).append('\n').append(round);
        }
        return Files.writeString(directory.resolve("rounds.sql"), script);
    }

    /// A program of Debian, built with probes.
    public static Path debian(String name) throws IOException, InterruptedException {
        return debian(name, "-O2 -g -finstrument-functions");
    }

    /// The sources of a program of Debian, which are not to be changed.
    public static Path sources(String name) throws IOException, InterruptedException {
        return debian(name, "--sources");
    }

    /// A program of Debian, built with these flags.
    public static Path debian(String name, String flags) throws IOException, InterruptedException {
        Path script = examples().resolve("debian-programs.sh");
        Process process = new ProcessBuilder(script.toString(), name, flags)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String path = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (process.waitFor() != 0) {
            throw new IOException("examples/debian-programs.sh " + name + " ended with " + process.exitValue());
        }
        return Path.of(path);
    }

    /// Calls of each function by its symbol, counted by hooks that are preloaded instead of the agent.
    public static Map<String, Long> countIndependently(
            Path directory, Map<String, String> environment, @Nullable Path input, List<String> command)
            throws IOException, InterruptedException {
        Path hooks = compile(directory, "counting_hooks", "-shared", "-fPIC");
        Path counts = directory.resolve("counts");
        Map<String, String> all = new HashMap<>(environment);
        all.put("LD_PRELOAD", hooks.toString());
        all.put("COUNTS", counts.toString());
        Outcome outcome = run(directory, all, input, command);
        if (outcome.status != 0) {
            throw new IOException("counting run ended with " + outcome.status + ": " + outcome.err);
        }
        Map<String, Map<Long, String>> symbols = new HashMap<>();
        Map<String, Long> calls = new TreeMap<>();
        for (String line : Files.readAllLines(counts)) {
            String[] fields = line.split(" ", 3);
            Map<Long, String> names = symbols.get(fields[2]);
            if (names == null) {
                names = functionNames(directory, fields[2]);
                symbols.put(fields[2], names);
            }
            String name = names.get(Long.parseLong(fields[0], 16));
            if (name == null) {
                throw new IOException("no symbol at " + fields[0] + " of " + fields[2]);
            }
            calls.merge(name, Long.parseLong(fields[1]), Long::sum);
        }
        return calls;
    }

    /// Symbols of the functions of an image by their offset in it.
    public static Map<Long, String> functionNames(Path directory, String image)
            throws IOException, InterruptedException {
        Map<Long, String> names = new HashMap<>();
        for (String line : run(directory, Map.of(), List.of("nm", "--defined-only", image))
                .text()
                .split("\n")) {
            String[] fields = line.split(" ");
            if (fields.length == 3 && "tTwW".contains(fields[1])) {
                names.put(Long.parseLong(fields[0], 16), fields[2]);
            }
        }
        return names;
    }

    /// A column of `schedstat`, summed up over the agent's threads: all but the first, in a program that has one.
    public static double sumOfAgentThreads(long pid, int column) throws IOException {
        double sum = 0;
        try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
            for (Path task : tasks.toList()) {
                if (!task.endsWith(Long.toString(pid))) {
                    sum += Double.parseDouble(
                            Files.readString(task.resolve("schedstat")).strip().split(" ")[column]);
                }
            }
        }
        return sum;
    }
}
