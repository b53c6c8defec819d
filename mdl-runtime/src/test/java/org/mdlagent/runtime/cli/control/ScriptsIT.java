package org.mdlagent.runtime.cli.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// `mdl script`, and the Python client: the examples on gzip and python3, as Debian ships them. What they print equals
/// what the
/// commands report.
class ScriptsIT {
    private static final Path PYTHON = Path.of("/usr/bin/python3");
    private static final int CALLS = 1000;
    private static final int SHOWN = 20;
    private static final int PAGE = 66;

    @TempDir
    Path directory;

    private Path input;
    private Process attached;
    private ProcessHandle runByScript;

    @BeforeEach
    void writeInput() throws Exception {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 20_000; i++) {
            text.append(i * 7919L % 10_007).append(i % 13 == 0 ? '\n' : ' ');
        }
        input = Files.writeString(directory.resolve("input"), text);
        Files.createFile(directory.resolve("input.gz")); // so that all runs replace a file
    }

    @AfterEach
    void end() throws Exception {
        if (attached != null) {
            attached.destroyForcibly().waitFor();
        }
        if (runByScript != null) {
            runByScript.destroyForcibly();
        }
    }

    private static Path example(String name) {
        return Dist.examples().resolve("scripts").resolve(name);
    }

    private Dist.Outcome script(Path file, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(Dist.mdl(), "script", file.toString()));
        command.addAll(List.of(arguments));
        return Dist.run(directory, Map.of(), command);
    }

    private List<String> lines(String example, String... arguments) throws Exception {
        Dist.Outcome outcome = script(example(example), arguments);
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.err()).isEmpty();
        return outcome.text().lines().toList();
    }

    private JsonNode collected(String what, String... command) throws Exception {
        Path session = Files.createTempDirectory(directory, "collected").resolve("session");
        List<String> all = new ArrayList<>(List.of(Dist.mdl(), "collect", what, "-o", session.toString(), "--"));
        all.addAll(List.of(command));
        Dist.Outcome outcome = Dist.run(directory, Map.of(), all);
        assertThat(outcome.status()).as(outcome.err()).isZero();
        return Dist.report(directory, session);
    }

    @ParameterizedTest
    @CsvSource({"ArcCounter, 20", "Coverage, 25", "CallsBetween, 25", "CompareCalls, 25", "BytesByFile, 25"})
    void shouldBeShort(String example, int linesMax) throws Exception {
        assertThat(Files.readAllLines(example(example + ".java"))).hasSizeLessThanOrEqualTo(linesMax);
    }

    @Test
    void shouldCountArcs() throws Exception {
        List<String> lines = lines("ArcCounter.java", "gzip", "-kf", input.toString());

        List<Long> expected = new ArrayList<>();
        collected("arcs", "gzip", "-kf", input.toString())
                .get("arcs")
                .forEach(arc -> expected.add(arc.get("count").asLong()));
        expected.sort(Comparator.reverseOrder());
        assertThat(lines)
                .allMatch(line ->
                        line.matches(" *\\d+  \\w+ +(0x\\p{XDigit}+|outside) -> (0x\\p{XDigit}+|outside)  gzip.*"))
                .extracting(ScriptsIT::count)
                .isEqualTo(expected.subList(0, SHOWN));
        assertThat(expected.getFirst()).isGreaterThan(100_000);
    }

    private static long count(String line) {
        return Long.parseLong(line.strip().split(" ")[0]);
    }

    @Test
    void shouldFailIfTooLittleIsCalled() throws Exception {
        JsonNode image = collected("coverage", "gzip", "-kf", input.toString())
                .get("coverage")
                .get("images")
                .get(0);
        String told = "%d of %d functions called"
                .formatted(image.get("called").asInt(), image.get("probed").asInt());

        List<String> lines = lines("Coverage.java", "1", "gzip", "-kf", input.toString());

        assertThat(lines)
                .endsWith(told)
                .hasSize(image.get("probed").asInt() - image.get("called").asInt() + 1);
        assertThat(lines.subList(0, lines.size() - 1)).allMatch(line -> line.startsWith("not called: gzip"));
        assertThat(script(example("Coverage.java"), "100", "gzip", "-kf", input.toString())
                        .status())
                .isOne();
    }

    /// Computes a checksum 1000 times, then 2000 times, then 3000 times, each when it is told to.
    private void startPython() throws Exception {
        assumeTrue(Files.isExecutable(PYTHON), "not tried: there is no " + PYTHON);
        Path program = Files.writeString(directory.resolve("sums.py"), """
                import os, time, zlib
                print("ready", flush=True)
                for step in range(1, 4):
                    while not os.path.exists("go%d" % step):
                        time.sleep(0.01)
                    for call in range(%d * step):
                        zlib.crc32(b"abc")
                    open("done%d" % step, "w").close()
                time.sleep(3600)
                """.replace("range(%d", "range(" + CALLS));
        attached = new ProcessBuilder(PYTHON.toString(), program.toString())
                .directory(directory.toFile())
                .start();
        assertThat(attached.inputReader().readLine()).isEqualTo("ready");
    }

    private void step(int number) throws Exception {
        Files.createFile(directory.resolve("go" + number));
        Dist.await("the program's step", () -> Files.exists(directory.resolve("done" + number)));
    }

    @Test
    void shouldCountCallsBetweenTwoMoments() throws Exception {
        startPython();
        ProcessBuilder builder = new ProcessBuilder(
                Dist.mdl(),
                "script",
                example("CallsBetween.java").toString(),
                Long.toString(attached.pid()),
                "libz.so*!crc32");
        builder.environment().put("XDG_STATE_HOME", directory.resolve("state").toString());
        Process script = builder.redirectErrorStream(true).start();

        assertThat(script.inputReader().readLine()).isEqualTo("Enter begins");
        step(1);
        script.outputWriter().append('\n').flush();
        assertThat(script.inputReader().readLine()).isEqualTo("Enter ends");
        step(2);
        script.outputWriter().append('\n').flush();
        assertThat(script.inputReader().readLine()).isEqualTo("%12d  crc32".formatted(2 * CALLS));

        assertThat(script.inputReader().readLine()).isNull();
        assertThat(script.waitFor()).isZero();
        step(3); // detached
    }

    @Test
    void shouldTellWhichFunctionsAreCalledMoreOften() throws Exception {
        Map<String, Long> fast = Dist.calls(collected("counts", "gzip", "-1kf", input.toString()));
        Map<String, Long> best = Dist.calls(collected("counts", "gzip", "-9kf", input.toString()));

        List<String> lines =
                lines("CompareCalls.java", "gzip", "-1kf", input.toString(), "--", "gzip", "-9kf", input.toString());

        List<String> expected = Stream.concat(fast.keySet().stream(), best.keySet().stream())
                .distinct()
                .sorted()
                .filter(name -> !fast.getOrDefault(name, 0L).equals(best.getOrDefault(name, 0L)))
                .map(name -> "%12d %12d  %s".formatted(fast.getOrDefault(name, 0L), best.getOrDefault(name, 0L), name))
                .toList();
        assertThat(lines).isEqualTo(expected).hasSizeGreaterThan(3);
    }

    @Test
    void shouldMeasureBytesByFile() throws Exception {
        List<String> lines = lines("BytesByFile.java", "gzip", "-kf", input.toString());

        Path real = input.toRealPath();
        assertThat(lines)
                .contains(
                        "%12d  io_bytes@/File%s".formatted(Files.size(input), real),
                        "%12d  io_bytes@/File%s.gz".formatted(Files.size(Path.of(input + ".gz")), real));
    }

    @Test
    void shouldMeasureFromPython() throws Exception {
        assumeTrue(Files.isExecutable(PYTHON), "not tried: there is no " + PYTHON);
        Path client = example("mdl.py");
        assertThat(Files.readAllLines(client)).hasSizeLessThanOrEqualTo(PAGE);
        Map<String, Long> calls = Dist.calls(collected("counts", "gzip", "-kf", input.toString()));

        Dist.Outcome outcome = python(client.toString(), "gzip", "-kf", input.toString());

        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.text().lines().map(ScriptsIT::count).toList())
                .isEqualTo(calls.values().stream()
                        .sorted(Comparator.reverseOrder())
                        .limit(SHOWN)
                        .toList());
    }

    private Dist.Outcome python(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(PYTHON.toString(), "-B"));
        command.addAll(List.of(arguments));
        return Dist.run(
                directory,
                Map.of(
                        "MDL",
                        Dist.mdl(),
                        "PYTHONPATH",
                        example("mdl.py").getParent().toString()),
                command);
    }

    @Test
    void shouldSwitchProbesFromPython() throws Exception {
        startPython();
        Path test = Files.writeString(directory.resolve("switches.py"), """
                import json, os, sys, time
                from mdl import MdlError, Program

                def step(number):
                    open("go%d" % number, "w").close()
                    while not os.path.exists("done%d" % number):
                        time.sleep(0.01)

                with Program.attach(int(sys.argv[1]), "counts", "--include", "libz.so*!crc32") as program:
                    print(len(program.ask("functions")), program.ask("disable", functions="crc32"))
                    step(1)
                    print(program.ask("enable", functions="crc32"))
                    step(2)
                    program.ask("disable", functions="crc32")
                    step(3)
                    print([each["calls"] for each in program.report()["functions"] if each["name"] == "crc32"])
                    try:
                        program.ask("enable", functions="nobody")
                    except MdlError as e:
                        print(e)
                """);

        Dist.Outcome outcome = python(test.toString(), Long.toString(attached.pid()));

        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.text().lines().skip(1)) // what mdl collect says
                .containsExactly(
                        "1 {'functions': 1}",
                        "{'functions': 1}",
                        "[" + 2 * CALLS + "]",
                        "no function with probes is nobody (mdl list functions PID lists functions with probes)");
    }

    private Path write(String name, String body) throws Exception {
        return Files.writeString(directory.resolve(name), "import org.mdlagent.client.*;\n" + body);
    }

    /// The rest of the interface. Closing ends the program.
    @Test
    void shouldMeasureARunningProgram() throws Exception {
        Path program = Dist.compile(directory, "killed", "-finstrument-functions");
        Path output = directory.resolve("output");
        Path kept = directory.resolve("kept");
        Path script = write("Running.java", """
                void main(String[] arguments) throws Exception {
                    String calls = "procedure_calls@/Code/killed.c/work";
                    Measurement measurement = Measurement.latency().option("exact", "on").output(Path.of(arguments[1]));
                    try (Program program = measurement.session(Path.of(arguments[2])).run(arguments[0], arguments[3])) {
                        IO.println(program.isRunning() + " " + program.session().equals(Path.of(arguments[2])));
                        IO.println(program.forceMetric(calls));
                        while (program.snapshot().metric(calls).amount().orElse(0) == 0) {}
                        program.disableMetric(calls);
                        while (program.snapshot().functions("work").getFirst().p50Nanos().isEmpty()) {}
                        IO.println(program.enableMetric("page_faults"));
                        program.define("list mine is string { items { \\"x\\" }; }");
                        Function work = program.snapshot().functions("killed.c:w?rk").getFirst();
                        IO.println(work.name() + " " + work.on() + " " + work.source().line() + " " + (work.calls() > 0));
                        IO.println(work.p50Nanos().getAsLong() <= work.maxNanos().getAsLong());
                        IO.println(program.disable("#work".substring(1)) + " " + program.snapshot().functions("work").getFirst().on());
                        try {
                            program.snapshot().arcs();
                        } catch (MdlException e) {
                            IO.println(e.getMessage());
                        }
                        IO.println(program.pid());
                    }
                }
                """);

        Dist.Outcome outcome = script(
                script,
                program.toString(),
                output.toString(),
                kept.toString(),
                directory.resolve("done").toString());

        assertThat(outcome.status()).as(outcome.err()).isZero();
        List<String> lines = outcome.text().lines().toList();
        assertThat(lines.subList(0, lines.size() - 1))
                .containsExactly(
                        "true true",
                        "[]",
                        "[]",
                        "work true " + line("killed.c", "void work(") + " true",
                        "true",
                        "1 false",
                        "the session has no counts of arcs (measure with Measurement.arcs(); its agent.log may say more)");
        assertThat(ProcessHandle.of(Long.parseLong(lines.getLast()))).isEmpty();
        assertThat(Files.readString(output)).startsWith("ready");
        assertThat(Dist.calls(Dist.report(directory, kept)).get("work")).isPositive();
    }

    private static int line(String file, String text) throws Exception {
        List<String> lines = Files.readAllLines(Path.of("src/test/c", file));
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).contains(text)) {
                return i + 1;
            }
        }
        throw new AssertionError(text);
    }

    /// Of a program that was started with the agent, which stays when the script ends.
    @Test
    void shouldUseTheAgentThatIsThere() throws Exception {
        Path program = Dist.compile(directory, "killed", "-finstrument-functions");
        Path session = directory.resolve("session");
        attached = Dist.start(
                List.of(program.toString(), directory.resolve("done").toString()),
                "collect=counts,wait,session=" + session);
        assertThat(attached.inputReader().readLine()).isEqualTo("ready");
        Path script = write("There.java", """
                void main(String[] arguments) {
                    long pid = Long.parseLong(arguments[0]);
                    try (Program program = Measurement.counts().attach(pid)) {
                        IO.println(program.pid() == pid && program.session().equals(Path.of(arguments[1])));
                        IO.println(program.disable("work"));
                    }
                    Measurement.arcs().attach(pid);
                }
                """);

        Dist.Outcome outcome = script(script, Long.toString(attached.pid()), session.toString());

        assertThat(outcome.status()).isOne();
        assertThat(outcome.text()).isEqualTo("true\n1\n");
        assertThat(outcome.err())
                .contains("MdlException: the agent of process " + attached.pid()
                        + " measures counts (use Measurement.counts(), or start the program again)");
        assertThat(Dist.ask(session, "probes on work")).isEqualTo("ok\n1 function on\n");
    }

    @Test
    void shouldEndProgramsWhenItIsTerminated() throws Exception {
        Path program = Dist.compile(directory, "killed", "-finstrument-functions");
        Path script = write("Endless.java", """
                void main(String[] arguments) {
                    Program program = Measurement.counts().output(Path.of("/dev/null")).run(arguments);
                    IO.println(program.pid());
                    IO.println(program.session());
                    program.waitFor();
                }
                """);
        Process running = new ProcessBuilder(
                        Dist.mdl(),
                        "script",
                        script.toString(),
                        program.toString(),
                        directory.resolve("done").toString())
                .start();
        long pid = Long.parseLong(running.inputReader().readLine());
        runByScript = ProcessHandle.of(pid).orElseThrow();
        Path session = Path.of(running.inputReader().readLine());
        assertThat(session).isDirectory();

        running.destroy();

        assertThat(running.waitFor()).isEqualTo(128 + 15);
        assertThat(runByScript.isAlive()).isFalse();
        assertThat(session).doesNotExist();
    }

    /// Options, too, are the script's. A session in a temporary directory is not left.
    @Test
    void shouldPassArgumentsOnAndLeaveNothing() throws Exception {
        Path script = write("Arguments.java", """
                void main(String[] arguments) {
                    String[] command = Arrays.copyOfRange(arguments, 1, arguments.length);
                    try (Program program = Measurement.counts().run(command)) {
                        IO.println(program.session().toString().startsWith(System.getProperty("java.io.tmpdir")));
                        IO.println(program.waitFor() + " " + program.isRunning() + " " + program.session());
                    }
                }
                """);

        Dist.Outcome outcome = script(script, "--help", "sh", "-c", "echo $#-$1; exit 3", "sh", "-x");

        assertThat(outcome.status()).as(outcome.err()).isZero();
        List<String> lines = outcome.text().lines().sorted().toList(); // the program writes when it likes
        assertThat(lines).hasSize(3).startsWith("1--x").endsWith("true");
        assertThat(lines.get(1)).startsWith("3 false /");
        Path session = Path.of(lines.get(1).split(" ")[2]);
        assertThat(session).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "void main() { Programm p; }|Wrong.java:2: error: cannot find symbol",
                "void main() { Measurement.counts().run(\"./nobody\"); }|mdl: ./nobody cannot be started: No such file or directory",
                "void main() { Measurement.counts().run(\"./nobody\"); }|MdlException: ./nobody ended with status 127 and was not measured (mdl doctor ./nobody explains)",
                "void main() { Measurement.counts().run(\"./nobody\"); }|\tat Wrong.main(Wrong.java:2)",
                "void main() { Measurement.counts().run(); }|MdlException: no program is named (give its command line)",
                "void main() { Measurement.counts().attach(1 << 29); }|MdlException: there is no process 536870912",
                "void main() { Measurement.counts().option(\"for\", \"5\").run(\"true\"); }|for is a duration such as 500ms",
                "void main() { Measurement.counts().run(\"gzip\", \"-V\").snapshot().functions(\"a!\"); }|(as in work*, libz.so*!deflate* or server.c:*)",
                "void main() { Measurement.counts().run(\"gzip\", \"-V\").snapshot().metric(\"m\"); }|the metric m is not enabled (Program.enableMetric starts it)",
                "void main() { Measurement.counts().run(\"gzip\", \"-V\").snapshot().calls(\"m\"); }|no function with probes is m (Measurement.include adds"
            })
    void shouldSayWhatIsWrong(String scriptAndError) throws Exception {
        String[] parts = scriptAndError.split("\\|");

        Dist.Outcome outcome = script(write("Wrong.java", parts[0]));

        assertThat(outcome.status()).isOne();
        assertThat(outcome.err()).contains(parts[1]);
    }

    @Test
    void shouldRefuseWhatIsNoScript() throws Exception {
        assertThat(script(directory.resolve("nobody.java")).err())
                .contains("mdl: there is no script ", "     mdl script FILE.java");
        assertThat(script(input).status()).isEqualTo(2);
    }
}
