package org.mdlagent.profiler.slice;

import java.util.Arrays;

/// The bytes of a slice: a sequence of unsigned LEB128 numbers (DWARF 5, section 7.6).
final class SliceBytes {
    private static final int SIZE_AT_FIRST = 4096;
    private static final int NUMBER_MAX = 10;
    private static final int LOW_BITS = 0x7f;

    private byte[] bytes = new byte[SIZE_AT_FIRST];
    private int size;

    /// Appends a number, taken as unsigned.
    void put(long number) {
        makeRoom(NUMBER_MAX);
        long rest = number;
        while ((rest & ~LOW_BITS) != 0) {
            bytes[size++] = (byte) (rest | ~LOW_BITS);
            rest >>>= 7;
        }
        bytes[size++] = (byte) rest;
    }

    void append(byte[] others) {
        makeRoom(others.length);
        System.arraycopy(others, 0, bytes, size, others.length);
        size += others.length;
    }

    private void makeRoom(int more) {
        if (size + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * bytes.length + more);
        }
    }

    int size() {
        return size;
    }

    void clear() {
        size = 0;
    }

    byte[] copy(int from, int to) {
        return Arrays.copyOfRange(bytes, from, to);
    }
}
