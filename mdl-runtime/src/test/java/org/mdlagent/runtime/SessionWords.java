package org.mdlagent.runtime;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;
import org.mdlagent.arch.file.OpenFile;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.report.file.SessionFile;

/// A session file as it is at one time, word by word: for what no report tells.
public record SessionWords(ByteBuffer words) {
    public static SessionWords of(Path session) throws IOException {
        try (OpenFile file = SessionFile.open(session);
                FileChannel channel = file.channel(StandardOpenOption.READ)) {
            return new SessionWords(
                    channel.map(FileChannel.MapMode.READ_ONLY, 0, Math.min(channel.size(), Integer.MAX_VALUE))
                            .order(ByteOrder.LITTLE_ENDIAN));
        }
    }

    public long get(long offset) {
        return words.getLong(Math.toIntExact(offset));
    }

    /// @param address in the process that has the session
    public byte[] bytes(long address, int length) {
        byte[] bytes = new byte[length];
        words.get(Math.toIntExact(address - get(HeaderDescriptor.BASE)), bytes);
        return bytes;
    }

    /// Symbols of the functions whose calls are counted, and never timed.
    public Set<String> countedOnly() {
        Set<String> symbols = new HashSet<>();
        int functions = words.getInt((int) HeaderDescriptor.FUNCTION_COUNT);
        for (int i = 0; i < functions; i++) {
            int record = Math.toIntExact(
                    get(HeaderDescriptor.FUNCTIONS) - get(HeaderDescriptor.BASE) + i * FunctionDescriptor.SIZE);
            if ((words.getInt(record + (int) FunctionDescriptor.FLAGS) & FunctionDescriptor.FLAG_COUNTED) != 0) {
                symbols.add(string(words.getInt(record + (int) FunctionDescriptor.SYMBOL)));
            }
        }
        return symbols;
    }

    private String string(int offset) {
        byte[] text = new byte[words.getInt(offset)];
        words.get(offset + Integer.BYTES, text);
        return new String(text, StandardCharsets.UTF_8);
    }
}
