package org.mdlagent.profiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.RowBuckets;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.SlowCallsDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

class SlowCallsTest {
    private static final NativeApi API = NativeApi.ofHarness(Path.of("../native-shim/target/cmake/libmdl_harness.so"));
    private static final int FUNCTIONS = 4;
    private static final double TICKS_PER_NANO = 2;
    private static final int NEVER = -1;
    private static final long MILLI = 1_000_000;

    private final long functions = API.allocate(FUNCTIONS * FunctionDescriptor.SIZE);
    private final long rows = API.allocate(FUNCTIONS * Long.BYTES);

    SlowCallsTest() {
        long thread = API.allocate(ThreadDescriptor.SIZE);
        Memory.putLong(thread + ThreadDescriptor.ROWS, rows);
        Memory.putLong(API.session() + HeaderDescriptor.FUNCTIONS, functions);
        Memory.putInt(API.session() + HeaderDescriptor.FUNCTION_COUNT, 2);
        Memory.putInt(API.session() + HeaderDescriptor.FUNCTION_CAPACITY, FUNCTIONS);
        Memory.putLong(API.session() + HeaderDescriptor.THREADS, thread);
    }

    private static SlowCalls slow(long nanos) {
        SlowCalls calls = new SlowCalls(API, nanos == 0 ? SlowThreshold.OWN : new SlowThreshold(nanos), TICKS_PER_NANO);
        calls.grow();
        return calls;
    }

    private int ring(int function) {
        return Memory.getInt(functions + function * FunctionDescriptor.SIZE + FunctionDescriptor.SLOW);
    }

    private static long table(long field) {
        return Memory.getLong(Memory.getLong(API.session() + HeaderDescriptor.SLOW) + field);
    }

    private static long limit(int function) {
        return Memory.getLong(table(SlowCallsDescriptor.LIMITS) + (long) function * Long.BYTES);
    }

    /// Adds calls of a duration.
    private void add(int function, long count, long ticks) {
        long row = Memory.getLong(rows + (long) function * Long.BYTES);
        if (row == 0) {
            row = API.allocate(RowDescriptor.SIZE);
            Memory.putLong(rows + (long) function * Long.BYTES, row);
        }
        int slot = 0;
        while (RowBuckets.highest(slot) < ticks) {
            slot++;
        }
        long at = row + RowDescriptor.CHUNKS_AT + (long) (slot / RowDescriptor.CHUNK_SLOTS) * Long.BYTES;
        if (Memory.getLong(at) == 0) {
            Memory.putLong(at, API.allocate((long) RowDescriptor.CHUNK_SLOTS * Long.BYTES));
        }
        Memory.putLong(Memory.getLong(at) + (long) (slot % RowDescriptor.CHUNK_SLOTS) * Long.BYTES, count);
    }

    @Test
    void shouldKeepCalleesFromOneSixtyFourthOfTheThresholdOn() {
        SlowCalls unused = slow(64 * MILLI);

        assertThat(ring(0)).isEqualTo((int) (MILLI * TICKS_PER_NANO));
        assertThat(table(SlowCallsDescriptor.THRESHOLD)).isEqualTo((long) (64 * MILLI * TICKS_PER_NANO));
        assertThat(table(SlowCallsDescriptor.READING_TICKS)).isEqualTo((long) (4 * MILLI * TICKS_PER_NANO));
        assertThat(ring(2)).as("of a function that is not there yet").isZero();
    }

    @Test
    void shouldKeepNoCalleesBelowFiftyMicrosecondsAndReadNoClockMoreOftenThanEach200() {
        SlowCalls unused = slow(MILLI);

        assertThat(ring(0)).isEqualTo((int) (50_000 * TICKS_PER_NANO));
        assertThat(table(SlowCallsDescriptor.READING_TICKS)).isEqualTo((long) (200_000 * TICKS_PER_NANO));
    }

    @Test
    void shouldAddFunctionsThatComeLater() {
        SlowCalls calls = slow(64 * MILLI);
        Memory.putInt(API.session() + HeaderDescriptor.FUNCTION_COUNT, 3);

        calls.grow();

        assertThat(ring(2)).isEqualTo((int) (MILLI * TICKS_PER_NANO));
    }

    @Test
    void shouldGiveFunctionsWithEnoughCallsTheirOwnThreshold() {
        SlowCalls calls = slow(0);
        assertThat(ring(0)).isEqualTo(NEVER);
        add(0, 9_850, 1_000);
        add(0, 140, 4 * MILLI);
        add(0, 10, 400 * MILLI);
        add(1, 9_999, 4 * MILLI);

        calls.look();

        assertThat(table(SlowCallsDescriptor.THRESHOLD)).isZero();
        assertThat(limit(0)).as("p99.9").isBetween(4 * MILLI, 5 * MILLI);
        assertThat(ring(0)).as("p99").isBetween((int) (4 * MILLI), (int) (5 * MILLI));
        assertThat(limit(1)).as("too few calls").isZero();
        assertThat(ring(1)).isEqualTo(NEVER);
    }
}
