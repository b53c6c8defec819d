package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.Dist;
import org.mdlagent.runtime.ScriptRuns;

/// The test suites of programs, run with these as Debian ships them, stripped and compiled without probes: each test
/// ends and prints under toggling probes as it does without the agent.
///
/// A suite's scripts and tools have no agent, only the program that it tests: a script in `src/test/suites` puts
/// `LD_PRELOAD=$AGENT` before it.
@Tag("soak")
class ProgramSuitesIT {
    private static final Path SUITES = Path.of("src/test/suites").toAbsolutePath();

    private static final String OPTIONS = "wait,children=none," + ScriptRuns.TOGGLING;

    /// Lines of outputs that differ.
    private static final int SHOWN = 20;

    private ScriptRuns runs;

    @BeforeEach
    void begin(@TempDir Path directory) {
        runs = new ScriptRuns(directory);
    }

    /// A script in `src/test/suites`.
    ///
    /// @param sources that have the suite, by their name in Debian; empty for a suite that is installed
    /// @param library whose functions are toggled, too, as they do the program's work; empty for none
    /// @param needed  paths of the program and of what the suite needs besides
    /// @param verdict matches the lines that tell how a test has ended
    private record Suite(String name, String sources, String library, List<String> needed, String verdict) {
        /// With the options for a program whose work is done by a library.
        private String options() {
            return library.isEmpty() ? OPTIONS : OPTIONS + ",include=" + name + "*!*,include=" + library + "*!*";
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static Stream<Suite> suites() {
        return Stream.of(
                new Suite(
                        "python",
                        "",
                        "",
                        List.of("/usr/bin/python3.11", "/usr/lib/python3.11/test/test_json"),
                        ".* \\.\\.\\. .*"),
                new Suite("tclsh", "tcl8.6", "libtcl8.6", List.of("/usr/bin/tclsh8.6"), "(\\+\\+\\+\\+|====) .*"),
                new Suite("perl", "perl", "", List.of("/usr/bin/perl"), "(not )?ok .*"),
                new Suite("gawk", "gawk", "", List.of("/usr/bin/gawk"), "status .*"),
                new Suite("bc", "bc", "", List.of("/usr/bin/bc"), "status .*"),
                new Suite("m4", "m4", "", List.of("/usr/bin/m4"), "Checking .*"),
                new Suite("xz", "xz-utils", "liblzma", List.of("/usr/bin/xz"), "status .*"),
                new Suite("redis", "redis", "", List.of("/usr/bin/redis-server", "/usr/bin/tclsh8.6"), "\\[ok\\].*"),
                new Suite(
                        "postgres",
                        "postgresql-15",
                        "",
                        List.of(
                                "/usr/lib/postgresql/15/bin/postgres",
                                "/usr/lib/postgresql/15/lib/pgxs/src/test/regress/pg_regress"),
                        ".* \\.\\.\\. (ok|FAILED).*"));
    }

    @ParameterizedTest
    @MethodSource("suites")
    void shouldEndAsWithoutTheAgent(Suite suite) throws Exception {
        assumeThat(suite.needed.stream().filter(file -> !Files.exists(Path.of(file))))
                .as("not run without these")
                .isEmpty();
        String sources =
                suite.sources.isEmpty() ? "" : Dist.sources(suite.sources).toString();
        Dist.Outcome alone = run(suite, sources, "");
        long verdicts =
                alone.text().lines().filter(line -> line.matches(suite.verdict)).count();
        assertThat(verdicts).as(alone.text() + alone.err()).isPositive();
        assertThat(runs.sessions()).isEmpty();

        Dist.Outcome under = run(suite, sources, Dist.shim().toString());

        assertSame(under.text(), alone.text());
        assertSame(under.err(), alone.err());
        assertThat(under.status()).isEqualTo(alone.status());
        Counts counts = counts();
        System.out.printf(
                "%s: %,d verdicts in %,d lines, %,d programs and %,d processes with an agent, %,d toggles, %,d calls%n",
                suite,
                verdicts,
                alone.text().lines().count(),
                counts.programs,
                counts.processes,
                counts.toggles,
                counts.calls);
        assertThat(counts.programs).isPositive();
        assertThat(counts.toggles).isPositive();
        assertThat(counts.calls).isPositive();
    }

    /// Of many lines shows those from the first that differs.
    private static void assertSame(String under, String alone) {
        List<String> actual = under.lines().toList();
        List<String> expected = alone.lines().toList();
        int same = 0;
        while (same < Math.min(actual.size(), expected.size())
                && actual.get(same).equals(expected.get(same))) {
            same++;
        }
        assertThat(actual.stream().skip(same).limit(SHOWN))
                .as("lines %d, ...", same + 1)
                .isEqualTo(expected.stream().skip(same).limit(SHOWN).toList());
    }

    /// Sums over the sessions of a suite.
    private record Counts(int programs, long processes, long toggles, long calls) {}

    private Counts counts() throws IOException {
        int programs = 0;
        long processes = 0;
        long toggles = 0;
        long calls = 0;
        for (Path session : runs.sessions()) {
            Path log = session.resolve("agent.log");
            // One that is killed while it waits has no log yet.
            if (!Files.exists(log)) {
                continue;
            }
            assertThat(log).content().contains(" armed after ").doesNotContain("the agent has ended");
            try (SessionReader reader = SessionReader.open(session)) {
                Profile profile = reader.profile();
                programs++;
                processes += profile.family().size();
                toggles += profile.session().costs().toggles();
                calls += profile.functions().stream()
                        .mapToLong(FunctionProfile::calls)
                        .sum();
            }
        }
        return new Counts(programs, processes, toggles, calls);
    }

    /// @param agent the library to preload, empty for none
    private Dist.Outcome run(Suite suite, String sources, String agent) throws Exception {
        return runs.run(
                Dist.PATIENCE.minusMinutes(1),
                Map.of("SOURCES", sources, "AGENT", agent, "MDL_OPTIONS", suite.options()),
                List.of("bash", SUITES.resolve(suite.name + ".sh").toString()));
    }

    @AfterEach
    void forget() throws Exception {
        runs.forget();
    }
}
