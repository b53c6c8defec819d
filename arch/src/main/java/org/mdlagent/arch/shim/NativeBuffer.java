package org.mdlagent.arch.shim;

import java.nio.charset.StandardCharsets;
import jdk.internal.misc.Unsafe;

/// Zeroed memory outside the heap, for arguments and results of the shim's functions. Aligned to 16 bytes.
public final class NativeBuffer implements AutoCloseable {
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();

    private final long address;

    private NativeBuffer(long address) {
        this.address = address;
    }

    /// A buffer of `bytes`, or of one byte if that is 0.
    public static NativeBuffer of(long bytes) {
        long size = Math.max(1, bytes);
        long address = UNSAFE.allocateMemory(size);
        UNSAFE.setMemory(address, size, (byte) 0);
        return new NativeBuffer(address);
    }

    /// A NUL-terminated UTF-8 string.
    public static NativeBuffer of(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        NativeBuffer buffer = of(bytes.length + 1L);
        Memory.put(buffer.address, bytes);
        return buffer;
    }

    /// Address of `bytes` that are never freed.
    public static long forEver(long bytes) {
        return of(bytes).address;
    }

    public long address() {
        return address;
    }

    /// Frees it; its address is invalid from now on.
    @Override
    public void close() {
        UNSAFE.freeMemory(address);
    }
}
