package org.mdlagent.profiler.records;

import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongFunction;
import org.mdlagent.arch.layout.RecordDescriptor;
import org.mdlagent.arch.session.ThreadBlock;
import org.mdlagent.arch.session.ThreadBlockWriter;
import org.mdlagent.arch.session.ThreadBlocks;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.calls.ReturnSite;

/// Moves timed calls that report their callers from the threads' rings to the edges of the call graph in the
/// session file. Their durations are already in the threads' rows.
///
/// Each call stands for all calls of its function in a span of time ([SampleWeights]) and is added with that
/// weight. Otherwise the few calls of a slow phase would outweigh the many calls of a fast one.
///
/// Assumes
///   A1 a thread reserves positions in order and completes a record by storing its sequence number last (release on
///      x86-64); it does not write there again until the tail has passed
///   A2 this is the only writer of tails and of the functions' edges
/// Guarantees
///   G1 a record is in its edge before the tail passes it: whatever moment the process is killed at, a reader that
///      adds the records behind the tail misses none, and counts those of one batch twice at most
///   G2 a position whose writer never completes it (a signal handler that jumped out) is passed over after it was
///      seen incomplete in two drains in a row
///   G3 what is counted of a record was there when it was complete
///
/// Reading a record field by field would double the cost of the drain, so a batch is copied. It is copied
/// twice, because a copy reads in any order: in the first copy, the fields beside a sequence number may be
/// older than it. The second copy begins after the first has ended.
///
///   drain                                        thread
///   1 read the head (acquire)                    reserve a position
///   2 copy a batch of positions up to it         write the record
///   3 count those in front that are complete     store its sequence number (release)
///   4 copy these again (acquire)
///   5 add them to edges
///   6 store the tail (release)                   find the tail behind the position: use it again
public final class RingDrain {
    /// Records moved at once.
    static final int BATCH = 64;

    /// The rings are drained when this many calls may have reported their callers: a ring may be half full
    /// then.
    public static final int EXPECTED_MAX = 4096;

    private static final int LONGS = (int) (RecordDescriptor.SIZE / Long.BYTES);
    private static final int START = (int) (RecordDescriptor.START / Long.BYTES);
    private static final int DURATION = (int) (RecordDescriptor.DURATION / Long.BYTES);
    private static final int CALLER = (int) (RecordDescriptor.CALLER / Long.BYTES);

    /// One long: the lower half is the function's index, the upper half the sequence number.
    private static final int FUNCTION_AND_SEQ = (int) (RecordDescriptor.FUNCTION / Long.BYTES);

    private final ThreadBlocks threads;
    private final CallEdges edges;

    /// By thread block: the position that was incomplete in the last drain.
    private final Map<Long, Long> stuck = new HashMap<>();

    private final long[] records = new long[BATCH * LONGS];

    /// Calls that may have reported their callers since the last drain.
    private long expected;

    /// @param returnSites finds the call before a return address
    public RingDrain(NativeApi api, LongFunction<ReturnSite> returnSites) {
        threads = new ThreadBlocks(api.session());
        edges = new CallEdges(api, returnSites);
    }

    /// Drops cached call sites: images have come or gone.
    public void forgetCallSites() {
        edges.forgetCallSites();
    }

    /// Announces calls that may report their callers.
    public void expect(long calls) {
        expected += calls;
    }

    /// Whether a ring may be half full.
    public boolean isDue() {
        return expected > EXPECTED_MAX;
    }

    /// Moves all complete records.
    ///
    /// @return the number of records moved
    public long drain(SampleWeights weights) {
        expected = 0;
        long moved = 0;
        for (ThreadBlock thread : threads) {
            if (thread.ring() != 0) {
                moved += drain(thread, weights);
            }
        }
        return moved;
    }

    private long drain(ThreadBlock thread, SampleWeights weights) {
        long head = thread.headAcquire(); // 1
        long position = thread.tail();
        ThreadBlockWriter ring = new ThreadBlockWriter(thread.address());
        long moved = 0;
        while (position < head) {
            int complete = moveBatch(thread, position, head, weights);
            if (complete > 0) {
                position += complete;
                moved += complete;
            } else if (Long.valueOf(position).equals(stuck.put(thread.address(), position))) {
                position++;
            } else {
                break;
            }
            ring.setTailRelease(position); // 6
        }
        return moved;
    }

    /// Adds complete records from a position on to their edges.
    ///
    /// One method for a batch and one for a record: the JIT compiles methods that are called often. One loop
    /// over all records would be interpreted for 300,000 iterations.
    ///
    /// @return the number of records
    private int moveBatch(ThreadBlock thread, long position, long head, SampleWeights weights) {
        int complete = copyComplete(thread, position, head);
        for (int i = 0; i < complete; i++) {
            add(i * LONGS, weights); // 5
        }
        edges.store();
        return complete;
    }

    /// Copies complete records from a position on.
    ///
    /// @return their number, up to the first incomplete one, the ring's end, or a full batch
    private int copyComplete(ThreadBlock thread, long position, long head) {
        long mask = thread.ringMask();
        long slot = position & mask;
        long first = thread.ring() + slot * RecordDescriptor.SIZE;
        int most = (int) Math.min(BATCH, Math.min(head - position, mask + 1 - slot));
        Memory.copy(first, records, most * LONGS); // 2
        int complete = 0;
        while (complete < most && seq(complete) == (int) (position + complete + 1)) { // 3
            complete++;
        }
        VarHandle.acquireFence();
        Memory.copy(first, records, complete * LONGS); // 4
        return complete;
    }

    private int seq(int record) {
        return (int) (records[record * LONGS + FUNCTION_AND_SEQ] >>> Integer.SIZE);
    }

    private void add(int at, SampleWeights weights) {
        int function = (int) records[at + FUNCTION_AND_SEQ];
        long weight = weights.of(function, records[at + START]);
        edges.add(function, records[at + CALLER], records[at + DURATION], weight);
    }
}
