package org.mdlagent.bench.probes;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.IntStream;
import org.mdlagent.arch.file.OpenFile;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.profiler.report.file.SessionFile;

/// The live session of a running program.
public final class SessionMemory {
    private final ByteBuffer bytes;

    /// @param session directory
    public SessionMemory(Path session) throws IOException {
        try (OpenFile opened = SessionFile.open(session);
                FileChannel file = opened.channel(StandardOpenOption.READ)) {
            bytes = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size()).order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    /// @param offset in the file
    public long word(long offset) {
        return bytes.getLong(Math.toIntExact(offset));
    }

    public int halfWord(long offset) {
        return bytes.getInt(Math.toIntExact(offset));
    }

    /// Offset in the file of an address in the program.
    public int offset(long address) {
        return Math.toIntExact(address - word(HeaderDescriptor.BASE));
    }

    /// Offsets of the threads' blocks, newest first.
    public IntStream threads() {
        return IntStream.iterate(
                next(HeaderDescriptor.THREADS), thread -> thread != 0, thread -> next(thread + ThreadDescriptor.NEXT));
    }

    private int next(long offset) {
        long address = word(offset);
        return address == 0 ? 0 : offset(address);
    }
}
