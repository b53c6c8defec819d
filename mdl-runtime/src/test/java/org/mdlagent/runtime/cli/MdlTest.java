package org.mdlagent.runtime.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.runtime.cli.context.Installation;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.cli.terminal.Posix;

/// What commands say, where, and with which status.
class MdlTest {
    private static final int NOBODY = 5_000_000;

    @TempDir
    private Path root;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private Mdl mdl;

    @BeforeEach
    void createMdl() {
        Console console = new Console(stream(out), stream(err), false, false);
        SessionStore store = new SessionStore(List.of(root), root.resolve("memory"), notice -> {});
        mdl = new Mdl(console, store, new Installation(root.resolve("dist")));
    }

    private static PrintStream stream(ByteArrayOutputStream bytes) {
        return new PrintStream(bytes, true, StandardCharsets.UTF_8);
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        frobnicate                                | there is no command frobnicate
        frobnicate                                | try: mdl --help
        reprot                                    | did you mean 'report'?
        attach                                    | Missing required parameter
        top --attach                              | --attach needs the id of a process
        report --attach app                       | --attach needs the id of a process
        record                                    | for a running program: mdl attach PID
        run -p 4711                               | for a running program: mdl attach PID
        ./app -x                                  | to run a program: mdl run -- ./app -x
        --frobnicate                              | Unknown option: '--frobnicate'
        run                                       | Missing required parameter
        run --frobnicate -- true                  | Unknown option: '--frobnicate'
        run --budget 0 -- true                    | budgetPercent is a number of percent above 0
        run --sync now -- true                    | sync is auto, tmax, membarrier or strict
        run --report=xml -- true                  | report is table, json, FORMAT:FILE or off
        run --report=doc:x -- true                | there is no format doc
        run --report=html: -- true                | names no file
        run --report=html:/ -- true               | names no file
        run --report=html:/no/dir/x -- true       | cannot be written
        run --metric io_wiat -- true              | no metric io_wiat; did you mean 'io_wait'?
        collect                                   | Missing required parameter
        collect nothing -- true                   | there is no collector and no file nothing
        collect coverage                          | there is nothing to collect from
        collect coverage --pid 1 -- true          | a program and --pid is not possible
        collect counts --for 5 -- true            | for is a duration such as 500ms, 30s, 5m or 1h
        collect counts --every 5s -- true         | every is a duration from for on, and needs it
        script                                    | Missing required parameter: 'FILE.java'
        script arcs.py 4711                       | arcs.py is no Java source file
        enable 1 io_wait@                         | a metric is requested as METRIC
        enable 1 io_wait@/Cod/x                   | there is no hierarchy /Cod, did you mean '/Code'?
        watch --interval 0 1 io_wait              | an interval is a number of seconds from 0.05
        report n\uFFFD                            | is not text in the locale's encoding
        run -o n\uFFFD -- true                    | for UTF-8, set LC_ALL=C.UTF-8
        report --format folded --limit 3          | folded shows all functions
        report --format doc                       | there is no format doc
        top --interval 0                          | an interval is a number of seconds from 0.05
        top --count 0                             | a count is a number from 1
        top --sort size                           | there are total, rate, p50, p99, p999 and name
        serve --listen 9417                       | an address is HOST:PORT
        serve --listen 127.0.0.1:99999            | an address is HOST:PORT
        serve --listen 0.0.0.0:0                  | other machines could read the profiles
        serve --limit -1                          | a limit is a number from 0
        serve --otlp collector:4318               | a collector is http://HOST:PORT
        serve --otlp http://me:secret@collector   | an address is no place for a password
        serve --otlp-header api-key=secret        | there are headers, but no collector
        serve --otlp http://c --otlp-header key   | --otlp-header: there is no = in a header
        serve --otlp http://c --otlp-header host=x | mdl sets the header host itself
        serve --otlp http://c --otlp-header a:b=x | a header's name has letters, digits and - only
        serve --pprof-push pyroscope:4040         | a collector is http://HOST:PORT
        serve --pprof-push http://a:b@pyroscope   | an address is no place for a password
        serve --pprof-interval 0                  | an interval is a number of seconds from 1 to 86400
        serve --otlp-interval 0                   | an interval is a number of seconds from 1 to 86400
        report --sort size                        | there are self, total, calls
        report --limit -1                         | a limit is a number from 0
        report --limit many                       | Invalid value for option '--limit'
        report --format trace --from 14:05        | trace has no ranges of time
        report --function app!                    | a function is given as FUNCTION
        list everything                           | there are sessions, functions, probes, metrics, points and resources
        list points 1 /Code                       | a pattern for points is not possible
        diff --threshold 5                        | try: mdl diff --runs 10 [OPTIONS] A -- B
        diff --exact a b                          | two sessions are recorded already, and do not show
        diff a b c                                | a b c is not possible
        diff --format xml                         | there are table, json and html
        diff --runs 4 true -- true                | give 5 to 31: fewer runs cannot show a difference
        diff --runs 10 true                       | --runs takes two command lines with -- between
        diff --runs 10 true --                    | --runs takes two command lines with -- between
        diff --runs 10 --format html true -- true | there are table and json
        diff --runs 10 --threshold -1 true -- true | a threshold is a percentage, 0 or more
        diff --runs 10 --budget 0 true -- true    | budgetPercent is a number of percent above 0
        points                                    | Missing required parameter
        compile                                   | give one file or one question
        compile -e timer                          | a question is: counter [of EXPRESSION]
        enable 1                                  | no metric is named
        enable 1 -e timer                         | as in -e 'counter at entry of handle*
        compile --dump=tree absent.mdl            | there is no stage tree
        """)
    void shouldEndWithTwoForWrongUsage(String command, String message) {
        int status = mdl.execute(command.split(" +", -1));

        assertThat(status).isEqualTo(2);
        assertThat(err()).startsWith("mdl: ").contains(message);
        assertThat(out()).isEmpty();
    }

    /// What picocli cannot format it says on the process's own stderr.
    @Test
    void shouldDescribeEachOption() {
        PrintStream before = System.err;
        System.setErr(stream(err));
        try {
            for (String command : mdl.parser().getSubcommands().keySet()) {
                assertThat(mdl.execute(command, "--help")).as(command).isZero();
            }
        } finally {
            System.setErr(before);
        }
        assertThat(err()).isEmpty();
        assertThat(out()).contains("CPU time for probes and agent, in percent").doesNotContain("%%");
    }

    @Test
    void shouldCompileAFileThatUsesTheLibrary() throws IOException {
        Path file = Files.writeString(root.resolve("ok.mdl"), """
                metric m {
                    name "m"; units things; aggregateOperator sum;
                    constraint procedureConstraint;
                    base is counter { append preInsn $start.entry constrained (* m++; *) }
                }
                """);

        assertThat(mdl.execute("compile", file.toString())).isZero();
        assertThat(out()).isEqualTo(file + ": 1 metric, 0 constraints, 0 lists\n");
        assertThat(mdl.execute("compile", file.toString(), "--dump=ast")).isZero();
        assertThat(out()).contains("metric m  @1:1\n  name \"m\"  @2:5\n");
        assertThat(err()).isEmpty();
    }

    @Test
    void shouldSayAllErrorsOfAFile() throws IOException {
        Path file = Files.writeString(root.resolve("wrong.mdl"), "metric m { }\nlist l is strin { }\n");

        assertThat(mdl.execute("compile", file.toString())).isEqualTo(1);
        assertThat(err())
                .contains("wrong.mdl:1:8: error: metric m has no base", "wrong.mdl:2:11: error: ", "did you mean");
        assertThat(out()).isEmpty();
        assertThat(mdl.execute("compile", root.resolve("absent.mdl").toString()))
                .isEqualTo(1);
        assertThat(err()).contains("mdl: there is no " + root.resolve("absent.mdl"));
    }

    @Test
    void shouldNameEveryBadOption() {
        assertThat(mdl.execute("run", "--budget=x", "--counted-mean=y", "true")).isEqualTo(2);
        assertThat(err()).contains("mdl: budgetPercent=x").contains("mdl: countedMean=y");
    }

    @Test
    void shouldSayWhatThereIsWithoutACommand() {
        assertThat(mdl.execute()).isEqualTo(2);
        assertThat(err()).contains("Usage: mdl").contains("report");
    }

    @Test
    void shouldServeWithATokenOnlyThatNobodyElseKnows() throws IOException {
        Path file = Files.writeString(root.resolve("token"), "0123456789abcdef\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(mdl.execute("serve", "--token-file", file.toString())).isEqualTo(2);
        assertThat(err()).contains("others can read or write " + file, "chmod 600");

        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        Files.writeString(file, "short");
        assertThat(mdl.execute("serve", "--token-file", file.toString())).isEqualTo(2);
        assertThat(err()).contains(file + " holds no token");
    }

    /// Kubernetes mounts a secret for a pod with `fsGroup` as a link to a file of root that a group may read.
    @ParameterizedTest
    @CsvSource({"0, there is no = in a header", "65534, others can read or write"})
    void shouldLetAGroupReadWhatRootHasGivenToIt(int owner, String said) throws IOException {
        assumeTrue(Posix.effectiveUser() == 0, "only root gives files to others");
        Path file = Files.writeString(root.resolve("secret"), "secret");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r-----"));
        Files.setAttribute(file, "unix:uid", owner);
        Path link = Files.createSymbolicLink(root.resolve("link"), file);

        assertThat(mdl.execute("serve", "--otlp", "http://c", "--otlp-header-file", link.toString()))
                .isEqualTo(2);
        assertThat(err()).contains(said);
    }

    @Test
    void shouldTakeHeadersFromAFileThatNobodyElseCanReadOnly() throws IOException {
        Path file = Files.writeString(root.resolve("headers"), "# of the collector\nsecret\n");
        String[] command = {"serve", "--otlp", "http://c", "--otlp-header-file", file.toString()};
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(mdl.execute(command)).isEqualTo(2);
        assertThat(err()).contains("others can read or write " + file, "chmod 600");

        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertThat(mdl.execute(command)).isEqualTo(2);
        assertThat(err()).contains(file + ": line 2: there is no = in a header").doesNotContain("secret");
    }

    @Test
    void shouldPrintHelpToStdout() {
        assertThat(mdl.execute("run", "--help")).isZero();
        assertThat(out()).contains("mdl run [OPTIONS] [--] PROGRAM ARGS...");
        assertThat(mdl.execute("help", "report")).isZero();
        assertThat(mdl.execute("--version")).isZero();
        assertThat(out()).contains("mdl development");
    }

    @Test
    void shouldFailWhenThereIsNoSession() {
        assertThat(mdl.execute("report")).isEqualTo(1);
        assertThat(err()).isEqualTo("mdl: there is no session yet\n     try: mdl run -- PROGRAM\n");
        assertThat(out()).isEmpty();
    }

    @Test
    void shouldRefuseADirectoryThatHoldsASession() throws IOException {
        Path session = FakeSession.in(root, "out", NOBODY, 1_767_225_600);

        assertThat(mdl.execute("run", "-o", session.toString(), "--", "true")).isEqualTo(1);
        assertThat(err()).contains("holds a session already");
    }

    @Test
    void shouldRefuseADirectoryThatCannotBeMade() throws IOException {
        Path file = Files.createFile(root.resolve("file"));

        assertThat(mdl.execute("run", "-o", file.resolve("sub").toString(), "--", "true"))
                .isEqualTo(1);
        assertThat(err()).contains("cannot be written").contains("-o DIR");
    }

    @Test
    void shouldReportTheNewestSession() throws IOException {
        FakeSession.in(root, "app-1-20260101T000000", NOBODY, 1_767_225_600);

        assertThat(mdl.execute("report")).isZero();
        assertThat(out()).startsWith("mdl  app · pid 5000000").contains("session app-1-20260101T000000");
        assertThat(err()).isEmpty();
    }

    @Test
    void shouldReportAsJsonAlone() throws IOException {
        FakeSession.in(root, "app-1-20260101T000000", NOBODY, 1_767_225_600);

        assertThat(mdl.execute("report", "app", "--format", "json")).isZero();
        assertThat(out()).startsWith("{\n  \"session\": {").endsWith("}\n").contains("\"functions\": []");
    }

    @ParameterizedTest
    @CsvSource({
        "csv, 'name,symbol,file'",
        "html, <!DOCTYPE html>",
        "prometheus, # HELP mdl_session_info",
        "trace, '{\"displayTimeUnit\": \"ns\"'"
    })
    void shouldReportInOtherFormats(String format, String beginning) throws IOException {
        FakeSession.in(root, "app-1-20260101T000000", NOBODY, 1_767_225_600);

        assertThat(mdl.execute("report", "--format", format)).isZero();
        assertThat(out()).startsWith(beginning);
        assertThat(err()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"folded, ''", "speedscope, '{\"$schema\": '", "callgrind, '# callgrind format'", "perf, ''"})
    void shouldSayThatASessionHasNoCallPaths(String format, String beginning) throws IOException {
        FakeSession.in(root, "app-1-20260101T000000", NOBODY, 1_767_225_600);

        assertThat(mdl.execute("report", "--format", format)).isZero();
        assertThat(out()).startsWith(beginning);
        assertThat(err()).contains(format + ": the session has no call paths", "agent.log says why");
    }

    @Test
    void shouldSayWhatAnExactSessionDoesNotKnow() throws IOException {
        Path session = FakeSession.in(root, "app-1-20260101T000000", NOBODY, 1_767_225_600);
        try (FileChannel file = FileChannel.open(session.resolve("session.mdl"), StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap(new byte[] {HeaderDescriptor.FLAG_EXACT}), HeaderDescriptor.FLAGS);
        }

        assertThat(mdl.execute("report", "--format", "trace")).isEqualTo(2);
        assertThat(out()).isEmpty();
        assertThat(err()).contains("trace: an exact session", "record without --exact");
    }

    @Test
    void shouldReportAsCompressedProfile() throws IOException {
        FakeSession.in(root, "app-1-20260101T000000", NOBODY, 1_767_225_600);

        assertThat(mdl.execute("report", "--format", "pprof")).isZero();
        assertThat(out.toByteArray()).startsWith(0x1f, 0x8b);
    }

    @ParameterizedTest
    @CsvSource({"html, profile.html", "pprof, profile.pb.gz"})
    void shouldNotFillATerminalWithWhatNobodyReads(String format, String file) throws IOException {
        FakeSession.in(root, "app-1-20260101T000000", NOBODY, 1_767_225_600);
        Mdl onTerminal = new Mdl(
                new Console(stream(out), stream(err), true, true),
                new SessionStore(List.of(root), root.resolve("memory"), notice -> {}),
                new Installation(root.resolve("dist")));

        assertThat(onTerminal.execute("report", "--format", format)).isEqualTo(2);
        assertThat(err()).contains("try: mdl report --format " + format + " > " + file);
        assertThat(out()).isEmpty();
    }

    @Test
    void shouldTellThreadsApartInExactSessionsOnly() throws IOException {
        FakeSession.in(root, "app-1-20260101T000000", NOBODY, 1_767_225_600);

        assertThat(mdl.execute("report", "--thread", "1")).isEqualTo(2);
        assertThat(err()).contains("a sampled session does not tell threads apart");
    }

    @Test
    void shouldListSessionsTheNewestFirstAndSayWhichAreDamaged() throws IOException {
        FakeSession.in(root, "app-1-20260101T000000", NOBODY, 1_767_225_600);
        Path damaged = FakeSession.in(root, "bad-2-20260102T000000", NOBODY, 1_767_225_600);
        Files.write(damaged.resolve("session.mdl"), new byte[100]);

        assertThat(mdl.execute("list")).isZero();

        List<String> lines = out().lines().toList();
        assertThat(lines).hasSize(3);
        assertThat(lines.get(0)).startsWith("SESSION ");
        assertThat(lines.get(1)).startsWith("bad-2-20260102T000000 ").contains("damaged");
        assertThat(lines.get(2))
                .startsWith("app-1-20260101T000000 ")
                .contains("ended")
                .endsWith("/bin/app");
    }

    @Test
    void shouldSayWhatBlocksAndWhatToDo() {
        assertThat(mdl.execute("doctor")).isEqualTo(1);
        assertThat(out())
                .contains("STOP  library        " + root.resolve("dist/lib/libmdlagent.so") + " is missing")
                .containsPattern("(?m)^ok    CPU ")
                .containsPattern("(?m)^note  T_max          not known: .*mdl-calibrate-trial")
                .contains("sessions");
    }

    @Test
    void shouldExplainAProgram() throws Exception {
        Path source = Files.writeString(root.resolve("p.c"), "int main(void) { return 0; }");
        compile(source, "plain");
        compile(source, "probed", "-finstrument-functions", "-g");
        compile(source, "static", "-static", "-finstrument-functions");

        assertThat(doctor("plain"))
                .contains("note  probes         which functions can be probed is not known:")
                .contains("ok    linking");
        assertThat(doctor("probed"))
                .contains("ok    probes")
                .contains("ok    debug info")
                .contains("ok    sanitizers");
        assertThat(doctor("static")).contains("STOP  linking").contains("ok    probes");
    }

    private String doctor(String program) {
        out.reset();
        assertThat(mdl.execute("doctor", root.resolve(program).toString())).isEqualTo(1);
        return out();
    }

    private void compile(Path source, String name, String... flags) throws Exception {
        List<String> command =
                new ArrayList<>(List.of("gcc", "-o", root.resolve(name).toString()));
        command.addAll(List.of(flags));
        command.add(source.toString());
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
    }
}
