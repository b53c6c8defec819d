package org.mdlagent.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A signal handler may come at any instruction of a stub or of the recording code, and run probed functions itself.
/// The
/// program delivers one at every instruction, one after the other, so that nothing is left to chance.
///
/// A handler that runs between the reading of the clock and the sum of what callees have taken must not make a
/// function's
/// own time negative: its own takes longer than all that is stepped through, so one wrong order shows.
class HandlersIT {
    private static final String LONG = "20000000";
    private static final String SHORT = "100000";
    private static final Pattern PRINTED = Pattern.compile("instructions (\\d+) wrong (\\d+) jumps (\\d+)\n");

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({
        "-finstrument-functions, returns, warm, 1, " + LONG,
        "-fpatchable-function-entry=5, returns, warm, 1, " + LONG,
        "-finstrument-functions, leaves, warm, 1, " + SHORT,
        "-fpatchable-function-entry=5, leaves, warm, 1, " + SHORT
    })
    void shouldRecordAsIfNothingHadComeBetween(String probes, String ends, String call, String stride, String ticks)
            throws Exception {
        record("exact", probes, ends, call, stride, ticks);
    }

    /// Every second call is timed on average, so that handlers come into each path, and meet their own.
    @ParameterizedTest
    @CsvSource({
        "-finstrument-functions, returns",
        "-fpatchable-function-entry=5, returns",
        "-finstrument-functions, leaves",
        "-fpatchable-function-entry=5, leaves"
    })
    void shouldCountAsIfNothingHadComeBetween(String probes, String ends) throws Exception {
        record("counted=*,countedMean=2", probes, ends, "warm", "1", SHORT);
    }

    /// Thousands of instructions each, with a thread of its own for each round.
    @Tag("soak")
    @ParameterizedTest
    @CsvSource({
        "-finstrument-functions, returns, first, 61, " + SHORT,
        "-fpatchable-function-entry=5, returns, first, 61, " + SHORT
    })
    void shouldRecordFirstCallsOfThreadsSo(String probes, String ends, String call, String stride, String ticks)
            throws Exception {
        record("exact", probes, ends, call, stride, ticks);
    }

    private void record(String tier, String probes, String ends, String call, String stride, String ticks)
            throws Exception {
        Path program = Dist.compile(directory, "every_instruction", "-mno-red-zone", probes);
        Path session = directory.resolve("session");
        Map<String, String> environment = new HashMap<>(Dist.preload("wait," + tier + ",session=" + session));
        environment.put("COUNTS", "counts");

        Dist.Outcome run = Dist.run(directory, environment, List.of(program.toString(), ends, ticks, call, stride));

        assertThat(run.err()).isEmpty();
        Matcher printed = PRINTED.matcher(run.text());
        assertThat(printed.matches()).as(run.text()).isTrue();
        assertThat(Long.parseLong(printed.group(1))).as("instructions").isGreaterThan(100);
        assertThat(printed.group(2)).as("wrong").isEqualTo("0");
        // A negative sum of own times is refused as damage here.
        JsonNode report = Dist.report(directory, session);
        Map<String, Long> reported = new TreeMap<>(Dist.calls(report));
        Map<String, Long> counted = counts();
        if (ends.equals("leaves")) {
            // A call that is left in its probe is counted there, and has not come to its own count.
            for (String stepped : List.of("outer", "inner")) {
                assertThat(reported.remove(stepped)).isGreaterThanOrEqualTo(counted.remove(stepped));
            }
            assertThat(Long.parseLong(printed.group(3))).isGreaterThan(100);
        } else {
            assertThat(report.get("unmatched").asLong()).isZero();
        }
        assertThat(reported).containsExactlyInAnyOrderEntriesOf(counted);
        for (JsonNode function : report.get("functions")) {
            if (function.has("selfNanos")) {
                assertThat(function.get("selfNanos").asDouble())
                        .as(function.toString())
                        .isBetween(0.0, function.get("totalNanos").asDouble());
            }
        }
    }

    private Map<String, Long> counts() throws Exception {
        Map<String, Long> counts = new TreeMap<>();
        for (String line : Files.readAllLines(directory.resolve("counts"))) {
            String[] fields = line.split(" ", 2);
            counts.merge(fields[1], Long.parseLong(fields[0]), Long::sum);
        }
        return counts;
    }
}
