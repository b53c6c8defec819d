package org.mdlagent.profiler.report.session;

import java.io.IOException;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.profile.LatencyBuilder;

/// Reads rows: the durations of a function's calls.
final class RowReader {
    private final SessionBytes bytes;

    /// The histogram chunk being read.
    private final long[] slots = new long[RowDescriptor.CHUNK_SLOTS];

    RowReader(SessionBytes bytes) {
        this.bytes = bytes;
    }

    /// Adds the row at an offset and returns its ticks without probed callees.
    long add(long row, LatencyBuilder latency) throws IOException {
        bytes.claim(RowDescriptor.SIZE);
        long count = bytes.getCounter(row + RowDescriptor.COUNT);
        if (count == 0) {
            return 0;
        }
        long min = bytes.getLong(row + RowDescriptor.MIN);
        latency.addSums(
                count,
                bytes.getCounter(row + RowDescriptor.TOTAL),
                min < 0 ? Long.MAX_VALUE : min, // ~0: the first call is being recorded at this moment
                bytes.getCounter(row + RowDescriptor.MAX));
        for (int chunk = 0; chunk < RowDescriptor.CHUNKS; chunk++) {
            long pointer = bytes.getLong(row + RowDescriptor.CHUNKS_AT + (long) chunk * Long.BYTES);
            if (pointer != 0) {
                long size = (long) RowDescriptor.CHUNK_SLOTS * Long.BYTES;
                long at = bytes.offset(pointer, size, "a histogram");
                bytes.claim(size);
                bytes.getLongs(at, slots);
                for (int slot = 0; slot < slots.length; slot++) {
                    if (slots[slot] != 0) {
                        latency.addSlot(chunk * slots.length + slot, bytes.counted(slots[slot]));
                    }
                }
            }
        }
        return bytes.getCounter(row + RowDescriptor.SELF);
    }
}
