package org.mdlagent.profiler.report;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.RowDescriptor;

/// Sums the rows and ring records of one function.
final class LatencyBuilder {
    private final long[] @Nullable [] chunks = new long[RowDescriptor.CHUNKS][];
    private long count;
    private long totalTicks;
    private long minTicks = Long.MAX_VALUE;
    private long maxTicks;

    /// Adds a row's sums; its slots follow through [#addSlot].
    void addSums(long count, long totalTicks, long minTicks, long maxTicks) {
        this.count = Math.addExact(this.count, count);
        this.totalTicks = Math.addExact(this.totalTicks, totalTicks);
        this.minTicks = Math.min(this.minTicks, minTicks);
        this.maxTicks = Math.max(this.maxTicks, maxTicks);
    }

    void addSlot(int chunk, int slot, long count) {
        long[] slots = chunks[chunk];
        if (slots == null) {
            slots = new long[RowDescriptor.CHUNK_SLOTS];
            chunks[chunk] = slots;
        }
        slots[slot] = Math.addExact(slots[slot], count);
    }

    void add(long ticks) {
        int index = Math.min(Latency.index(ticks), Latency.SLOTS - 1);
        addSlot(index / RowDescriptor.CHUNK_SLOTS, index % RowDescriptor.CHUNK_SLOTS, 1);
        addSums(1, ticks, ticks, ticks);
    }

    long count() {
        return count;
    }

    long totalTicks() {
        return totalTicks;
    }

    Latency build(double nanosPerTick) {
        int[] indices = new int[16];
        long[] counts = new long[16];
        int size = 0;
        for (int chunk = 0; chunk < chunks.length; chunk++) {
            long[] slots = chunks[chunk];
            for (int slot = 0; slots != null && slot < slots.length; slot++) {
                if (slots[slot] != 0) {
                    if (size == indices.length) {
                        indices = Arrays.copyOf(indices, 2 * size);
                        counts = Arrays.copyOf(counts, 2 * size);
                    }
                    indices[size] = chunk * RowDescriptor.CHUNK_SLOTS + slot;
                    counts[size] = slots[slot];
                    size++;
                }
            }
        }
        return new Latency(
                Arrays.copyOf(indices, size),
                Arrays.copyOf(counts, size),
                count,
                totalTicks,
                Math.min(minTicks, maxTicks),
                maxTicks,
                nanosPerTick);
    }
}
