package org.mdlagent.arch.shim;

import java.nio.charset.StandardCharsets;
import jdk.internal.misc.Unsafe;

/// Memory of this process by address: the session, the tables, program text that stays mapped.
///
/// Accesses are not bounds-checked, so pass only addresses from the shim's allocator, from the dynamic linker's
/// list of images, or of a [NativeBuffer]. Ints and longs are naturally aligned, so each access is a single one for
/// the processor. Use [NativeApi#store] for stores to code.
///
/// It uses the JDK's own accessor. Foreign memory would make method handles at the first use of each kind of access,
/// 30 ms of CPU at each start; the interpreter, which runs most of a start, needs 0.5 us for each of its accesses.
public final class Memory {
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();

    private Memory() {}

    public static byte getByte(long address) {
        return UNSAFE.getByte(null, address);
    }

    public static void putByte(long address, byte value) {
        UNSAFE.putByte(null, address, value);
    }

    /// An acquire read, which is free on x86-64.
    public static int getInt(long address) {
        return UNSAFE.getIntVolatile(null, address);
    }

    public static void putInt(long address, int value) {
        UNSAFE.putInt(null, address, value);
    }

    /// An acquire read; [#getInt] does not guarantee that.
    public static int getIntAcquire(long address) {
        return getInt(address);
    }

    /// C1 puts a full fence after a release store of the JDK, so this one is a fence for the compiler and a plain
    /// store.
    public static void putIntRelease(long address, int value) {
        UNSAFE.storeFence();
        putInt(address, value);
    }

    public static long getLong(long address) {
        return UNSAFE.getLongVolatile(null, address);
    }

    public static void putLong(long address, long value) {
        UNSAFE.putLong(null, address, value);
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
        UNSAFE.storeFence();
        putLong(address, value);
    }

    public static void putDouble(long address, double value) {
        putLong(address, Double.doubleToRawLongBits(value));
    }

    /// Copies `length` bytes that start at `address` into a new array.
    public static byte[] copy(long address, int length) {
        byte[] bytes = new byte[length];
        UNSAFE.copyMemory(null, address, bytes, Unsafe.ARRAY_BYTE_BASE_OFFSET, length);
        return bytes;
    }

    /// Copies longs that start at `address` into all of `target`.
    public static void copy(long address, long[] target) {
        copy(address, target, target.length);
    }

    /// Copies longs that start at `address` into the first `length` of `target`. No long is torn.
    public static void copy(long address, long[] target, int length) {
        UNSAFE.copyMemory(null, address, target, Unsafe.ARRAY_LONG_BASE_OFFSET, (long) length * Long.BYTES);
    }

    /// Copies `count` longs of `source` to `address`. No long is torn.
    public static void put(long address, long[] source, int from, int count) {
        UNSAFE.copyMemory(
                source,
                Unsafe.ARRAY_LONG_BASE_OFFSET + (long) from * Long.BYTES,
                null,
                address,
                (long) count * Long.BYTES);
    }

    /// Copies all of `bytes` to `address`.
    public static void put(long address, byte[] bytes) {
        put(address, bytes, 0, bytes.length);
    }

    /// Copies `length` of `bytes` to `address`.
    public static void put(long address, byte[] bytes, int from, int length) {
        UNSAFE.copyMemory(bytes, Unsafe.ARRAY_BYTE_BASE_OFFSET + (long) from, null, address, length);
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
