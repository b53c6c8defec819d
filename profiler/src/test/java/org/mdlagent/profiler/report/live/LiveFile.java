package org.mdlagent.profiler.report.live;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.mdlagent.arch.layout.EdgeDescriptor;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.RowBuckets;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.profiler.report.file.SessionFile;

/// A session file that is mapped into this process, as the agent has it: what a test writes there, a reader sees. One
/// tick is one nanosecond.
public final class LiveFile implements AutoCloseable {
    public static final long SECOND = 1_000_000_000L;
    public static final long START_SECONDS = 1_700_000_000;
    public static final long START_TSC = 5_000;

    private static final int BACKED = 128 << 20;

    private final Arena arena = Arena.ofShared();
    private final int capacity;

    /// Address of the rows of the thread that sampled calls are of, 0 before the first.
    private long sampledRows;

    /// Address of the header.
    public final long header;

    /// @param limit what the session may grow to
    public LiveFile(Path directory, int capacity, long limit) throws IOException {
        Path file = directory.resolve(SessionFile.NAME);
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment mapping = channel.map(FileChannel.MapMode.READ_WRITE, 0, BACKED, arena);
            header = mapping.address();
        }
        this.capacity = capacity;
        put(HeaderDescriptor.MAGIC_AT, HeaderDescriptor.MAGIC);
        Memory.putInt(header + HeaderDescriptor.VERSION_AT, HeaderDescriptor.VERSION);
        Memory.putInt(header + HeaderDescriptor.HEADER_SIZE, (int) HeaderDescriptor.SIZE);
        put(HeaderDescriptor.BASE, header);
        put(HeaderDescriptor.LIMIT, limit);
        put(HeaderDescriptor.ARENA_NEXT, HeaderDescriptor.SIZE);
        put(HeaderDescriptor.ARENA_END, BACKED);
        put(HeaderDescriptor.START_TSC, START_TSC);
        put(HeaderDescriptor.START_REAL_NANOS, START_SECONDS * SECOND);
        put(HeaderDescriptor.ARMED_TSC, START_TSC);
        now(START_TSC + SECOND);
        put(HeaderDescriptor.FUNCTIONS, allocate(capacity * FunctionDescriptor.SIZE));
        Memory.putInt(header + HeaderDescriptor.FUNCTION_CAPACITY, capacity);
        for (int i = 0; i < capacity; i++) {
            function("f" + i);
        }
    }

    private void put(long field, long value) {
        Memory.putLong(header + field, value);
    }

    /// Zeroed memory of the session, 0 when there is no more.
    public long allocate(long bytes) {
        long next = Memory.getLong(header + HeaderDescriptor.ARENA_NEXT);
        long end = next + (bytes + 63) / 64 * 64;
        if (end > Memory.getLong(header + HeaderDescriptor.LIMIT)) {
            return 0;
        }
        put(HeaderDescriptor.ARENA_NEXT, end);
        return header + next;
    }

    /// Bytes in use.
    public long used() {
        return Memory.getLong(header + HeaderDescriptor.ARENA_NEXT);
    }

    public void now(long tsc) {
        put(HeaderDescriptor.NOW_TSC, tsc);
        put(HeaderDescriptor.NOW_MONO_NANOS, tsc - START_TSC);
    }

    private void function(String name) {
        int index = Memory.getInt(header + HeaderDescriptor.FUNCTION_COUNT);
        long string = allocate(64);
        Memory.putInt(string, name.length());
        for (int i = 0; i < name.length(); i++) {
            MemorySegment.ofAddress(string + Integer.BYTES + i).reinterpret(1).set(ValueLayout.JAVA_BYTE, 0, (byte)
                    name.charAt(i));
        }
        long at = at(index);
        Memory.putLong(at + FunctionDescriptor.ADDRESS, 0x401000 + index);
        Memory.putInt(at + FunctionDescriptor.NAME, (int) (string - header));
        Memory.putInt(header + HeaderDescriptor.FUNCTION_COUNT, index + 1);
    }

    private long at(int function) {
        return Memory.getLong(header + HeaderDescriptor.FUNCTIONS) + function * FunctionDescriptor.SIZE;
    }

    /// Adds calls of a function in sampled mode: the estimated number, and the number of timed calls.
    public void sampled(int function, long calls, long timed, long ticks) {
        estimate(function, Double.longBitsToDouble(Memory.getLong(at(function) + FunctionDescriptor.CALLS)) + calls);
        if (sampledRows == 0) {
            sampledRows = allocate((long) capacity * Long.BYTES);
            long thread = allocate(ThreadDescriptor.SIZE);
            Memory.putLong(thread + ThreadDescriptor.ROWS, sampledRows);
            Memory.putLong(thread + ThreadDescriptor.NEXT, Memory.getLong(header + HeaderDescriptor.THREADS));
            put(HeaderDescriptor.THREADS, thread);
        }
        long at = sampledRows + (long) function * Long.BYTES;
        long row = Memory.getLong(at);
        if (row == 0) {
            row = allocate(RowDescriptor.SIZE);
            Memory.putLong(row + RowDescriptor.MIN, ticks);
            Memory.putLong(at, row);
        }
        addTo(row, timed, ticks);
        Memory.addLong(row + RowDescriptor.SAMPLES, timed);
    }

    public void estimate(int function, double calls) {
        Memory.putDouble(at(function) + FunctionDescriptor.CALLS, calls);
    }

    /// Says who made calls that are in the row already.
    public void calledBy(int function, int caller, long calls, long ticks) {
        long list = at(function) + FunctionDescriptor.CALLERS;
        long edge = Memory.getLong(list);
        while (edge != 0 && Memory.getInt(edge + EdgeDescriptor.CALLER) != caller) {
            edge = Memory.getLong(edge + EdgeDescriptor.NEXT);
        }
        if (edge == 0) {
            edge = allocate(EdgeDescriptor.SIZE);
            Memory.putInt(edge + EdgeDescriptor.CALLER, caller);
            Memory.putLong(edge + EdgeDescriptor.NEXT, Memory.getLong(list));
            Memory.putLong(list, edge);
        }
        Memory.addLong(edge + EdgeDescriptor.CALLS, calls);
        Memory.addLong(edge + EdgeDescriptor.TOTAL, calls * ticks);
        Memory.addLong(edge + EdgeDescriptor.SAMPLES, calls);
    }

    /// Adds a thread in exact mode; returns its address.
    public long thread() {
        Memory.putInt(header + HeaderDescriptor.FLAGS, HeaderDescriptor.FLAG_EXACT);
        long thread = allocate(ThreadDescriptor.SIZE);
        Memory.putLong(thread + ThreadDescriptor.CALLS, allocate((long) capacity * Long.BYTES));
        Memory.putLong(thread + ThreadDescriptor.ROWS, allocate((long) capacity * Long.BYTES));
        Memory.putLong(thread + ThreadDescriptor.NEXT, Memory.getLong(header + HeaderDescriptor.THREADS));
        put(HeaderDescriptor.THREADS, thread);
        return thread;
    }

    /// Lets a thread call a function, and return from it.
    public void exact(long thread, int function, long calls, long ticks) {
        Memory.addLong(Memory.getLong(thread + ThreadDescriptor.CALLS) + (long) function * Long.BYTES, calls);
        long slot = Memory.getLong(thread + ThreadDescriptor.ROWS) + (long) function * Long.BYTES;
        if (Memory.getLong(slot) == 0) {
            long row = allocate(RowDescriptor.SIZE);
            Memory.putLong(row + RowDescriptor.MIN, ticks);
            Memory.putLong(slot, row);
        }
        addTo(Memory.getLong(slot), calls, ticks);
        Memory.addLong(Memory.getLong(slot) + RowDescriptor.SELF, calls * ticks);
    }

    private void addTo(long row, long calls, long ticks) {
        int index = RowBuckets.index(ticks);
        long chunkAt = row + RowBuckets.chunkAt(index);
        if (Memory.getLong(chunkAt) == 0) {
            Memory.putLong(chunkAt, allocate(RowDescriptor.CHUNK_SLOTS * (long) Long.BYTES));
        }
        Memory.addLong(Memory.getLong(chunkAt) + RowBuckets.slotAt(index), calls);
        Memory.addLong(row + RowDescriptor.COUNT, calls);
        Memory.addLong(row + RowDescriptor.TOTAL, calls * ticks);
        Memory.putLong(row + RowDescriptor.MIN, Math.min(ticks, Memory.getLong(row + RowDescriptor.MIN)));
        Memory.putLong(row + RowDescriptor.MAX, Math.max(ticks, Memory.getLong(row + RowDescriptor.MAX)));
    }

    @Override
    public void close() {
        arena.close();
    }
}
