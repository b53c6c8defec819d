package org.mdlagent.profiler.report.codec;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/// Variable-length numbers: seven bits per byte, lowest first, and a continuation bit (LEB128).
public final class Varint {
    private Varint() {}

    /// @param number 0 or more
    public static void write(long number, DataOutput out) throws IOException {
        long rest = number;
        while (rest > 0x7f) {
            out.writeByte((int) (rest & 0x7f | 0x80));
            rest >>>= 7;
        }
        out.writeByte((int) rest);
    }

    /// @throws RecordFormatException when it exceeds the range of a long
    public static long read(DataInput in) throws IOException {
        long number = 0;
        for (int shift = 0; shift < 63; shift += 7) {
            int next = in.readUnsignedByte();
            number |= (long) (next & 0x7f) << shift;
            if (next < 0x80) {
                return number;
            }
        }
        throw new RecordFormatException("a number has too many bytes");
    }
}
