package org.mdlagent.profiler.slice;

import java.util.Arrays;
import org.mdlagent.arch.layout.EdgeDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.SliceDescriptor;
import org.mdlagent.arch.shim.Memory;

/// The sums of a function's rows, at the slot resolution of slices.
final class RowSums {
    private static final int SLOTS_PER_CHUNK = RowDescriptor.CHUNK_SLOTS / SliceDescriptor.SLOT;

    long count;
    long total;
    long self;
    long samples;

    /// Calls by duration; 0 outside `from` to `to`, because most functions use few slots.
    final long[] slots = new long[SliceDescriptor.SLOTS];

    int from;
    int to;

    /// Addresses of edges, newest first: the list grows only at its head.
    final long[] edges = new long[EdgeDescriptor.CALLERS];

    int edgeCount;

    private final long[] chunk = new long[RowDescriptor.CHUNK_SLOTS];

    void clear() {
        count = 0;
        total = 0;
        self = 0;
        samples = 0;
        Arrays.fill(slots, Math.min(from, to), to, 0);
        from = slots.length;
        to = 0;
        edgeCount = 0;
    }

    void add(long row) {
        count += Memory.getLong(row + RowDescriptor.COUNT);
        total += Memory.getLong(row + RowDescriptor.TOTAL);
        self += Memory.getLong(row + RowDescriptor.SELF);
        samples += Memory.getLong(row + RowDescriptor.SAMPLES);
        for (int i = 0; i < RowDescriptor.CHUNKS; i++) {
            long address = Memory.getLongAcquire(row + RowDescriptor.CHUNKS_AT + (long) i * Long.BYTES);
            if (address != 0) {
                addChunk(i, address);
            }
        }
    }

    /// Adds edges.
    ///
    /// @param newest address of the newest edge, 0 for none
    void addCallers(long newest) {
        for (long edge = newest; edge != 0; edge = Memory.getLong(edge + EdgeDescriptor.NEXT)) {
            edges[edgeCount++] = edge;
        }
    }

    private void addChunk(int index, long address) {
        Memory.copy(address, chunk);
        int first = index * SLOTS_PER_CHUNK;
        from = Math.min(from, first);
        to = Math.max(to, first + SLOTS_PER_CHUNK);
        for (int i = 0; i < chunk.length; i++) {
            slots[first + i / SliceDescriptor.SLOT] += chunk[i];
        }
    }
}
