package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
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

/// TOTAL is of the outermost calls of a function: nested ones are counted as calls, and their time once.
///
/// Times are compared with times of the same readings of the clock, of which one lies within the other: what a busy
/// machine takes from the inner call it takes from the outer one, too.
class RecursionIT {
    /// Of `fib(12)`, 20 times.
    private static final long FIB_CALLS = 20 * 465;

    private static final Path CLANG = Path.of("/usr/bin/clang-14");

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-fpatchable-function-entry=5",
                "-pg -mfentry -mrecord-mcount -mnop-mcount -fno-pic -no-pie",
                "-finstrument-functions",
                "-fxray-instrument -fxray-instruction-threshold=1"
            })
    void shouldKnowTheTimeOfOutermostCalls(String flags) throws Exception {
        check(compiled(flags), "--exact");
    }

    @Test
    void shouldKnowItOfTheFunctionsWhoseCallsAreAllRecorded() throws Exception {
        check(compiled("-fpatchable-function-entry=5"), "--exact=*");
    }

    private Path compiled(String flags) throws Exception {
        if (!flags.startsWith("-fxray")) {
            return Dist.compile(directory, "recursion", flags.split(" "));
        }
        assumeThat(CLANG).as("not run without it").exists();
        Path program = directory.resolve("recursion");
        List<String> command = new ArrayList<>(List.of(CLANG.toString(), "-O2", "-g"));
        command.addAll(List.of(flags.split(" ")));
        command.addAll(List.of(
                "-o",
                program.toString(),
                Path.of("src/test/c/recursion.c").toAbsolutePath().toString()));
        assertThat(Dist.run(directory, Map.of(), command).status()).isZero();
        assertThat(Files.exists(program)).isTrue();
        return program;
    }

    private void check(Path program, String exact) throws Exception {
        Path session = directory.resolve("session");

        Dist.Outcome run = Dist.run(
                directory,
                Map.of(),
                List.of(Dist.mdl(), "run", "--wait", exact, "-o", session.toString(), "--", program.toString()));

        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        JsonNode report = Dist.report(directory, session);
        assertThat(calls(report, "main")).as("its children return from it, too").isEqualTo(1);
        assertThat(calls(report, "fib")).isEqualTo(FIB_CALLS);
        assertThat(calls(report, "even") + calls(report, "odd")).isEqualTo(20 * 51);
        assertThat(calls(report, "leaf")).isEqualTo(23);
        long main = nanos(report, "main", "totalNanos");
        for (String name : List.of("fib", "even", "odd")) {
            assertThat(nanos(report, name, "totalNanos")).as(name).isPositive().isLessThan(main);
            if (exact.equals("--exact")) {
                assertThat(nanos(report, name, "selfNanos"))
                        .as(name)
                        .isLessThanOrEqualTo(nanos(report, name, "totalNanos") + 1);
            }
        }
        assertThat(nanos(report, "odd", "totalNanos")).isLessThan(nanos(report, "even", "totalNanos"));
        // Nested calls are calls: their durations are in the distribution, and TOTAL is less than all of these.
        JsonNode fib = Dist.function(report, "fib");
        assertThat(fib.get("sampled").asLong()).isEqualTo(FIB_CALLS);
        assertThat(fib.get("totalNanos").asLong())
                .isLessThan(FIB_CALLS * fib.get("meanNanos").asLong());
    }

    private static long calls(JsonNode report, String function) {
        return Dist.function(report, function).get("calls").asLong();
    }

    private static long nanos(JsonNode report, String function, String field) {
        return Dist.function(report, function).get(field).asLong();
    }
}
