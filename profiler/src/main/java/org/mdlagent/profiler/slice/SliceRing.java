package org.mdlagent.profiler.slice;

import java.lang.invoke.VarHandle;
import java.util.function.LongUnaryOperator;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SliceChunkDescriptor;
import org.mdlagent.arch.layout.SliceDescriptor;
import org.mdlagent.arch.layout.SliceRows;
import org.mdlagent.arch.layout.SlicesDescriptor;
import org.mdlagent.arch.shim.Memory;

/// The last time slices in the session file: a ring of rows, each with a list of chunks for its functions.
/// The chunks of an overwritten slice are reused, so memory grows to what the ring needs. No slice gets more
/// than its share of [#FILE_PART].
///
/// Assumes
///   A1 this is the only writer
///   A2 stores of one thread become visible in their order (x86-64, and fences for the compiler)
/// Guarantees
///   G1 whatever moment the process is killed at, each of the newest `SLICES - 1` slices below `complete` is whole
///   G2 a reader that finds a slice among these again after it has copied it has copied nothing else
/// Progress
///   P1 neither side waits for the other
///
///   writer of slice n                       reader of slice m
///   1 take the chunks of slice n - SLICES    1 complete (acquire), so that complete - SLICES < m < complete
///   2 fill chunks and row                    2 copy row and chunks
///   3 complete = n + 1 (release)             3 complete again: the copy is good if complete - SLICES < m
final class SliceRing {
    /// All slices together may take 1 / this of the session file's maximum size.
    private static final int FILE_PART = 6;

    private final long header;
    private final LongUnaryOperator allocate;
    private final int chunksMax;

    /// Address of the `struct mdl_slices`, 0 before the first slice.
    private long slices;

    /// List of free chunks.
    private long free;

    /// List of chunks for the next slice.
    private long chunks;

    /// @param header   of the session
    /// @param allocate returns zeroed session memory of a size, 0 if there is none
    SliceRing(long header, LongUnaryOperator allocate) {
        this.header = header;
        this.allocate = allocate;
        long most = Memory.getLong(header + HeaderDescriptor.LIMIT) / FILE_PART;
        chunksMax = (int) Math.max(1, most / SlicesDescriptor.SLICES / SliceChunkDescriptor.SIZE);
    }

    /// Reserves room for the functions of the next slice.
    ///
    /// @param bytes needed
    /// @return bytes granted; -1 if the session has no room for slices
    int reserve(int bytes) {
        if (slices == 0) {
            slices = allocate.applyAsLong(SlicesDescriptor.SIZE);
            if (slices == 0) {
                return -1;
            }
            Memory.putLongRelease(header + HeaderDescriptor.SLICES, slices);
        }
        VarHandle.storeStoreFence(); // the previous store to `complete` comes first
        recycle(row() + SliceDescriptor.CHUNKS);
        int room = 0;
        for (int taken = 0; room < bytes && taken < chunksMax; taken++) {
            long chunk = takeChunk();
            if (chunk == 0) {
                break;
            }
            Memory.putLong(chunk + SliceChunkDescriptor.NEXT, chunks);
            chunks = chunk;
            room += SliceChunkDescriptor.BYTES;
        }
        return Math.min(room, bytes);
    }

    /// Address of the row being written; valid for readers after [#publish].
    long row() {
        return slices + SliceRows.at(complete());
    }

    /// Publishes that slice with its functions, for which there must be room.
    void publish(SliceBytes functions) {
        Memory.putLong(row() + SliceDescriptor.CHUNKS, chunks);
        Memory.putInt(row() + SliceDescriptor.SIZE_AT, functions.size());
        int from = 0;
        for (long chunk = chunks; chunk != 0; chunk = Memory.getLong(chunk + SliceChunkDescriptor.NEXT)) {
            int to = Math.min(functions.size(), from + SliceChunkDescriptor.BYTES);
            Memory.put(chunk + SliceChunkDescriptor.BYTES_AT, functions.copy(from, to));
            from = to;
        }
        chunks = 0;
        Memory.putLongRelease(slices + SlicesDescriptor.COMPLETE, complete() + 1);
    }

    /// Number of published slices; 0 if the session had no room for any.
    long complete() {
        return slices == 0 ? 0 : Memory.getLong(slices + SlicesDescriptor.COMPLETE);
    }

    /// Frees the chunks of a list.
    private void recycle(long list) {
        long chunk = Memory.getLong(list);
        Memory.putLong(list, 0);
        while (chunk != 0) {
            long next = Memory.getLong(chunk + SliceChunkDescriptor.NEXT);
            Memory.putLong(chunk + SliceChunkDescriptor.NEXT, free);
            free = chunk;
            chunk = next;
        }
    }

    private long takeChunk() {
        long chunk = free;
        if (chunk == 0) {
            return allocate.applyAsLong(SliceChunkDescriptor.SIZE);
        }
        free = Memory.getLong(chunk + SliceChunkDescriptor.NEXT);
        return chunk;
    }
}
