package org.mdlagent.profiler.report.session;

import java.io.IOException;
import org.mdlagent.arch.layout.PcSamplesDescriptor;
import org.mdlagent.profiler.report.file.SessionBytes;

/// Rows stored in chunks of [PcSamplesDescriptor#PC_CHUNK]. Chunk addresses are read on demand, in sequence.
final class PcRows {
    private final SessionBytes bytes;
    private final long chunks;
    private final long size;
    private final String what;
    private long chunk;

    /// @param chunks offset of the chunk addresses
    /// @param size   of a row
    PcRows(SessionBytes bytes, long chunks, long size, String what) {
        this.bytes = bytes;
        this.chunks = chunks;
        this.size = size;
        this.what = what;
    }

    /// Offset of a row.
    long at(int number) throws IOException {
        int within = number % PcSamplesDescriptor.PC_CHUNK;
        if (within == 0) {
            long address = bytes.getLong(chunks + (long) number / PcSamplesDescriptor.PC_CHUNK * Long.BYTES);
            chunk = bytes.offset(address, PcSamplesDescriptor.PC_CHUNK * size, "a table of " + what);
            bytes.claim(PcSamplesDescriptor.PC_CHUNK * size);
        }
        return chunk + within * size;
    }
}
