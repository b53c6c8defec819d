package org.mdlagent.profiler.report.profile;

import java.util.Arrays;
import org.mdlagent.arch.layout.RowBuckets;

/// Sums the rows and ring records of one function. It is sparse, because there is one for each function of a
/// session.
public final class LatencyBuilder {
    private static final int SLOTS_FIRST = 32;

    /// Ascending; the first `size` are used.
    private int[] indices = new int[0];

    private long[] counts = new long[0];
    private int size;
    private long count;
    private long totalTicks;
    private long minTicks = Long.MAX_VALUE;
    private long maxTicks;

    /// Without calls.
    public LatencyBuilder() {}

    /// Adds a row's sums; its slots follow through [#addSlot].
    public void addSums(long count, long totalTicks, long minTicks, long maxTicks) {
        this.count = Math.addExact(this.count, count);
        this.totalTicks = Math.addExact(this.totalTicks, totalTicks);
        this.minTicks = Math.min(this.minTicks, minTicks);
        this.maxTicks = Math.max(this.maxTicks, maxTicks);
    }

    public void addSlot(int index, long count) {
        // A row's slots arrive in this order.
        boolean last = size == 0 || indices[size - 1] < index;
        int found = last ? -size - 1 : Arrays.binarySearch(indices, 0, size, index);
        int at = found < 0 ? -found - 1 : found;
        if (found < 0) {
            insert(at, index);
        }
        counts[at] = Math.addExact(counts[at], count);
    }

    private void insert(int at, int index) {
        if (size == indices.length) {
            int capacity = Math.max(SLOTS_FIRST, 2 * size);
            indices = Arrays.copyOf(indices, capacity);
            counts = Arrays.copyOf(counts, capacity);
        }
        System.arraycopy(indices, at, indices, at + 1, size - at);
        System.arraycopy(counts, at, counts, at + 1, size - at);
        indices[at] = index;
        counts[at] = 0;
        size++;
    }

    public void add(long ticks) {
        addSlot(Math.min(RowBuckets.index(ticks), RowBuckets.SLOTS - 1), 1);
        addSums(1, ticks, ticks, ticks);
    }

    public Latency build(double nanosPerTick) {
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
