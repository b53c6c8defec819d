package org.mdlagent.profiler.report.slice;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SliceChunkDescriptor;
import org.mdlagent.arch.layout.SliceDescriptor;
import org.mdlagent.arch.layout.SliceRows;
import org.mdlagent.arch.layout.SlicesDescriptor;
import org.mdlagent.profiler.report.file.SessionBytes;

/// Reads the time slices of a session, which may be written at the same time. `SliceRing` has the protocol.
public final class SliceReader {
    private final SessionBytes bytes;
    private final double nanosPerTick;
    private final int functions;
    private final long slices;

    /// @param slices    offset of the table of slices
    /// @param functions number of functions that the session knows
    public SliceReader(SessionBytes bytes, long slices, double nanosPerTick, int functions) {
        this.bytes = bytes;
        this.slices = slices;
        this.nanosPerTick = nanosPerTick;
        this.functions = functions;
    }

    /// The available slices, oldest first.
    ///
    /// @param from number of the first slice wanted
    public List<TimeSlice> read(long from) throws IOException {
        List<TimeSlice> all = new ArrayList<>();
        long complete = complete(); // 1
        for (long slice = Math.max(from, complete - SlicesDescriptor.SLICES + 1); slice < complete; slice++) {
            ByteBuffer row = bytes.copy(slices + SliceRows.at(slice), (int) SliceDescriptor.SIZE); // 2
            byte[] numbers = numbers(row);
            if (slice > complete() - SlicesDescriptor.SLICES) { // 3
                all.add(slice(slice, row, numbers));
            }
        }
        return all;
    }

    private long complete() throws IOException {
        return bytes.counted(
                bytes.copy(slices + SlicesDescriptor.COMPLETE, Long.BYTES).getLong());
    }

    /// The bytes of a row's functions; null if the row has fewer.
    private byte @Nullable [] numbers(ByteBuffer row) throws IOException {
        int size = row.getInt((int) SliceDescriptor.SIZE_AT);
        if (size < 0 || size > bytes.end()) {
            return null;
        }
        ByteBuffer numbers = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        long next = row.getLong((int) SliceDescriptor.CHUNKS);
        while (numbers.hasRemaining() && next != 0) {
            long chunk = bytes.offset(next, SliceChunkDescriptor.SIZE, "a slice of time");
            ByteBuffer copy = bytes.copy(chunk, (int) SliceChunkDescriptor.SIZE);
            next = copy.getLong((int) SliceChunkDescriptor.NEXT);
            int length = Math.min(numbers.remaining(), SliceChunkDescriptor.BYTES);
            numbers.put(copy.slice((int) SliceChunkDescriptor.BYTES_AT, length));
        }
        return numbers.hasRemaining() ? null : numbers.array();
    }

    private TimeSlice slice(long number, ByteBuffer row, byte @Nullable [] numbers) throws IOException {
        if (numbers == null) {
            throw bytes.damaged("a slice of time ends early");
        }
        bytes.claim(numbers.length);
        long start = row.getLong((int) SliceDescriptor.START_TSC);
        long end = row.getLong((int) SliceDescriptor.END_TSC);
        int known = row.getInt((int) SliceDescriptor.FUNCTIONS);
        if (end < start || known < 0 || known > functions) {
            throw bytes.damaged("a slice of time has " + known + " functions, and lasts " + (end - start) + " ticks");
        }
        return new TimeSlice(
                number,
                instant(start),
                instant(end),
                new TimeSlice.Costs(
                        bytes.counted(row.getLong((int) SliceDescriptor.AGENT_CPU_NANOS)),
                        bytes.counted(row.getLong((int) SliceDescriptor.PROGRAM_CPU_NANOS)),
                        Math.round(bytes.counted(row.getLong((int) SliceDescriptor.PROBE_TICKS)) * nanosPerTick)),
                known,
                Math.max(0, row.getInt((int) SliceDescriptor.LEFT_OUT)),
                new SliceNumbers(bytes, numbers, functions));
    }

    private Instant instant(long tsc) throws IOException {
        long began = bytes.getLong(HeaderDescriptor.START_TSC);
        return Instant.ofEpochSecond(0, bytes.getLong(HeaderDescriptor.START_REAL_NANOS))
                .plusNanos(Math.round((tsc - began) * nanosPerTick));
    }
}
