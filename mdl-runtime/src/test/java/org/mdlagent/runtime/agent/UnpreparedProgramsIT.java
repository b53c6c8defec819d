package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.mdlagent.runtime.Dist;
import org.mdlagent.runtime.ScriptRuns;

/// Programs as Debian ships them, stripped and compiled without probes: they compute what they compute without the
/// agent, with probes in all functions, and while the profiler switches these on and off all the time.
class UnpreparedProgramsIT {
    private static final String EXACT = "wait,exact";

    /// Each function has slices of one call, as often as the agent can open them.
    private static final String STORM = "wait," + ScriptRuns.TOGGLING;

    private static final long SEED = Long.getLong("mdl.switch.seed", 1);

    /// Of addresses of functions, which are multiples of sixteen mostly.
    private static final int ENDS = 16;

    /// What a fifth of the requests are for: all functions.
    private static final int ALL = 4;

    private static final long PAUSE_NANOS = 1_000_000;

    private static final Map<String, String> LIBRARIES =
            Map.of("sqlite3", "libsqlite3", "bzip2", "libbz2", "xz", "liblzma", "openssl", "libcrypto");

    private static final String GCC = "/usr/lib/gcc/x86_64-linux-gnu/12/";

    private static final String TEXT = "text";

    private static final String SQL = """
            create table t(a, b); begin;
            with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
            insert into t select i, 'x' || (i * 7919 % 1000) from n;
            commit;
            select b, count(*), sum(a) from t group by b order by 2 desc, 1 limit 50;
            select count(*) from t a join t b on a.b = b.b;
            """;

    private static final String PYTHON = """
            import json, re, collections
            s = json.dumps([{str(i): [i * j for j in range(20)]} for i in range(3000)])
            print(len(s), len(json.loads(s)), sum(map(len, re.findall('[0-9]+5', s))), sorted(collections.Counter(s).items()))
            """;

    private static final String SOURCE =
            IntStream.range(0, 200).mapToObj(i -> """
                    int f%d(const int *a, int n) {
                      int s = %d;
                      for (int i = 0; i < n; i++) { if (a[i] > s) s += a[i] * %d; else s ^= a[n - i]; }
                      switch (s %% 7) { case 0: return s; case 1: return n; case 5: return s * n; }
                      return s / (n + 1);
                    }
                    """.formatted(i, i, i)).collect(Collectors.joining());

    @TempDir
    Path directory;

    /// @param input the program's standard input, what others read in the file [#TEXT]; empty for none
    private record Program(String name, String input, List<String> command) {
        /// Options for those whose work is done by a library.
        private String libraries() {
            String library = LIBRARIES.get(name);
            return library == null ? "" : ",include=" + name + "*!*,include=" + library + "*!*";
        }

        private static Program of(String name, String... command) {
            return new Program(name, "", List.of(command));
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
                        Program.of("sha256sum", "/usr/bin/sha256sum", "/bin/bash"),
                        new Program("sqlite3", SQL, List.of("/usr/bin/sqlite3", ":memory:")),
                        Program.of("python3", "/usr/bin/python3", "-c", PYTHON),
                        Program.of("openssl", "/usr/bin/openssl", "dgst", "-sha3-512", "/bin/bash", TEXT),
                        Program.of("sed", "/bin/sed", "-E", "s/([0-9]+) line ([0-9]+)/\\2-\\1/; y/abc/xyz/", TEXT),
                        Program.of("grep", "/bin/grep", "-E", "(7[0-9]*3 line|abc1[0-5]$)", TEXT),
                        Program.of("tar", "/bin/tar", "--sort=name", "-cf", "-", "-C", "/usr/share/perl", "."),
                        Program.of("sort", "/usr/bin/sort", "--parallel=2", "-k3,3", "-k1n", TEXT),
                        Program.of("diff", "/usr/bin/diff", "-y", "/etc/passwd", TEXT),
                        Program.of("gdb", "/usr/bin/gdb", "-nx", "-batch", "-ex", "info functions e", "/bin/gzip"),
                        Program.of("objdump", "/usr/bin/objdump", "-d", "/bin/gzip"),
                        Program.of("cmake", "/usr/bin/cmake", "--help-full"),
                        new Program("cc1", SOURCE, List.of(GCC + "cc1", "-quiet", "-O2", "-", "-o", "-")),
                        new Program("cc1plus", SOURCE, List.of(GCC + "cc1plus", "-quiet", "-O2", "-", "-o", "-")),
                        new Program("bc", "scale=400; 4*a(1); e(1)\n", List.of("/usr/bin/bc", "-l"))));
    }

    @BeforeEach
    void writeText() throws IOException {
        Files.write(
                directory.resolve(TEXT),
                IntStream.range(1, 100_000)
                        .mapToObj(i -> i * 7919L % 100_003 + " line " + i + " abc" + i % 17)
                        .toList());
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

    /// Some of libcrypto's are in assembly language, and do not keep to what compilers' functions keep to.
    @Test
    void shouldComputeTheSameInALibraryInAssemblyLanguage() throws Exception {
        Program program = Program.of("openssl", "/usr/bin/openssl", "dgst", "-sha3-512", TEXT);

        assertThat(run(program, EXACT + program.libraries()).get("functions")).hasSizeGreaterThan(1000);
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

    /// By requests to the agent, some functions at a time: all whose addresses end alike, or all.
    @Tag("soak")
    @ParameterizedTest
    @MethodSource("large")
    void shouldComputeTheSameWhileFunctionsAreSwitchedAtRandom(Program program) throws Exception {
        Switcher switcher = new Switcher(directory.resolve("session"));
        Thread thread = Thread.ofVirtual().start(switcher);

        JsonNode report = run(program, EXACT + program.libraries());

        switcher.over = true;
        thread.join();
        System.out.printf(
                "%s: %,d functions, %,d requests, %,d toggles, %,d calls%n",
                program,
                report.get("functions").size(),
                switcher.requests,
                toggles(report),
                Dist.calls(report).values().stream().mapToLong(Long::longValue).sum());
    }

    /// Switches functions on and off as long as there is an agent.
    private static final class Switcher implements Runnable {
        private final Path session;
        private final SplittableRandom random = new SplittableRandom(SEED);
        private volatile boolean over;
        private int requests;

        Switcher(Path session) {
            this.session = session;
        }

        @Override
        public void run() {
            while (!over) {
                int end = random.nextInt(ENDS + ALL);
                String functions = end < ENDS ? "*%x0".formatted(end) : "*";
                try {
                    String unused = Dist.ask(session, "probes " + (random.nextBoolean() ? "on " : "off ") + functions);
                    requests++;
                } catch (IOException e) {
                    // It is not there yet, or has gone.
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            }
        }
    }

    private static long toggles(JsonNode report) {
        return report.at("/overhead/toggles").asLong();
    }

    /// The report of a run whose output, messages and status are those without the agent.
    private JsonNode run(Program program, String options) throws Exception {
        assumeThat(Files.exists(Path.of(program.command.getFirst())))
                .as("not run without it")
                .isTrue();
        Path input = Files.writeString(directory.resolve("input"), program.input);
        Dist.Outcome alone = Dist.run(directory, Map.of(), input, program.command);
        Path session = directory.resolve("session");

        Dist.Outcome under = Dist.run(directory, Dist.preload(options + ",session=" + session), input, program.command);

        assertThat(under.status()).isEqualTo(alone.status());
        assertThat(under.err()).isEqualTo(alone.err());
        assertThat(under.out()).isEqualTo(alone.out());
        return Dist.report(directory, session);
    }
}
