package org.mdlagent.profiler.slice;

import java.util.Arrays;
import org.mdlagent.arch.layout.EdgeDescriptor;
import org.mdlagent.arch.shim.Memory;

/// A function's measurements at the end of the last slice. Compact, because there are thousands and the
/// agent's heap is small.
final class FunctionMark {
    private static final int WORDS_PER_EDGE = 3;

    private long calls;
    private long variance;
    private long count;
    private long total;
    private long self;
    private long samples;

    /// Calls by duration, from slot `first` on. The lower 32 bits are enough for differences: no slot gets
    /// 2^32 calls in a slice.
    private int[] slots = {};

    private int first;

    /// Calls, total and samples of each edge, oldest edge first.
    private long[] edges = {};

    /// Whether anything has been measured since.
    boolean isPassed(long calls, long count) {
        return calls > this.calls || count != this.count;
    }

    /// Appends the increase since the mark in the format of a slice, and moves the mark.
    ///
    /// @return ticks in the function's calls
    long advance(int function, long calls, long variance, RowSums now, SliceBytes out) {
        long ticks = now.total - total;
        out.put(function);
        // Estimates may fall; the excess is not counted again when they rise. The variance falls as slices
        // add information; a slice gets a share of it in proportion to its calls.
        long fresh = Math.max(0, calls - this.calls);
        double part = (double) fresh / Math.max(1, calls);
        out.put(fresh);
        out.put(Math.max(Math.round(part * variance), variance - this.variance));
        out.put(now.count - count);
        out.put(ticks);
        out.put(now.self - self);
        out.put(now.samples - samples);
        advanceSlots(now, out);
        advanceEdges(now, out);
        this.calls = Math.max(calls, this.calls);
        this.variance = Math.max(variance, this.variance);
        count = now.count;
        total = now.total;
        self = now.self;
        samples = now.samples;
        return ticks;
    }

    private void advanceSlots(RowSums now, SliceBytes out) {
        int used = 0;
        for (int i = now.from; i < now.to; i++) {
            used += fresh(now, i) == 0 ? 0 : 1;
        }
        out.put(used);
        int last = 0;
        for (int i = now.from; i < now.to; i++) {
            if (fresh(now, i) != 0) {
                out.put(i - last);
                out.put(Integer.toUnsignedLong(fresh(now, i)));
                last = i;
            }
        }
        keepSlots(now);
    }

    private int fresh(RowSums now, int slot) {
        int known = slot < first || slot >= first + slots.length ? 0 : slots[slot - first];
        return (int) now.slots[slot] - known;
    }

    private void keepSlots(RowSums now) {
        int from = now.from;
        int to = Math.max(from, now.to);
        while (from < to && now.slots[from] == 0) {
            from++;
        }
        while (from < to && now.slots[to - 1] == 0) {
            to--;
        }
        if (first != from || slots.length != to - from) {
            first = from;
            slots = new int[to - from];
        }
        for (int i = from; i < to; i++) {
            slots[i - from] = (int) now.slots[i];
        }
    }

    private void advanceEdges(RowSums now, SliceBytes out) {
        if (edges.length < WORDS_PER_EDGE * now.edgeCount) {
            edges = Arrays.copyOf(edges, WORDS_PER_EDGE * now.edgeCount);
        }
        int used = 0;
        for (int i = 0; i < now.edgeCount; i++) {
            used += isPassed(now, i) ? 1 : 0;
        }
        out.put(used);
        for (int i = 0; i < now.edgeCount; i++) {
            if (isPassed(now, i)) {
                advanceEdge(now.edges[i], mark(now, i), out);
            }
        }
    }

    private boolean isPassed(RowSums now, int edge) {
        return Memory.getLong(now.edges[edge] + EdgeDescriptor.SAMPLES) != edges[mark(now, edge) + 2];
    }

    private static int mark(RowSums now, int edge) {
        return WORDS_PER_EDGE * (now.edgeCount - 1 - edge);
    }

    private void advanceEdge(long edge, int mark, SliceBytes out) {
        int caller = Memory.getInt(edge + EdgeDescriptor.CALLER);
        boolean known = caller != EdgeDescriptor.CALLER_NONE && caller != EdgeDescriptor.CALLER_OTHER;
        out.put(known ? caller + 1L : 0);
        advance(edge + EdgeDescriptor.CALLS, mark, out);
        advance(edge + EdgeDescriptor.TOTAL, mark + 1, out);
        advance(edge + EdgeDescriptor.SAMPLES, mark + 2, out);
    }

    private void advance(long counter, int mark, SliceBytes out) {
        long now = Memory.getLong(counter);
        out.put(now - edges[mark]);
        edges[mark] = now;
    }
}
