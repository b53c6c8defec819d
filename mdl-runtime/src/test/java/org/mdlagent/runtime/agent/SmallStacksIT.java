package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.Dist;

/// What a thread's first call with a probe takes of the program's stack.
class SmallStacksIT {
    private static final int BYTES_MAX = 512;
    private static final Pattern PRINTED = Pattern.compile("(thread|handler) (\\d+)");

    @TempDir
    Path directory;

    /// @param calls that each of the program's 16 threads makes one of; 0 where they may come between slices
    @ParameterizedTest
    @CsvSource({
        "-fpatchable-function-entry=5, 'exact,wait', 16",
        "-finstrument-functions, 'exact,wait', 16",
        "-fpatchable-function-entry=5, wait, 0",
        "-finstrument-functions, wait, 0"
    })
    void shouldTakeLittleOfTheStack(String probes, String options, long calls) throws Exception {
        Path program = Dist.compile(directory, "small_stacks", probes);
        Path session = directory.resolve("session");

        Dist.Outcome outcome =
                Dist.run(directory, Dist.preload(options + ",session=" + session), List.of(program.toString()));

        assertThat(outcome.status()).isZero();
        List<MatchResult> printed = PRINTED.matcher(outcome.text()).results().toList();
        assertThat(printed)
                .hasSize(2)
                .allSatisfy(one -> assertThat(Integer.parseInt(one.group(2)))
                        .as(one.group(1))
                        .isLessThanOrEqualTo(BYTES_MAX));
        if (calls > 0) {
            assertThat(Dist.calls(Dist.report(directory, session))).isEqualTo(Map.of("work", calls));
        }
    }
}
