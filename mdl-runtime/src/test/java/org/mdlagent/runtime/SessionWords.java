package org.mdlagent.runtime;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.mdlagent.arch.layout.HeaderDescriptor;

/// A session file as it is at one time, word by word: for what no report tells.
record SessionWords(ByteBuffer words) {
    static SessionWords of(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            return new SessionWords(
                    channel.map(FileChannel.MapMode.READ_ONLY, 0, Math.min(channel.size(), Integer.MAX_VALUE))
                            .order(ByteOrder.LITTLE_ENDIAN));
        }
    }

    long get(long offset) {
        return words.getLong(Math.toIntExact(offset));
    }

    /// @param address in the process that has the session
    byte[] bytes(long address, int length) {
        byte[] bytes = new byte[length];
        words.get(Math.toIntExact(address - get(HeaderDescriptor.BASE)), bytes);
        return bytes;
    }
}
