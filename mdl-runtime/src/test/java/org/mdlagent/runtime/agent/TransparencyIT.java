package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.Dist;
import org.mdlagent.runtime.SessionCleanup;

/// What a program can do that an agent in its process may disturb: status, output and files are those without the
/// agent. The programs are those of native-shim's app.c, built with probes. Each runs with the agent in one of its
/// states, or, with `-Dmdl.transparency=all`, in each of them.
///
/// The table is docs/transparency-table.md. To renew it: `cp mdl-runtime/target/transparency.md
/// docs/transparency-table.md`.
class TransparencyIT {
    private static final Path SOURCES = Path.of("../native-shim/test").toAbsolutePath();
    private static final long TOGGLES_MIN = 20;
    private static final boolean ALL =
            System.getProperty("mdl.transparency", "").equals("all");

    /// How many times a program ends while the agent starts or toggles.
    private static final int EXIT_RUNS = Integer.getInteger("mdl.exit.runs", 30);

    private static final int EXIT_DELAY_MICROS_MAX = 300_000;
    private static final List<String> ENDS = List.of(
            "returns",
            "exits",
            "ends_at_once",
            "ends_quickly",
            "aborts",
            "runs_handlers",
            "exits_in_thread",
            "main_leaves",
            "main_leaves_workers",
            "main_returns_while_workers_run",
            "segv",
            "segv_in_thread",
            "sent_term",
            "is_killed",
            "executes",
            "executes_in_thread",
            "forks_and_exits");

    private static final String STORM = "wait,sliced=*";

    @TempDir
    static Path built;

    @TempDir
    Path directory;

    /// The agent's state while the program runs.
    private enum Phase {
        NOT_STARTED("not started", "startDelayMillis=3600000"),
        STARTING("starting", "startDelayMillis=0"),
        READY("ready", "wait"),
        TOGGLING("toggling", STORM),
        KILLED("killed inside", "wait");

        private final String title;
        private final String options;

        Phase(String title, String options) {
            this.title = title;
            this.options = options;
        }

        /// What the program is told to do first, so that the agent is in this state: app.c.
        List<String> preparation(Path session) {
            return switch (this) {
                case NOT_STARTED, STARTING, READY -> List.of();
                case TOGGLING ->
                    List.of("busy", session.resolve("session.mdl").toString(), Long.toString(HeaderDescriptor.TOGGLES));
                case KILLED -> List.of(built.resolve("crash_thread").toString());
            };
        }
    }

    /// What others can see of a run.
    private record Behaviour(int status, String out, String err, Map<String, String> files) {}

    @BeforeAll
    static void build() throws Exception {
        Dist.compile(built, "crash_thread");
        Path inner = Files.createDirectory(built.resolve("inner"));
        compile(
                "inner.c",
                "-shared",
                "-fPIC",
                "-o",
                inner.resolve("libinner.so").toString());
        compile("outer.c", "-shared", "-fPIC", "-o", "libouter.so", "-Wl,-rpath,$ORIGIN/inner,--enable-new-dtags");
        compile(
                "app.c",
                "-O0",
                "-finstrument-functions",
                "-fexceptions",
                "-pthread",
                "-o",
                "app",
                "libouter.so",
                "-Wl,-rpath,$ORIGIN,--enable-new-dtags");
    }

    private static void compile(String source, String... flags) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                "gcc", "-g", "-w", "-D_GNU_SOURCE", SOURCES.resolve(source).toString()));
        command.addAll(List.of(flags));
        Dist.Outcome outcome = Dist.run(built, Map.of(), command);
        assertThat(outcome.status()).as(outcome.err()).isZero();
    }

    private static List<String> programs() throws Exception {
        return Dist.run(built, Map.of(), List.of("./app")).text().lines().toList();
    }

    private static List<Arguments> programsAndPhases() throws Exception {
        List<Arguments> pairs = new ArrayList<>();
        int next = 0;
        for (String program : programs()) {
            List<Phase> phases = List.of(Phase.values());
            for (Phase phase : ALL ? phases : List.of(phases.get(next++ % phases.size()))) {
                pairs.add(Arguments.of(program, phase));
            }
        }
        return pairs;
    }

    @Test
    void shouldBeWhatTheDocumentsSay() throws Exception {
        StringBuilder text = new StringBuilder("""
                # Transparency

                Rows: what a program does. Columns: the state of the agent meanwhile. `TransparencyIT` (all cells with
                `-Dmdl.transparency=all`) runs the programs of `native-shim/test/app.c` with and without the agent. ●: exit
                status, output, messages and files are equal. *Toggling*: probes are switched some thousand times a second.
                *Killed inside*: the JVM had a fatal error.

                """);
        text.append("| program |");
        for (Phase phase : Phase.values()) {
            text.append(' ').append(phase.title).append(" |");
        }
        text.append("\n|---").append("|:-:".repeat(Phase.values().length)).append("|\n");
        for (String program : programs()) {
            text.append("| ")
                    .append(program.replace('_', ' '))
                    .append(" |")
                    .append(" ● |".repeat(Phase.values().length))
                    .append('\n');
        }
        Path table = Files.writeString(Path.of("target/transparency.md"), text);

        assertThat(table).hasSameTextualContentAs(Path.of("../docs/transparency-table.md"));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("programsAndPhases")
    void shouldBehaveAsWithoutTheAgent(String program, Phase phase) throws Exception {
        List<String> command = command(program, phase.preparation(session()));
        Behaviour alone = run(Map.of(), command);
        assertThat(alone.status).isNotIn(98, 99, 124);

        Behaviour under = run(Dist.preload(phase.options + ",session=" + session()), command);

        assertThat(under).isEqualTo(alone);
        assertPhase(phase);
    }

    private void assertPhase(Phase phase) throws IOException {
        switch (phase) {
            case NOT_STARTED -> assertThat(session()).doesNotExist();
            case STARTING -> {} // it is as far as it has come
            case READY -> assertThat(log()).contains(" armed after ");
            case TOGGLING -> {
                try (SessionReader reader = SessionReader.open(session())) {
                    assertThat(reader.facts().costs().toggles()).isGreaterThan(TOGGLES_MIN);
                }
            }
            case KILLED -> assertThat(log()).contains(" armed after ").contains("the agent has ended");
        }
    }

    @Test
    void shouldNotBeCountedByGoogletest() throws Exception {
        Path test = built.resolve("death_test");
        List<String> command = List.of(
                "g++", SOURCES.resolve("death_test.cc").toString(), "-o", test.toString(), "-lgtest_main", "-lgtest");
        assumeThat(Dist.run(built, Map.of(), command).status())
                .as("not run without googletest")
                .isZero();
        List<String> quietly = List.of(test.toString(), "--gtest_brief=1", "--gtest_print_time=0");
        Behaviour alone = run(Map.of(), quietly);
        assertThat(alone.status).isZero();

        assertThat(run(Dist.preload("wait"), quietly)).isEqualTo(alone);
        assertThat(run(Dist.preload("startDelayMillis=0"), quietly)).isEqualTo(alone);
    }

    @Test
    void shouldEndAsWithoutTheAgentAtAnyMoment() throws Exception {
        SplittableRandom random = new SplittableRandom(5);
        Map<String, Behaviour> alone = new TreeMap<>();
        for (String program : ENDS) {
            alone.put(program, run(Map.of(), command(program, List.of("0"))));
        }
        for (int i = 0; i < EXIT_RUNS; i++) {
            String program = ENDS.get(i % ENDS.size());
            String micros = Integer.toString(random.nextInt(EXIT_DELAY_MICROS_MAX));
            String options = i % 3 == 0 ? STORM : "startDelayMillis=0";

            Behaviour under = run(Dist.preload(options), command(program, List.of(micros)));

            assertThat(under)
                    .as("run %d: %s after %s us with %s", i, program, micros, options)
                    .isEqualTo(alone.get(program));
        }
        System.out.printf("%,d programs ended as without the agent%n", EXIT_RUNS);
    }

    private static List<String> command(String program, List<String> preparation) {
        List<String> command = new ArrayList<>(List.of(built.resolve("app").toString(), program));
        command.addAll(preparation);
        return command;
    }

    /// Runs the program in an empty directory.
    private Behaviour run(Map<String, String> environment, List<String> command) throws Exception {
        forget();
        Path work = Files.createDirectory(directory.resolve("work"));
        List<String> all = new ArrayList<>(List.of(
                "timeout", "-k", "60", Long.toString(Dist.PATIENCE.toSeconds() / 2), "env", "-C", work.toString()));
        environment.forEach((name, value) -> all.add(name + "=" + value));
        all.addAll(command);
        Dist.Outcome outcome = Dist.run(directory, Map.of(), all);
        Map<String, String> files = new TreeMap<>();
        try (Stream<Path> left = Files.list(work)) {
            for (Path file : left.toList()) {
                files.put(file.getFileName().toString(), Files.isRegularFile(file) ? Files.readString(file) : "");
            }
        }
        return new Behaviour(outcome.status(), outcome.text(), outcome.err(), files);
    }

    private Path session() {
        return directory.resolve("session");
    }

    private String log() throws IOException {
        return Files.readString(session().resolve("agent.log"));
    }

    /// Removes what the run before has left, with what its sessions hold of the machine's memory.
    @AfterEach
    void forget() throws Exception {
        SessionCleanup.remove(directory, "work", "session", "state");
    }
}
