package org.mdlagent.arch.elf;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/// Writes language-specific data for code at another address: "Exception Handling Tables" of the C++ ABI.
public final class ExceptionWriter {
    private static final int ABSOLUTE = 0x00;
    private static final int INT = 0x03;
    private static final int OMITTED = 0xff;

    private ExceptionWriter() {}

    /// @param sites     with offsets from `start`, in ascending order
    /// @param padsFrom  what landing pads count from: below all of them
    /// @param actions   as in the original
    /// @param types     addresses of the types, by the number that actions give them, from 1; 0: any exception
    public static byte[] write(
            List<ExceptionData.Site> sites, long start, long padsFrom, byte[] actions, long[] types) {
        Bytes table = new Bytes();
        for (ExceptionData.Site site : sites) {
            table.putInt(site.start() - start);
            table.putInt(site.length());
            table.putInt(site.pad() == 0 ? 0 : site.pad() - padsFrom);
            table.uleb(site.action());
        }
        Bytes rest = new Bytes();
        rest.write(INT);
        rest.uleb(table.size());
        rest.writeBytes(table.toByteArray());
        rest.writeBytes(actions);
        for (int i = types.length - 1; i >= 0; i--) {
            rest.putLong(types[i]);
        }
        Bytes all = new Bytes();
        all.write(ABSOLUTE);
        all.putLong(padsFrom);
        all.write(types.length == 0 ? OMITTED : ABSOLUTE);
        if (types.length > 0) {
            all.uleb(rest.size());
        }
        all.writeBytes(rest.toByteArray());
        return all.toByteArray();
    }

    private static final class Bytes extends ByteArrayOutputStream {
        void putInt(long value) {
            writeBytes(ByteBuffer.allocate(Integer.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(Math.toIntExact(value))
                    .array());
        }

        void putLong(long value) {
            writeBytes(ByteBuffer.allocate(Long.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(value)
                    .array());
        }

        void uleb(long value) {
            long rest = value;
            for (; rest >= 0x80; rest >>>= 7) {
                write((int) (rest & 0x7f | 0x80));
            }
            write((int) rest);
        }
    }
}
