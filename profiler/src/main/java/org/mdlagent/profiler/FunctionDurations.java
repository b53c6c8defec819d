package org.mdlagent.profiler;

import java.util.Arrays;
import org.mdlagent.arch.layout.RowBuckets;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.session.ThreadBlock;
import org.mdlagent.arch.session.ThreadBlocks;
import org.mdlagent.arch.shim.Memory;

/// The durations of functions' timed calls in all threads, as the session's rows have them.
final class FunctionDurations {
    private final ThreadBlocks threads;
    private final long[] chunk = new long[RowDescriptor.CHUNK_SLOTS];

    /// @param header address of the session's header
    FunctionDurations(long header) {
        threads = new ThreadBlocks(header);
    }

    /// Adds the calls of a function so far to `slots`, by [RowBuckets].
    void add(int function, long[] slots) {
        for (ThreadBlock thread : threads) {
            long rows = thread.rows();
            long row = rows == 0 ? 0 : Memory.getLongAcquire(rows + (long) function * Long.BYTES);
            for (int i = 0; row != 0 && i < RowDescriptor.CHUNKS; i++) {
                long address = Memory.getLongAcquire(row + RowDescriptor.CHUNKS_AT + (long) i * Long.BYTES);
                if (address != 0) {
                    Memory.copy(address, chunk);
                    for (int slot = 0; slot < chunk.length; slot++) {
                        slots[i * chunk.length + slot] += chunk[slot];
                    }
                }
            }
        }
    }

    /// Number of calls.
    static long calls(long[] slots) {
        return Arrays.stream(slots).sum();
    }

    /// Ticks that a part of the calls exceeds, rounded up to the end of a slot.
    static long ticks(long[] slots, double part) {
        long above = (long) (part * calls(slots));
        int slot = slots.length - 1;
        for (long seen = slots[slot]; slot > 0 && seen <= above; seen += slots[slot]) {
            slot--;
        }
        return RowBuckets.highest(slot) + 1;
    }

    /// Mean duration in ticks, 0 without calls.
    static double mean(long[] slots) {
        double sum = 0;
        long calls = 0;
        for (int slot = 0; slot < slots.length; slot++) {
            if (slots[slot] > 0) {
                sum += slots[slot] * (RowBuckets.lowest(slot) + RowBuckets.highest(slot)) / 2.0;
                calls += slots[slot];
            }
        }
        return calls == 0 ? 0 : sum / calls;
    }
}
