package org.mdlagent.profiler.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SlowCallsDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

class StuckThreadsTest {
    private static final NativeApi API = NativeApi.ofHarness(Path.of("../native-shim/target/cmake/libmdl_harness.so"));
    private static final int LIVE = ThreadDescriptor.STATE_LIVE;
    private static final double TICKS_PER_NANO = 2;
    private static final long THRESHOLD_NANOS = 10_000_000;

    /// Half of the threshold.
    private static final long INTERVAL_NANOS = 5_000_000;

    private final long table = API.allocate(SlowCallsDescriptor.SIZE);
    private final List<Integer> looked = new ArrayList<>();
    private long nanos = 1_000_000_000;
    private long cpuNanos;
    private long nanosOfALook;

    StuckThreadsTest() {
        Memory.putLong(API.session() + HeaderDescriptor.SLOW, table);
        Memory.putLong(API.session() + HeaderDescriptor.THREADS, 0);
        Memory.putLong(table + SlowCallsDescriptor.THRESHOLD, (long) (THRESHOLD_NANOS * TICKS_PER_NANO));
    }

    private StuckThreads threads() {
        return new StuckThreads(API.session(), TICKS_PER_NANO, () -> tsc(nanos), () -> cpuNanos);
    }

    private static long tsc(long nanos) {
        return (long) (nanos * TICKS_PER_NANO);
    }

    /// @param agoNanos since its last call began
    private long thread(int tid, int state, long agoNanos) {
        long thread = API.allocate(ThreadDescriptor.SIZE);
        Memory.putInt(thread + ThreadDescriptor.TID, tid);
        Memory.putInt(thread + ThreadDescriptor.STATE, state);
        Memory.putLong(thread + ThreadDescriptor.CPU_DUE, tsc(nanos - agoNanos));
        Memory.putLong(thread + ThreadDescriptor.NEXT, Memory.getLong(API.session() + HeaderDescriptor.THREADS));
        Memory.putLong(API.session() + HeaderDescriptor.THREADS, thread);
        return thread;
    }

    private double look(StuckThreads threads) {
        return threads.look((tid, pid) -> {
            looked.add(tid);
            cpuNanos += nanosOfALook;
        });
    }

    @Test
    void shouldLookAtLiveThreadsThatHaveBegunNoCallForHalfOfTheThreshold() {
        thread(1, LIVE, INTERVAL_NANOS + 1000);
        thread(2, LIVE, INTERVAL_NANOS - 1000);
        thread(3, ThreadDescriptor.STATE_FREE, INTERVAL_NANOS + 1000);
        long neverCalled = thread(4, LIVE, 0);
        Memory.putLong(neverCalled + ThreadDescriptor.CPU_DUE, 0);

        look(threads());

        assertThat(looked).containsExactly(1);
    }

    @Test
    void shouldWaitForHalfOfTheThresholdBetweenLooks() {
        thread(1, LIVE, THRESHOLD_NANOS);
        StuckThreads threads = threads();

        assertThat(look(threads)).isEqualTo(INTERVAL_NANOS);
        nanos += INTERVAL_NANOS - 1000;
        assertThat(look(threads)).isEqualTo(1000);
        assertThat(looked).containsExactly(1);
        nanos += 1000;
        look(threads);
        assertThat(looked).containsExactly(1, 1);
    }

    @Test
    void shouldLookThreeTimesUntilTheThreadBeginsACallAgain() {
        long thread = thread(1, LIVE, THRESHOLD_NANOS);
        StuckThreads threads = threads();

        for (int i = 0; i < 5; i++, nanos += INTERVAL_NANOS) {
            look(threads);
        }
        assertThat(looked).containsExactly(1, 1, 1);

        Memory.putLong(thread + ThreadDescriptor.CPU_DUE, tsc(nanos - INTERVAL_NANOS - 1000));
        look(threads);
        assertThat(looked).containsExactly(1, 1, 1, 1);
    }

    @Test
    void shouldSpendOneTwoHundredthOfTheTime() {
        nanosOfALook = 1_000_000;
        thread(1, LIVE, THRESHOLD_NANOS);

        assertThat(look(threads())).isEqualTo(200e6);
    }

    @Test
    void shouldLookEachFiveMillisecondsWhereFunctionsHaveTheirOwnThresholds() {
        Memory.putLong(table + SlowCallsDescriptor.THRESHOLD, 0);

        assertThat(look(threads())).isEqualTo(5e6);
    }
}
