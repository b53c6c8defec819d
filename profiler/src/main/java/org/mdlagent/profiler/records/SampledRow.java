package org.mdlagent.profiler.records;

import org.mdlagent.arch.layout.RowBuckets;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// The row of a function's timed calls, in the session file.
///
/// Nobody else writes it, so its sums are known here, and are stored once for calls that follow each other. Used by one
/// thread.
final class SampledRow {
    final long address;

    private final NativeApi api;
    private long calls;
    private long total;
    private long samples;
    private long min;
    private long max;

    /// @param address of the row
    SampledRow(NativeApi api, long address) {
        this.api = api;
        this.address = address;
        calls = Memory.getLong(address + RowDescriptor.COUNT);
        total = Memory.getLong(address + RowDescriptor.TOTAL);
        samples = Memory.getLong(address + RowDescriptor.SAMPLES);
        min = Memory.getLong(address + RowDescriptor.MIN);
        max = Memory.getLong(address + RowDescriptor.MAX);
    }

    /// Enters a call. It is in the histogram then, but not in the sums in the file until [#store].
    ///
    /// @param weight calls that it stands for
    /// @return false when there is no memory for it
    boolean add(long ticks, long weight) {
        int index = RowBuckets.index(ticks);
        long chunk = chunk(index);
        if (chunk == 0) {
            return false;
        }
        Memory.addLong(chunk + RowBuckets.slotAt(index), weight);
        calls += weight;
        total += ticks * weight;
        samples++;
        if (ticks < min) {
            min = ticks;
            Memory.putLong(address + RowDescriptor.MIN, min);
        }
        if (ticks > max) {
            max = ticks;
            Memory.putLong(address + RowDescriptor.MAX, max);
        }
        return true;
    }

    private long chunk(int index) {
        long at = address + RowBuckets.chunkAt(index);
        long chunk = Memory.getLong(at);
        if (chunk == 0) {
            chunk = api.allocate((long) RowDescriptor.CHUNK_SLOTS * Long.BYTES);
            if (chunk != 0) {
                Memory.putLongRelease(at, chunk);
            }
        }
        return chunk;
    }

    /// Stores the sums.
    void store() {
        Memory.putLong(address + RowDescriptor.TOTAL, total);
        Memory.putLong(address + RowDescriptor.COUNT, calls);
        Memory.putLong(address + RowDescriptor.SAMPLES, samples);
    }
}
