package org.mdlagent.runtime.cli.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// Sample profiles of block counts, as clang 14 reads them. How often each line of the program runs is known.
class LlvmSampleIT {
    private static final String CLANG = "clang-14";
    private static final String PROFDATA = "llvm-profdata-14";
    private static final Path SOURCE = Path.of("src/test/c/sampled_lines.c").toAbsolutePath();

    @TempDir
    Path directory;

    private Dist.Outcome run(String... command) throws Exception {
        return Dist.run(directory, Map.of(), List.of(command));
    }

    private Path profile(String... flags) throws Exception {
        Path program = directory.resolve("sampled_lines");
        Path session = directory.resolve("session");
        Path profile = directory.resolve("app.prof");
        List<String> compile =
                new ArrayList<>(List.of(CLANG, "-Wl,--build-id", "-o", program.toString(), SOURCE.toString()));
        compile.addAll(List.of(flags));
        assertThat(Dist.run(directory, Map.of(), compile).status()).isZero();
        Dist.Outcome outcome = run(
                Dist.mdl(),
                "collect",
                "blocks",
                "--report=llvm-sample:" + profile,
                "-o",
                session.toString(),
                "--",
                program.toString(),
                "10");
        assertThat(outcome.err()).contains(profile.toString());
        return profile;
    }

    @ParameterizedTest
    @ValueSource(strings = {"-gdwarf-4", "-gdwarf-5"})
    void shouldTellClangHowOftenEachLineRan(String debug) throws Exception {
        assumeThat(Dist.works(CLANG, "--version")).isTrue();
        assumeThat(Dist.works(PROFDATA, "--help")).isTrue();
        Path profile = profile("-O1", debug);

        assertThat(run(PROFDATA, "show", "--sample", profile.toString()).text())
                .contains("Function: sum: ")
                .containsPattern("(?s)2: inlined callee: weigh: .*1: 30000.*2: 10000.*4: 20000");
        // Counts get one more, so that none is 0.
        Dist.Outcome used = run(
                CLANG,
                "-O2",
                "-g",
                "-S",
                "-emit-llvm",
                "-fprofile-sample-use=" + profile,
                "-o",
                "-",
                SOURCE.toString());
        assertThat(used.err()).isEmpty();
        assertThat(used.text())
                .contains("!{!\"function_entry_count\", i64 11}")
                .contains("!{!\"branch_weights\", i32 10001, i32 20001}");
    }

    @Test
    void shouldSayWhatIsMissing() throws Exception {
        assumeThat(Dist.works(CLANG, "--version")).isTrue();
        Path program = directory.resolve("sampled_lines");
        assertThat(run(CLANG, "-O1", "-Wl,--build-id", "-o", program.toString(), SOURCE.toString())
                        .status())
                .isZero();
        Path blocks = directory.resolve("blocks");
        Path counts = directory.resolve("counts");
        run(Dist.mdl(), "collect", "blocks", "-o", blocks.toString(), "--", program.toString(), "1");
        run(Dist.mdl(), "collect", "counts", "-o", counts.toString(), "--", program.toString(), "1");

        assertThat(run(Dist.mdl(), "report", "--format", "llvm-sample", blocks.toString())
                        .err())
                .contains("has no debug information")
                .contains("compile with -g");
        assertThat(run(Dist.mdl(), "report", "--format", "llvm-sample", counts.toString())
                        .err())
                .contains("record with mdl collect blocks");
        assertThat(Files.exists(program)).isTrue();
    }
}
