package org.mdlagent.profiler.report.session;

import java.io.IOException;
import org.mdlagent.arch.layout.RecordDescriptor;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.file.ThreadBytes;

/// The calls in a thread's ring: first those that the agent has not drained, then those it has drained and
/// that are not overwritten yet. Records being written are incomplete and are left out.
final class RingReader {
    private static final int RECORDS_MAX = 1 << 24;

    private final SessionBytes bytes;
    private final int functions;

    /// Receives records.
    interface Action {
        /// @param function index
        /// @param startTsc when the call began
        /// @param ticks    duration, 0 or more
        /// @param caller   code address in the caller
        void accept(int function, long startTsc, long ticks, long caller);
    }

    /// @param functions number of functions
    RingReader(SessionBytes bytes, int functions) {
        this.bytes = bytes;
        this.functions = functions;
    }

    /// Reads the records that the agent has not drained.
    void undrained(ThreadBytes thread, Action action) throws IOException {
        read(thread, thread.tail(), action);
    }

    /// Reads all records, oldest first: those of former owners of the block, then the thread's.
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
