package org.mdlagent.profiler.report.session;

import java.io.IOException;
import org.mdlagent.arch.layout.RecordDescriptor;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.file.ThreadBytes;

/// The calls in a thread's ring that tell their callers: those that the agent has not drained, and behind them those
/// that it has, as far as they have not been overwritten. Those being written at this moment are not complete, and
/// left out.
final class RingReader {
    private static final int RECORDS_MAX = 1 << 24;

    private final SessionBytes bytes;
    private final int functions;

    /// What is done with a record.
    interface Action {
        /// @param function index
        /// @param startTsc when the call began
        /// @param ticks    how long it took, not below 0
        /// @param caller   code of whoever called
        void accept(int function, long startTsc, long ticks, long caller);
    }

    /// @param functions how many there are
    RingReader(SessionBytes bytes, int functions) {
        this.bytes = bytes;
        this.functions = functions;
    }

    /// Reads what the agent has not drained.
    void undrained(ThreadBytes thread, Action action) throws IOException {
        read(thread, thread.tail(), action);
    }

    /// Reads all that is there, the oldest first: what threads have left that had the block before, and the thread's.
    void all(ThreadBytes thread, Action ended, Action own) throws IOException {
        read(thread, 0, thread.first(), ended);
        read(thread, thread.first(), own);
    }

    private void read(ThreadBytes thread, long from, Action action) throws IOException {
        read(thread, from, Long.MAX_VALUE, action);
    }

    private void read(ThreadBytes thread, long from, long to, Action action) throws IOException {
        long ring = thread.ring();
        if (ring == 0) {
            return;
        }
        long mask = thread.ringMask();
        if (mask < 0 || mask >= RECORDS_MAX || (mask & mask + 1) != 0) {
            throw bytes.damaged("a ring has the mask " + Long.toUnsignedString(mask));
        }
        long size = (mask + 1) * RecordDescriptor.SIZE;
        long start = bytes.offset(ring, size, "a ring");
        bytes.claim(size);
        long head = thread.head();
        for (long position = Math.max(from, head - mask - 1); position < Math.min(to, head); position++) {
            long at = start + (position & mask) * RecordDescriptor.SIZE;
            int function = bytes.getInt(at + RecordDescriptor.FUNCTION);
            long ticks = bytes.getLong(at + RecordDescriptor.DURATION);
            if (bytes.getInt(at + RecordDescriptor.SEQ) == (int) (position + 1)
                    && function >= 0
                    && function < functions
                    && ticks >= 0) {
                action.accept(
                        function,
                        bytes.getLong(at + RecordDescriptor.START),
                        ticks,
                        bytes.getLong(at + RecordDescriptor.CALLER));
            }
        }
    }
}
