package org.mdlagent.arch;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;

/// Memory of this process by address: the session, the tables, program text that is mapped for good.
///
/// There are no bounds here, so callers pass only addresses that they got from an allocation of the shim
/// or from the dynamic linker's list of images. All accesses are naturally aligned; whoever stores to
/// code goes through [NativeApi#store] instead.
public final class Memory {
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final VarHandle LONGS = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INTS = ValueLayout.JAVA_INT.varHandle();

    private Memory() {}

    public static byte getByte(long address) {
        return ALL.get(ValueLayout.JAVA_BYTE, address);
    }

    public static void putByte(long address, byte value) {
        ALL.set(ValueLayout.JAVA_BYTE, address, value);
    }

    public static int getInt(long address) {
        return ALL.get(ValueLayout.JAVA_INT, address);
    }

    public static void putInt(long address, int value) {
        ALL.set(ValueLayout.JAVA_INT, address, value);
    }

    public static int getIntAcquire(long address) {
        return (int) INTS.getAcquire(ALL, address);
    }

    public static void putIntRelease(long address, int value) {
        INTS.setRelease(ALL, address, value);
    }

    public static long getLong(long address) {
        return ALL.get(ValueLayout.JAVA_LONG, address);
    }

    public static void putLong(long address, long value) {
        ALL.set(ValueLayout.JAVA_LONG, address, value);
    }

    public static long getLongAcquire(long address) {
        return (long) LONGS.getAcquire(ALL, address);
    }

    public static void putLongRelease(long address, long value) {
        LONGS.setRelease(ALL, address, value);
    }

    public static void addLong(long address, long delta) {
        long unused = (long) LONGS.getAndAdd(ALL, address, delta);
    }

    public static double getDouble(long address) {
        return ALL.get(ValueLayout.JAVA_DOUBLE, address);
    }

    public static void putDouble(long address, double value) {
        ALL.set(ValueLayout.JAVA_DOUBLE, address, value);
    }

    /// Copies `length` bytes that start at `address` into a new array.
    public static byte[] copy(long address, int length) {
        byte[] bytes = new byte[length];
        MemorySegment.copy(ALL, ValueLayout.JAVA_BYTE, address, bytes, 0, length);
        return bytes;
    }

    /// Copies longs that start at `address` into all of `target`.
    public static void copy(long address, long[] target) {
        MemorySegment.copy(ALL, ValueLayout.JAVA_LONG, address, target, 0, target.length);
    }

    /// Copies all of `bytes` to `address`.
    public static void put(long address, byte[] bytes) {
        MemorySegment.copy(bytes, 0, ALL, ValueLayout.JAVA_BYTE, address, bytes.length);
    }

    /// The NUL-terminated UTF-8 string at `address`.
    public static String string(long address) {
        int length = 0;
        while (getByte(address + length) != 0) {
            length++;
        }
        return new String(copy(address, length), StandardCharsets.UTF_8);
    }

    /// The bytes `[address, address + length)` as a segment, for code that reads formats from memory.
    public static MemorySegment segment(long address, long length) {
        return MemorySegment.ofAddress(address).reinterpret(length);
    }
}
