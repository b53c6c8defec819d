package org.mdlagent.profiler.report.codec;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.stream.LongStream;

/// A message in the wire format of Protocol Buffers, with the field types that reports need.
public final class ProtobufWriter {
    private static final int VARINT = 0;
    private static final int FIXED_64 = 1;
    private static final int LENGTH_DELIMITED = 2;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /// An empty message.
    public ProtobufWriter() {}

    /// An integer; 0 is the default and is left out.
    public ProtobufWriter field(int number, long value) {
        if (value != 0) {
            varint(((long) number << 3) | VARINT);
            varint(value);
        }
        return this;
    }

    /// An integer of type `sint32` or `sint64`, whose small negative values are short.
    public ProtobufWriter signed(int number, long value) {
        return field(number, zigzag(value));
    }

    /// A `double`.
    public ProtobufWriter field(int number, double value) {
        varint(((long) number << 3) | FIXED_64);
        bytes.writeBytes(ByteBuffer.allocate(Double.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putDouble(value)
                .array());
        return this;
    }

    /// A packed list of integers.
    public ProtobufWriter packed(int number, long... values) {
        ProtobufWriter packed = new ProtobufWriter();
        for (long value : values) {
            packed.varint(value);
        }
        return field(number, packed);
    }

    /// A packed list of integers of type `sint32` or `sint64`.
    public ProtobufWriter packedSigned(int number, long... values) {
        return packed(number, LongStream.of(values).map(ProtobufWriter::zigzag).toArray());
    }

    public ProtobufWriter field(int number, String value) {
        return field(number, value.getBytes(StandardCharsets.UTF_8));
    }

    public ProtobufWriter field(int number, ProtobufWriter message) {
        return field(number, message.toByteArray());
    }

    public byte[] toByteArray() {
        return bytes.toByteArray();
    }

    /// Writes the length of the message, then the message.
    public void writeDelimitedTo(OutputStream out) throws IOException {
        ProtobufWriter length = new ProtobufWriter();
        length.varint(bytes.size());
        length.bytes.writeTo(out);
        bytes.writeTo(out);
    }

    private ProtobufWriter field(int number, byte[] content) {
        varint(((long) number << 3) | LENGTH_DELIMITED);
        varint(content.length);
        bytes.writeBytes(content);
        return this;
    }

    /// Zigzag encoding: the lowest bit is the sign.
    private static long zigzag(long value) {
        return (value << 1) ^ (value >> (Long.SIZE - 1));
    }

    /// Seven bits per byte, lowest first.
    private void varint(long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            bytes.write((int) ((rest & 0x7f) | 0x80));
            rest >>>= 7;
        }
        bytes.write((int) rest);
    }
}
