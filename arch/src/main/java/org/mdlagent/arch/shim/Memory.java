package org.mdlagent.arch.shim;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;

/// Memory of this process by address: the session, the tables, program text that stays mapped.
///
/// Accesses are not bounds-checked, so pass only addresses from the shim's allocator or from the dynamic linker's
/// list of images. Ints and longs are naturally aligned, so each access is a single one for the processor. Use
/// [NativeApi#store] for stores to code.
///
/// The JDK generates method handles at the first use of each kind of access, which costs milliseconds at program
/// start. So there are only two kinds, ints and longs; fences order stores, and bytes are copied.
public final class Memory {
    /// Up to this size, copying by words is faster than a bulk copy.
    private static final int SMALL = 128;

    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    /// Constants, so the compiler can inline them. All reads acquire, which is free on x86-64; C1 compiles plain
    /// reads with a check for unaligned addresses, which makes draining a ring a third slower. Stores are plain,
    /// because C1 puts a fence after a release store.
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

    /// An acquire read; [#getInt] does not guarantee that.
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

    /// Adds to a word that has no other writer.
    public static void addLong(long address, long amount) {
        putLong(address, getLong(address) + amount);
    }

    /// An acquire read; [#getLong] does not guarantee that.
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
            // Whole words, none of which touches a page without any of these bytes.
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
