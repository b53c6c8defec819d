package org.mdlagent.profiler;

import java.util.Arrays;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.RowBuckets;
import org.mdlagent.arch.layout.SlowCallDescriptor;
import org.mdlagent.arch.layout.SlowCallsDescriptor;
import org.mdlagent.arch.layout.SlowWaitDescriptor;
import org.mdlagent.arch.session.FunctionRecords;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// Has the shim keep slow calls with their callees (`slow_calls.h`): creates the table, and decides from which duration
/// on a function's calls go into its thread's ring, and which of these are slow.
///
/// Used by one thread, the agent's.
final class SlowCalls {
    /// Callees of at least this part of the threshold go into the ring.
    private static final int RING_PART = 64;

    /// They take the slow path of an exit, half a microsecond.
    private static final double RING_NANOS_MIN = 50e3;

    /// The CPU clock is read at this part of the threshold: a system call of 0.3 µs.
    private static final int READING_PART = 16;

    private static final double READING_NANOS_MIN = 200e3;
    private static final double READING_NANOS_OWN = 1e6;

    private static final double OWN_NANOS_MIN = SlowThreshold.NANOS_MIN;

    /// Calls from which on a function has a p99.9.
    private static final long OWN_CALLS_MIN = 10_000;

    /// Interval at which percentiles are computed, as multiple of the last computation's duration: 0.1 % of the time.
    private static final double PAUSE_FACTOR = 1000;

    private static final double PAUSE_NANOS_MIN = 1e9;

    /// In a function's record: no call goes into the ring.
    private static final int NEVER = -1;

    private static final long RING_TICKS_MAX = 0xFFFF_FFFEL;

    private final NativeApi api;
    private final SlowThreshold threshold;
    private final double ticksPerNano;
    private final FunctionRecords functions;
    private final FunctionDurations durations;
    private final long table;
    private long limits;
    private int known;
    private double dueTsc;

    /// @throws IllegalStateException if the session is full
    SlowCalls(NativeApi api, SlowThreshold threshold, double ticksPerNano) {
        this.api = api;
        this.threshold = threshold;
        this.ticksPerNano = ticksPerNano;
        functions = new FunctionRecords(api.session());
        durations = new FunctionDurations(api.session());
        table = checked(api.allocate(SlowCallsDescriptor.SIZE));
        allocate(SlowCallsDescriptor.LOG, SlowCallDescriptor.SLOW_LOG * SlowCallDescriptor.SIZE);
        allocate(SlowCallsDescriptor.WAITS, SlowCallDescriptor.SLOW_WAITS * SlowWaitDescriptor.SIZE);
        double readings = threshold.isOwn()
                ? READING_NANOS_OWN
                : Math.max(READING_NANOS_MIN, (double) threshold.nanos() / READING_PART);
        Memory.putLong(table + SlowCallsDescriptor.READING_TICKS, Math.round(readings * ticksPerNano));
        Memory.putLong(
                table + SlowCallsDescriptor.THRESHOLD,
                threshold.isOwn() ? 0 : Math.round(threshold.nanos() * ticksPerNano));
        Memory.putLongRelease(api.session() + HeaderDescriptor.SLOW, table);
    }

    private long allocate(long field, long bytes) {
        long address = checked(api.allocate(bytes));
        Memory.putLong(table + field, address);
        return address;
    }

    private static long checked(long address) {
        if (address == 0) {
            throw new IllegalStateException("the session has no room for slow calls");
        }
        return address;
    }

    /// There are new functions. Their probes are still off.
    void grow() {
        if (limits == 0) {
            limits = allocate(SlowCallsDescriptor.LIMITS, (long) functions.capacity() * Long.BYTES);
        }
        int count = functions.countAcquire();
        for (; known < count; known++) {
            setRing(known, threshold.isOwn() ? Double.POSITIVE_INFINITY : ringNanos() * ticksPerNano);
        }
    }

    private double ringNanos() {
        return Math.max(RING_NANOS_MIN, (double) threshold.nanos() / RING_PART);
    }

    private void setRing(int function, double ticks) {
        Memory.putInt(
                functions.address(function) + FunctionDescriptor.SLOW,
                ticks == Double.POSITIVE_INFINITY ? NEVER : (int) Math.min(RING_TICKS_MAX, Math.round(ticks)));
    }

    /// Renews each function's own threshold, when that is due.
    void look() {
        if (!threshold.isOwn() || api.tsc() < dueTsc) {
            return;
        }
        long begin = api.threadNanos();
        long[] slots = new long[RowBuckets.SLOTS];
        for (int function = 0; function < known; function++) {
            Arrays.fill(slots, 0);
            durations.add(function, slots);
            if (FunctionDurations.calls(slots) >= OWN_CALLS_MIN) {
                double limit = Math.max(OWN_NANOS_MIN * ticksPerNano, FunctionDurations.ticks(slots, 0.001));
                setRing(function, Math.max(RING_NANOS_MIN * ticksPerNano, FunctionDurations.ticks(slots, 0.01)));
                Memory.putLong(limits + (long) function * Long.BYTES, Math.round(limit));
            }
        }
        double pause = Math.max(PAUSE_NANOS_MIN, PAUSE_FACTOR * (api.threadNanos() - begin));
        dueTsc = api.tsc() + pause * ticksPerNano;
    }
}
