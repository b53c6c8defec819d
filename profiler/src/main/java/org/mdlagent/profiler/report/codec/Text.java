package org.mdlagent.profiler.report.codec;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/// Text in records: its length in bytes, then its bytes, in UTF-8. `writeUTF` is limited to 64 KiB, which
/// names of templates can exceed.
public final class Text {
    private static final int BYTES_MAX = 1 << 20;

    private Text() {}

    public static void write(String text, DataOutput out) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        Varint.write(bytes.length, out);
        out.write(bytes);
    }

    public static String read(DataInput in) throws IOException {
        long length = Varint.read(in);
        if (length > BYTES_MAX) {
            throw new RecordFormatException("a record has a text of " + length + " bytes");
        }
        byte[] bytes = new byte[(int) length];
        in.readFully(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
