package org.mdlagent.runtime.cli.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// How often `mdl diff --runs` takes equal builds for different ones, and how often it finds a function that takes 10 %
/// longer. About ten minutes.
@Tag("timing")
class VerdictsIT {
    private static final int EQUAL_PAIRS = 40;
    private static final int SLOWER_PAIRS = 20;
    private static final int SLOWER = 3;

    /// Steps of the function that changes: the program runs for 0.4 s.
    private static final int STEPS = 5000;

    @TempDir
    Path directory;

    private Path build(String name, int steps) throws Exception {
        Path program = Dist.compile(directory, "busy", "-O2", "-DSTEPS=" + steps);
        Path place = Files.createDirectories(directory.resolve(name)).resolve("busy");
        return Files.move(program, place);
    }

    private boolean isFoundSlower(Path before, Path after) throws Exception {
        Dist.Outcome diff = Dist.run(
                directory,
                Map.of(),
                List.of(Dist.mdl(), "diff", "--runs", "5", "--exact", before.toString(), "--", after.toString()));
        assertThat(diff.status()).as(diff.err()).isIn(0, SLOWER);
        return diff.status() == SLOWER;
    }

    @Test
    void shouldFindTenPercentAndRaiseNoAlarmOverEqualBuilds() throws Exception {
        Path first = build("first", STEPS);
        Path same = build("same", STEPS);
        Path slower = build("slower", STEPS + STEPS / 10);
        int alarms = 0;
        int found = 0;
        for (int pair = 0; pair < EQUAL_PAIRS; pair++) {
            alarms += isFoundSlower(first, same) ? 1 : 0;
            if (pair < SLOWER_PAIRS) {
                found += isFoundSlower(first, slower) ? 1 : 0;
            }
        }
        System.out.printf(
                "%d alarms of %d equal pairs, %d of %d slower ones found%n", alarms, EQUAL_PAIRS, found, SLOWER_PAIRS);

        // One comparison of equal builds in a hundred may alarm.
        assertThat(alarms).isLessThanOrEqualTo(2);
        assertThat(found).isGreaterThanOrEqualTo(SLOWER_PAIRS - 1);
    }
}
