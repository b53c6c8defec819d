package org.mdlagent.profiler;

import java.util.HashMap;
import java.util.Map;
import java.util.function.LongFunction;
import org.mdlagent.arch.Memory;
import org.mdlagent.arch.NativeApi;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.RecordDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.fastinst.CallSite;

/// Moves timed calls from the threads' rings into the functions' histograms and the edges of the call graph, all in
/// the session file.
///
/// A window times only some of its calls, so a sample of a window with many calls stands for more of them: it is
/// entered as often as that. Otherwise the few calls of a slow phase would outweigh the many of a quick one.
///
/// Of functions whose calls are all recorded elsewhere a ring holds some, for their callers.
///
/// Assumes
///   A1 a thread reserves positions in order and completes a record by storing its sequence number last (release on
///      x86-64)
///   A2 this is the only writer of tails, of the functions' rows and of their edges
/// Guarantees
///   G1 a record is in a histogram before the tail passes it: whatever moment the process is killed at, a reader that
///      adds the records behind the tail misses none
///   G2 a position whose writer never completes it (a signal handler that jumped out) is passed over after it was
///      seen incomplete in two drains in a row
final class RingDrain {
    private final NativeApi api;
    private final long header;
    private final CallEdges edges;

    /// By thread block: the position that was incomplete in the last drain.
    private final Map<Long, Long> stuck = new HashMap<>();

    /// @param callSites tells of a return address what call stands there
    RingDrain(NativeApi api, LongFunction<CallSite> callSites) {
        this.api = api;
        header = api.session();
        edges = new CallEdges(api, callSites);
    }

    /// Forgets what stood where: images have come or gone.
    void forgetCallSites() {
        edges.forgetCallSites();
    }

    /// Moves all complete records.
    ///
    /// @return the number of records moved
    long drain(SampleWeights weights) {
        long moved = 0;
        long thread = Memory.getLongAcquire(header + HeaderDescriptor.THREADS);
        for (; thread != 0; thread = Memory.getLong(thread + ThreadDescriptor.NEXT)) {
            if (Memory.getLong(thread + ThreadDescriptor.RING) != 0) {
                moved += drain(thread, weights);
            }
        }
        return moved;
    }

    private long drain(long thread, SampleWeights weights) {
        long ring = Memory.getLong(thread + ThreadDescriptor.RING);
        long mask = Memory.getLong(thread + ThreadDescriptor.RING_MASK);
        long functions = Memory.getLong(header + HeaderDescriptor.FUNCTIONS);
        long head = Memory.getLongAcquire(thread + ThreadDescriptor.HEAD);
        long moved = 0;
        for (long position = Memory.getLong(thread + ThreadDescriptor.TAIL); position < head; position++) {
            long record = ring + (position & mask) * RecordDescriptor.SIZE;
            if (Memory.getIntAcquire(record + RecordDescriptor.SEQ) != (int) (position + 1)) {
                if (!Long.valueOf(position).equals(stuck.put(thread, position))) {
                    break;
                }
            } else {
                int function = Memory.getInt(record + RecordDescriptor.FUNCTION);
                long weight = weights.of(function, Memory.getLong(record + RecordDescriptor.START));
                long ticks = Memory.getLong(record + RecordDescriptor.DURATION);
                long described = functions + function * FunctionDescriptor.SIZE;
                long row = row(described);
                if (row != 0 && (isRecordedElsewhere(described) || add(row, ticks, weight))) {
                    edges.add(function, row, Memory.getLong(record + RecordDescriptor.CALLER), ticks, weight);
                }
                moved++;
            }
            Memory.putLongRelease(thread + ThreadDescriptor.TAIL, position + 1);
        }
        return moved;
    }

    private static boolean isRecordedElsewhere(long function) {
        int flags = Memory.getInt(function + FunctionDescriptor.FLAGS);
        return (flags & FunctionDescriptor.FLAG_EVERY_CALL) != 0;
    }

    /// The function's row, or 0 when there is no memory for it, which the shim counts.
    private long row(long function) {
        long row = Memory.getLong(function + FunctionDescriptor.ROW);
        if (row == 0) {
            row = api.allocate(RowDescriptor.SIZE);
            if (row != 0) {
                Memory.putLong(row + RowDescriptor.MIN, Long.MAX_VALUE);
                Memory.putInt(row + RowDescriptor.FUNCTION, Memory.getInt(function + FunctionDescriptor.INDEX));
                Memory.putLongRelease(function + FunctionDescriptor.ROW, row);
            }
        }
        return row;
    }

    /// Enters a call into a row.
    ///
    /// @return false when there is no memory for it
    private boolean add(long row, long ticks, long weight) {
        // HdrHistogram's index for 256 sub-buckets (layout.h, "mdl_row"); an int, for C1 divides longs by a call.
        int shift = 56 - Long.numberOfLeadingZeros(ticks | 255);
        int index = (int) (ticks >>> shift) + (shift << 7);
        long chunkAt = row + RowDescriptor.CHUNKS_AT + (long) (index / RowDescriptor.CHUNK_SLOTS) * Long.BYTES;
        long chunk = Memory.getLong(chunkAt);
        if (chunk == 0) {
            chunk = api.allocate((long) RowDescriptor.CHUNK_SLOTS * Long.BYTES);
            if (chunk == 0) {
                return false;
            }
            Memory.putLongRelease(chunkAt, chunk);
        }
        Memory.addLong(chunk + (long) (index % RowDescriptor.CHUNK_SLOTS) * Long.BYTES, weight);
        Memory.addLong(row + RowDescriptor.TOTAL, ticks * weight);
        if (ticks < Memory.getLong(row + RowDescriptor.MIN)) {
            Memory.putLong(row + RowDescriptor.MIN, ticks);
        }
        if (ticks > Memory.getLong(row + RowDescriptor.MAX)) {
            Memory.putLong(row + RowDescriptor.MAX, ticks);
        }
        Memory.addLong(row + RowDescriptor.COUNT, weight);
        Memory.addLong(row + RowDescriptor.SAMPLES, 1);
        return true;
    }
}
