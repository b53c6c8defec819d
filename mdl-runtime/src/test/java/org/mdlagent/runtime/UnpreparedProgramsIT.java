package org.mdlagent.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Programs as Debian ships them, stripped and compiled without probes: they compute what they compute without the
/// agent,
/// with probes in all functions, and while the profiler switches these on and off all the time.
class UnpreparedProgramsIT {
    private static final String EXACT = "wait,exact";

    /// Each function has windows of one call, as often as the agent can open them.
    private static final String STORM = "wait,windowed=*,sampleSize=1,epochMillis=2,budgetPercent=100";

    @TempDir
    Path directory;

    private record Program(String name, List<String> command) {
        private static Program of(String name, String... command) {
            return new Program(name, List.of(command));
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static Stream<Program> small() {
        return programs(10_000);
    }

    private static Stream<Program> large() {
        return Stream.concat(
                programs(2_000_000),
                Stream.of(
                        Program.of("xz", "/usr/bin/xz", "-T1", "-c", "/bin/bash"),
                        Program.of("bzip2", "/bin/bzip2", "-c", "/bin/bash"),
                        Program.of("zstd", "/usr/bin/zstd", "-T2", "-19", "-c", "/bin/bash"),
                        Program.of(
                                "git",
                                "/usr/bin/git",
                                "-C",
                                Dist.root().toString(),
                                "log",
                                "--stat",
                                "--oneline",
                                "-200"),
                        Program.of("find", "/usr/bin/find", "/usr/share", "-name", "*.so*"),
                        Program.of("sha256sum", "/usr/bin/sha256sum", "/bin/bash")));
    }

    private static Stream<Program> programs(int loops) {
        return Stream.of(
                Program.of(
                        "bash",
                        "/bin/bash",
                        "-c",
                        "for ((i = 0; i < " + loops / 10 + "; i++)); do x=$((x + i)); y=${x:0:3}; done; echo $x $y"),
                Program.of(
                        "perl",
                        "/usr/bin/perl",
                        "-e",
                        "for (1.." + loops + ") { $x .= chr(65 + $_ % 26); $h{$_ % 1000}++ } print length $x, $h{7}"),
                Program.of(
                        "awk",
                        "/usr/bin/awk",
                        "BEGIN { for (i = 0; i < " + loops + "; i++) s += length(sprintf(\"%d\", i)); print s }"),
                Program.of("gzip", "/bin/gzip", "-c", "/bin/bash"));
    }

    @ParameterizedTest
    @MethodSource("small")
    void shouldComputeTheSameWithEveryCallRecorded(Program program) throws Exception {
        assertThat(run(program, EXACT).get("functions")).isNotEmpty();
    }

    @ParameterizedTest
    @MethodSource("small")
    void shouldComputeTheSameWhileProbesToggle(Program program) throws Exception {
        assertThat(toggles(run(program, STORM))).isPositive();
    }

    @Tag("soak")
    @ParameterizedTest
    @MethodSource("large")
    void shouldComputeTheSameWhileProbesToggleLong(Program program) throws Exception {
        JsonNode report = run(program, STORM);

        System.out.printf(
                "%s: %,d functions, %,d toggles%n",
                program, report.get("functions").size(), toggles(report));
    }

    private static long toggles(JsonNode report) {
        return report.at("/overhead/toggles").asLong();
    }

    /// The report of a run whose output, messages and status are those without the agent.
    private JsonNode run(Program program, String options) throws Exception {
        assumeThat(Files.exists(Path.of(program.command.getFirst())))
                .as("not run without it")
                .isTrue();
        Dist.Outcome alone = Dist.run(directory, Map.of(), program.command);
        Path session = directory.resolve("session");

        Dist.Outcome under = Dist.run(directory, Dist.preload(options + ",session=" + session), program.command);

        assertThat(under.status()).isEqualTo(alone.status());
        assertThat(under.err()).isEqualTo(alone.err());
        assertThat(under.out()).isEqualTo(alone.out());
        return Dist.report(directory, session);
    }
}
