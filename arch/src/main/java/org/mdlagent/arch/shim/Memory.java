package org.mdlagent.arch.shim;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;

/// Memory of this process by address: the session, the tables, program text that is mapped for good.
///
/// There are no bounds here, so callers pass only addresses that they got from an allocation of the shim or from the
/// dynamic linker's list of images. Accesses to ints and longs are naturally aligned, so each is one access of the
/// processor; whoever stores to code goes through [NativeApi#store] instead.
///
/// Every kind of access has its method handles spun when it is first used, which costs milliseconds while a program
/// starts. So there are two, of ints and longs; stores are ordered by fences, and bytes are copied.
public final class Memory {
    /// Up to so many bytes are copied by words: a call that copies any number takes longer than these.
    private static final int SMALL = 128;

    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    /// Constants, which the compiler sees through. All reads acquire: that costs nothing on x86-64, while C1
    /// compiles the handling of unaligned addresses into plain ones, which makes draining a ring a third dearer.
    /// Stores are plain: in C1's code, one that releases is followed by a fence.
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private Memory() {}

    public static byte getByte(long address) {
        return (byte) (getLong(address & -Long.BYTES) >> (address & Long.BYTES - 1) * Byte.SIZE);
    }

    public static void putByte(long address, byte value) {
        put(address, new byte[] {value});
    }

    public static int getInt(long address) {
        return (int) INT.getAcquire(ALL, address);
    }

    public static void putInt(long address, int value) {
        INT.set(ALL, address, value);
    }

    /// Nothing that is read later is older. [#getInt] does not promise that.
    public static int getIntAcquire(long address) {
        return getInt(address);
    }

    public static void putIntRelease(long address, int value) {
        VarHandle.releaseFence();
        putInt(address, value);
    }

    public static long getLong(long address) {
        return (long) LONG.getAcquire(ALL, address);
    }

    public static void putLong(long address, long value) {
        LONG.set(ALL, address, value);
    }

    /// Adds to a word that nobody else writes.
    public static void addLong(long address, long amount) {
        putLong(address, getLong(address) + amount);
    }

    /// Nothing that is read later is older. [#getLong] does not promise that.
    public static long getLongAcquire(long address) {
        return getLong(address);
    }

    public static void putLongRelease(long address, long value) {
        VarHandle.releaseFence();
        putLong(address, value);
    }

    public static void putDouble(long address, double value) {
        putLong(address, Double.doubleToRawLongBits(value));
    }

    /// Copies `length` bytes that start at `address` into a new array.
    public static byte[] copy(long address, int length) {
        byte[] bytes = new byte[length];
        if (length > SMALL) {
            MemorySegment.copy(ALL, ValueLayout.JAVA_BYTE, address, bytes, 0, length);
            return bytes;
        }
        long word = 0;
        for (int i = 0; i < length; i++) {
            long at = address + i;
            // Whole words, none of which reaches into a page that holds no byte of these.
            word = i == 0 || (at & Long.BYTES - 1) == 0 ? getLong(at & -Long.BYTES) : word;
            bytes[i] = (byte) (word >> (at & Long.BYTES - 1) * Byte.SIZE);
        }
        return bytes;
    }

    /// Copies longs that start at `address` into all of `target`.
    public static void copy(long address, long[] target) {
        copy(address, target, target.length);
    }

    /// Copies longs that start at `address` into the first `length` of `target`.
    public static void copy(long address, long[] target, int length) {
        MemorySegment.copy(ALL, ValueLayout.JAVA_LONG, address, target, 0, length);
    }

    /// Copies `count` longs of `source` to `address`.
    public static void put(long address, long[] source, int from, int count) {
        if (count * Long.BYTES > SMALL) {
            MemorySegment.copy(source, from, ALL, ValueLayout.JAVA_LONG, address, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            putLong(address + (long) i * Long.BYTES, source[from + i]);
        }
    }

    /// Copies all of `bytes` to `address`.
    public static void put(long address, byte[] bytes) {
        if (bytes.length <= SMALL && ((address | bytes.length) & Long.BYTES - 1) == 0) {
            for (int i = 0; i < bytes.length; i += Long.BYTES) {
                putLong(address + i, word(bytes, i));
            }
            return;
        }
        MemorySegment.copy(bytes, 0, ALL, ValueLayout.JAVA_BYTE, address, bytes.length);
    }

    private static long word(byte[] bytes, int at) {
        long word = 0;
        for (int i = Long.BYTES - 1; i >= 0; i--) {
            word = word << Byte.SIZE | bytes[at + i] & 0xFF;
        }
        return word;
    }

    /// The NUL-terminated UTF-8 string at `address`.
    public static String string(long address) {
        int length = 0;
        while (getByte(address + length) != 0) {
            length++;
        }
        return new String(copy(address, length), StandardCharsets.UTF_8);
    }
}
