package org.mdlagent.profiler.sampled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.Arena;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.shim.Memory;

/// [SampleRuns], with what the recording code does in the place of that: it times a call when no bit of the mask is set
/// in its number plus the phase, as long as there are calls that remain.
class SampleRunsTest {
    private static final int LENGTH = 8;
    private static final int WINDOWS = 200_000;
    private static final int FUNCTION = 1;

    private final SplittableRandom random = new SplittableRandom(1);

    /// What became of the calls of one window.
    private static boolean[] recorded(long record, long firstNumber, int calls) {
        int mask = Memory.getInt(record + FunctionDescriptor.RUN_MASK);
        int phase = Memory.getInt(record + FunctionDescriptor.RUN_PHASE);
        int remaining = Memory.getInt(record + FunctionDescriptor.REMAINING);
        int last = Memory.getInt(record + FunctionDescriptor.RECORDED);
        boolean[] recorded = new boolean[calls];
        for (int i = 0; i < calls; i++) {
            boolean timed = ((int) (firstNumber + i) + phase & mask) == 0 && remaining-- > 0;
            recorded[i] = timed && remaining < last;
        }
        return recorded;
    }

    private static SampleRuns runs() {
        SampleRuns runs = new SampleRuns(LENGTH);
        runs.grow(FUNCTION + 1);
        return runs;
    }

    @Test
    void shouldRecordEachCallOfAWindowEquallyOften() {
        int calls = 100;
        double[] often = new double[calls];
        try (Arena arena = Arena.ofConfined()) {
            long record = arena.allocate(FunctionDescriptor.SIZE, Long.BYTES).address();
            SampleRuns runs = runs();
            for (int window = 0; window < WINDOWS; window++) {
                runs.timeOneRun(FUNCTION, record, calls);
                boolean[] recorded = recorded(record, random.nextLong(1L << 40), calls);
                IntStream.range(0, calls).filter(i -> recorded[i]).forEach(i -> often[i] += 1.0 / WINDOWS);
            }
        }

        // The last 8 of one of 8 runs of 16.
        assertThat(often)
                .containsExactly(
                        IntStream.range(0, calls)
                                .mapToDouble(i -> i < 8 ? 0 : 1 / 16.0)
                                .toArray(),
                        within(0.004));
    }

    @Test
    void shouldSayHowManyCallsThoseStandForThatAreRecorded() {
        for (int calls : new int[] {1, 8, 9, 100, 1000}) {
            double sum = 0;
            try (Arena arena = Arena.ofConfined()) {
                long record =
                        arena.allocate(FunctionDescriptor.SIZE, Long.BYTES).address();
                SampleRuns runs = runs();
                for (int span = 0; span < WINDOWS / 10; span++) {
                    runs.time(FUNCTION, record, calls, 2 * LENGTH);
                    double weight = runs.calls(FUNCTION, calls) / runs.recorded(FUNCTION, calls);
                    for (boolean recorded : recorded(record, random.nextLong(1L << 40), calls)) {
                        sum += recorded ? weight : 0;
                    }
                }
            }

            assertThat(sum / (WINDOWS / 10)).as("%d calls", calls).isEqualTo(calls, within(0.03 * calls));
        }
    }

    @Test
    void shouldRecordAllCallsWhereThereAreFew() {
        try (Arena arena = Arena.ofConfined()) {
            long record = arena.allocate(FunctionDescriptor.SIZE, Long.BYTES).address();
            SampleRuns runs = runs();
            runs.time(FUNCTION, record, 100, 128);

            assertThat(recorded(record, 12345, 256)).doesNotContain(false);
            assertThat(recorded(record, 12345, 257)).endsWith(false);
            assertThat(runs.calls(FUNCTION, 512) / runs.recorded(FUNCTION, 512)).isEqualTo(2);
        }
    }
}
