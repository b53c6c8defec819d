package org.mdlagent.profiler.report.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ProcessDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;

/// The block of a thread in a session.
///
/// @param at offset of the block
public record ThreadBytes(SessionBytes bytes, long at) {
    private static final int THREADS_MAX = 1 << 20;

    /// The blocks of all threads, newest first.
    public static List<ThreadBytes> all(SessionBytes bytes) throws IOException {
        return bytes
                .list(HeaderDescriptor.THREADS, ThreadDescriptor.NEXT, ThreadDescriptor.SIZE, THREADS_MAX, "threads")
                .stream()
                .map(at -> new ThreadBytes(bytes, at))
                .toList();
    }

    public int pid() throws IOException {
        return bytes.getInt(at + ThreadDescriptor.PID);
    }

    public int tid() throws IOException {
        return bytes.getInt(at + ThreadDescriptor.TID);
    }

    public boolean isLive() throws IOException {
        return bytes.getInt(at + ThreadDescriptor.STATE) == ThreadDescriptor.STATE_LIVE;
    }

    /// Whether it contains the counts of several processes.
    public boolean isShared() throws IOException {
        return bytes.getInt(at + ThreadDescriptor.SHARED) != 0;
    }

    /// Offset of the record of the process that last owned the block, 0 for none.
    public long process() throws IOException {
        long process = bytes.getLong(at + ThreadDescriptor.PROCESS);
        return process == 0 ? 0 : bytes.offset(process, ProcessDescriptor.SIZE, "a process");
    }

    /// Calls by function, null if there are none.
    @Nullable
    public ByteBuffer calls(FunctionTable functions) throws IOException {
        return perFunction(ThreadDescriptor.CALLS, functions);
    }

    /// Row addresses by function, null if there are none.
    @Nullable
    public ByteBuffer rows(FunctionTable functions) throws IOException {
        return perFunction(ThreadDescriptor.ROWS, functions);
    }

    private @Nullable ByteBuffer perFunction(long field, FunctionTable functions) throws IOException {
        long address = bytes.getLong(at + field);
        if (address == 0 || functions.count() == 0) {
            return null;
        }
        long size = (long) functions.capacity() * Long.BYTES;
        long table = bytes.offset(address, size, "a thread's table of functions");
        bytes.claim(size);
        return bytes.copy(table, functions.count() * Long.BYTES);
    }

    /// Calls credited to former owners of the block.
    public long credited() throws IOException {
        return bytes.getCounter(at + ThreadDescriptor.CREDITED);
    }

    /// Calls not timed for lack of room.
    public long dropped() throws IOException {
        long withoutRoom = Math.addExact(
                bytes.getCounter(at + ThreadDescriptor.OVERFLOW), bytes.getCounter(at + ThreadDescriptor.REFUSED));
        return Math.addExact(withoutRoom, bytes.getCounter(at + ThreadDescriptor.DROPPED));
    }

    /// Calls whose end was not seen.
    public long unmatched() throws IOException {
        return bytes.getCounter(at + ThreadDescriptor.UNMATCHED);
    }

    public long cpuNanos() throws IOException {
        return bytes.getCounter(at + ThreadDescriptor.CPU_NANOS);
    }

    /// Offset of the counters and timers of snippets, 0 if no snippet has run.
    public long values() throws IOException {
        long address = bytes.getLong(at + ThreadDescriptor.VALUES);
        long size = (long) ValueDescriptor.VALUES * Long.BYTES;
        return address == 0 ? 0 : bytes.offset(address, size, "a thread's values");
    }

    /// Address of the ring, 0 if there is none.
    public long ring() throws IOException {
        return bytes.getLong(at + ThreadDescriptor.RING);
    }

    public long ringMask() throws IOException {
        return bytes.getLong(at + ThreadDescriptor.RING_MASK);
    }

    /// Records written to the ring.
    public long head() throws IOException {
        return bytes.getLong(at + ThreadDescriptor.HEAD);
    }

    /// Records written earlier by other threads, which have ended.
    public long first() throws IOException {
        return bytes.getLong(at + ThreadDescriptor.FIRST);
    }

    /// Records that the agent has drained.
    public long tail() throws IOException {
        return bytes.getLong(at + ThreadDescriptor.TAIL);
    }
}
