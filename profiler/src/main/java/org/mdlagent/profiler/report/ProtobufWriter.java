package org.mdlagent.profiler.report;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/// A message in the wire format of Protocol Buffers: the three kinds of fields that a profile needs.
final class ProtobufWriter {
    private static final int VARINT = 0;
    private static final int LENGTH_DELIMITED = 2;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /// An integer; 0, which is what a reader assumes, is left out.
    ProtobufWriter field(int number, long value) {
        if (value != 0) {
            varint(((long) number << 3) | VARINT);
            varint(value);
        }
        return this;
    }

    /// A packed list of integers.
    ProtobufWriter packed(int number, long... values) {
        ProtobufWriter packed = new ProtobufWriter();
        for (long value : values) {
            packed.varint(value);
        }
        return field(number, packed);
    }

    ProtobufWriter field(int number, String value) {
        return field(number, value.getBytes(StandardCharsets.UTF_8));
    }

    ProtobufWriter field(int number, ProtobufWriter message) {
        return field(number, message.toByteArray());
    }

    byte[] toByteArray() {
        return bytes.toByteArray();
    }

    private ProtobufWriter field(int number, byte[] content) {
        varint(((long) number << 3) | LENGTH_DELIMITED);
        varint(content.length);
        bytes.writeBytes(content);
        return this;
    }

    /// Seven bits a byte, the lowest first.
    private void varint(long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            bytes.write((int) ((rest & 0x7f) | 0x80));
            rest >>>= 7;
        }
        bytes.write((int) rest);
    }
}
