package org.mdlagent.profiler;

import java.util.HashMap;
import java.util.Map;
import org.mdlagent.arch.Memory;
import org.mdlagent.arch.NativeApi;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.RecordDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;

/// Moves timed calls from the threads' rings into the functions' histograms, both in the session file.
///
/// Assumes
///   A1 a thread reserves positions in order and completes a record by storing its sequence number last (release on
///      x86-64)
///   A2 this is the only writer of tails and of the functions' rows
/// Guarantees
///   G1 a record is in a histogram before the tail passes it: whatever moment the process is killed at, a reader that
///      adds the records behind the tail misses none
///   G2 a position whose writer never completes it (a signal handler that jumped out) is passed over after it was
///      seen incomplete in two drains in a row
final class RingDrain {
    private final NativeApi api;
    private final long header;

    /// By thread block: the position that was incomplete in the last drain.
    private final Map<Long, Long> stuck = new HashMap<>();

    RingDrain(NativeApi api) {
        this.api = api;
        header = api.session();
    }

    /// @return the number of records moved
    long drain() {
        long moved = 0;
        long thread = Memory.getLongAcquire(header + HeaderDescriptor.THREADS);
        while (thread != 0) {
            if (Memory.getLong(thread + ThreadDescriptor.RING) != 0) {
                moved += drain(thread);
            }
            thread = Memory.getLong(thread + ThreadDescriptor.NEXT);
        }
        return moved;
    }

    private long drain(long thread) {
        long ring = Memory.getLong(thread + ThreadDescriptor.RING);
        long mask = Memory.getLong(thread + ThreadDescriptor.RING_MASK);
        long functions = Memory.getLong(header + HeaderDescriptor.FUNCTIONS);
        long head = Memory.getLongAcquire(thread + ThreadDescriptor.HEAD);
        long moved = 0;
        long position = Memory.getLong(thread + ThreadDescriptor.TAIL);
        for (; position < head; position++) {
            long record = ring + (position & mask) * RecordDescriptor.SIZE;
            if (Memory.getIntAcquire(record + RecordDescriptor.SEQ) != (int) (position + 1)) {
                if (!Long.valueOf(position).equals(stuck.put(thread, position))) {
                    break;
                }
            } else {
                long function = functions + Memory.getInt(record + RecordDescriptor.FUNCTION) * FunctionDescriptor.SIZE;
                add(function, Memory.getLong(record + RecordDescriptor.DURATION));
                moved++;
            }
            Memory.putLongRelease(thread + ThreadDescriptor.TAIL, position + 1);
        }
        return moved;
    }

    private void add(long function, long ticks) {
        long row = Memory.getLong(function + FunctionDescriptor.ROW);
        if (row == 0) {
            row = api.allocate(RowDescriptor.SIZE);
            if (row == 0) {
                return; // counted by the shim as refused
            }
            Memory.putLong(row + RowDescriptor.MIN, ticks);
            Memory.putInt(row + RowDescriptor.FUNCTION, Memory.getInt(function + FunctionDescriptor.INDEX));
            Memory.putLongRelease(function + FunctionDescriptor.ROW, row);
        }
        // HdrHistogram's index for 256 sub-buckets (layout.h, "mdl_row").
        int shift = 56 - Long.numberOfLeadingZeros(ticks | 255);
        long index = (ticks >>> shift) + ((long) shift << 7);
        long chunkAt = row + RowDescriptor.CHUNKS_AT + index / RowDescriptor.CHUNK_SLOTS * Long.BYTES;
        long chunk = Memory.getLong(chunkAt);
        if (chunk == 0) {
            chunk = api.allocate((long) RowDescriptor.CHUNK_SLOTS * Long.BYTES);
            if (chunk == 0) {
                return;
            }
            Memory.putLongRelease(chunkAt, chunk);
        }
        long slot = chunk + index % RowDescriptor.CHUNK_SLOTS * Long.BYTES;
        Memory.putLong(slot, Memory.getLong(slot) + 1);
        Memory.putLong(row + RowDescriptor.TOTAL, Memory.getLong(row + RowDescriptor.TOTAL) + ticks);
        Memory.putLong(row + RowDescriptor.MIN, Math.min(ticks, Memory.getLong(row + RowDescriptor.MIN)));
        Memory.putLong(row + RowDescriptor.MAX, Math.max(ticks, Memory.getLong(row + RowDescriptor.MAX)));
        Memory.putLong(row + RowDescriptor.COUNT, Memory.getLong(row + RowDescriptor.COUNT) + 1);
    }
}
