package org.mdlagent.fastinst.snippet;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.LongSummaryStatistics;
import java.util.Set;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.MetricDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.snippet.Statement;
import org.mdlagent.arch.snippet.Statement.Clock;

/// Counters, flags and timers that snippets write: each thread has its own, in the session file, where they
/// outlive the thread and the process. They start at 0. Used by one thread, the agent's.
public final class Values {
    private final NativeApi api;
    private final GracePeriod gracePeriod;
    private final long header;
    private final BitSet taken = new BitSet(ValueDescriptor.VALUES);
    private final int[] references = new int[ValueDescriptor.VALUES];

    /// Address of an array with the kind of each value, a byte each.
    private long kinds;

    Values(NativeApi api, GracePeriod gracePeriod) {
        this.api = api;
        this.gracePeriod = gracePeriod;
        header = api.session();
        taken.set(ValueDescriptor.DEPTH);
        taken.set(ValueDescriptor.COST);
    }

    /// A new counter, with one reference.
    ///
    /// @return its index
    /// @throws IllegalStateException when all values are taken, or the session is full
    public int counter() {
        return take(1, ValueDescriptor.KIND_COUNTER);
    }

    /// New consecutive counters, each with one reference.
    ///
    /// @return index of the first; 0 when there is no contiguous room
    /// @throws IllegalStateException when the session is full
    public int counters(int count) {
        return takeAll(count, 1, ValueDescriptor.KIND_COUNTER);
    }

    /// A new flag, for constraints: a counter that is reset to 0 when its thread ends.
    ///
    /// @return its index
    /// @throws IllegalStateException when all values are in use, or the session is full
    public int flag() {
        return take(1, ValueDescriptor.KIND_FLAG);
    }

    /// A new timer, which stops when its thread ends.
    ///
    /// @return index of the first of its values
    /// @throws IllegalStateException when all values are in use, or the session is full
    public int timer(Clock clock) {
        return take(ValueDescriptor.TIMER_SIZE, kind(clock));
    }

    /// New consecutive timers, each with one reference.
    ///
    /// @return index of the first value of the first timer; 0 when there is no contiguous room
    /// @throws IllegalStateException when the session is full
    public int timers(Clock clock, int count) {
        return takeAll(count, ValueDescriptor.TIMER_SIZE, kind(clock));
    }

    private static int kind(Clock clock) {
        return switch (clock) {
            case WALL -> ValueDescriptor.KIND_WALL_TIMER;
            case THREAD_CPU -> ValueDescriptor.KIND_PROCESS_TIMER;
        };
    }

    /// Adds a reference to a value.
    public void retain(int value) {
        require(value);
        references[value]++;
    }

    /// Drops a reference to a value, whose user has detached its snippets. After the last one, the value is
    /// freed as soon as no thread can write it.
    public void release(int value) {
        require(value);
        if (--references[value] == 0) {
            gracePeriod.retire(() -> free(value));
        }
    }

    /// Takes the numbers that threads have added to a table since the last call ([Statement.Discover]).
    public Set<Long> takeDiscovered(int table) {
        require(table);
        Set<Long> found = new HashSet<>();
        for (long thread = first(); thread != 0; thread = next(thread)) {
            long values = Memory.getLongAcquire(thread + ThreadDescriptor.VALUES);
            for (int i = table; values != 0 && i < table + Statement.Discover.SIZE; i++) {
                long number = word(values, i);
                if (number != 0) {
                    found.add(number);
                    Memory.putLong(values + (long) i * Long.BYTES, 0); // threads store only where there is a 0
                }
            }
        }
        return found;
    }

    /// The values of a counter or flag in each thread that has run snippets, ended threads included.
    public long[] ofThreads(int value) {
        require(value);
        long[] found = new long[Memory.getInt(header + HeaderDescriptor.THREAD_COUNT)];
        int count = 0;
        for (long thread = first(); thread != 0 && count < found.length; thread = next(thread)) {
            long values = Memory.getLongAcquire(thread + ThreadDescriptor.VALUES);
            if (values != 0) {
                found[count++] = word(values, value);
            }
        }
        return Arrays.copyOf(found, count);
    }

    /// A counter, summed over all threads.
    public long sum(int counter) {
        return Arrays.stream(ofThreads(counter)).sum();
    }

    /// A timer, summed over all threads, running intervals included: ticks of the time-stamp counter, or
    /// nanoseconds.
    public long total(int timer) {
        require(timer);
        api.programCpuNanos(); // renews the CPU time of each thread
        return Math.round(combined(timer, MetricDescriptor.COMBINE_SUM, 0, 0));
    }

    /// The value of a counter or timer, in counts, ticks or nanoseconds, combined over threads as readers of
    /// the session do. Running CPU time is included up to the last [NativeApi#programCpuNanos].
    ///
    /// @param combine one of `MetricDescriptor.COMBINE_`
    /// @param pid     process to include, 0 for all
    /// @param tid     thread to include, 0 for all
    double combined(int value, int combine, int pid, int tid) {
        LongSummaryStatistics found = new LongSummaryStatistics();
        for (long thread = first(); thread != 0; thread = next(thread)) {
            long values = Memory.getLongAcquire(thread + ThreadDescriptor.VALUES);
            if (values != 0
                    && (pid == 0 || pid == Memory.getInt(thread + ThreadDescriptor.PID))
                    && (tid == 0 || tid == Memory.getInt(thread + ThreadDescriptor.TID))) {
                found.accept(measured(thread, values, value));
            }
        }
        if (found.getCount() == 0) {
            return 0;
        }
        return switch (combine) {
            case MetricDescriptor.COMBINE_MIN -> found.getMin();
            case MetricDescriptor.COMBINE_MAX -> found.getMax();
            case MetricDescriptor.COMBINE_AVERAGE -> found.getAverage();
            default -> found.getSum();
        };
    }

    private long measured(long thread, long values, int value) {
        return switch (Memory.getByte(kinds + value)) {
            case ValueDescriptor.KIND_WALL_TIMER -> timed(values, value, api.tsc());
            case ValueDescriptor.KIND_PROCESS_TIMER ->
                timed(values, value, Memory.getLong(thread + ThreadDescriptor.CPU_NANOS));
            default -> word(values, value);
        };
    }

    private static long timed(long values, int timer, long now) {
        boolean runs = word(values, timer + ValueDescriptor.TIMER_NESTING) != 0;
        long running = runs ? now - word(values, timer + ValueDescriptor.TIMER_START) : 0;
        return word(values, timer + ValueDescriptor.TIMER_TOTAL) + Math.max(0, running);
    }

    private int take(int size, int kind) {
        int value = takeAll(1, size, kind);
        if (value == 0) {
            throw new IllegalStateException("all " + ValueDescriptor.VALUES + " values of snippets are taken");
        }
        return value;
    }

    private int takeAll(int count, int size, int kind) {
        int length = count * size;
        int first = taken.nextClearBit(0);
        while (taken.nextSetBit(first) >= 0 && taken.nextSetBit(first) < first + length) {
            first = taken.nextClearBit(taken.nextSetBit(first));
        }
        if (first + length > ValueDescriptor.VALUES) {
            return 0;
        }
        for (int value = first; value < first + length; value += size) {
            setKind(value, kind);
            references[value] = 1;
        }
        taken.set(first, first + length);
        return first;
    }

    private void free(int value) {
        int kind = Memory.getByte(kinds + value);
        boolean timer = kind == ValueDescriptor.KIND_WALL_TIMER || kind == ValueDescriptor.KIND_PROCESS_TIMER;
        int end = value + (timer ? ValueDescriptor.TIMER_SIZE : 1);
        setKind(value, ValueDescriptor.KIND_NONE);
        for (long thread = first(); thread != 0; thread = next(thread)) {
            long values = Memory.getLongAcquire(thread + ThreadDescriptor.VALUES);
            for (int i = value; values != 0 && i < end; i++) {
                Memory.putLong(values + (long) i * Long.BYTES, 0);
            }
        }
        taken.clear(value, end);
    }

    private void setKind(int value, int kind) {
        if (kinds == 0) {
            kinds = api.allocate(ValueDescriptor.VALUES);
            if (kinds == 0) {
                throw new IllegalStateException("the session file cannot grow");
            }
            Memory.putLongRelease(header + HeaderDescriptor.VALUE_KINDS, kinds);
        }
        Memory.putByte(kinds + value, (byte) kind);
    }

    private void require(int value) {
        if (value < 0 || value >= ValueDescriptor.VALUES || references[value] == 0) {
            throw new IllegalArgumentException("no value " + value);
        }
    }

    private long first() {
        return Memory.getLongAcquire(header + HeaderDescriptor.THREADS);
    }

    private static long next(long thread) {
        return Memory.getLong(thread + ThreadDescriptor.NEXT);
    }

    private static long word(long values, int index) {
        return Memory.getLong(values + (long) index * Long.BYTES);
    }
}
