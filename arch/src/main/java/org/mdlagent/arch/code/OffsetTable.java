package org.mdlagent.arch.code;

import java.util.Arrays;

/// A map from offsets in an image to numbers, in insertion order. A large program has a hundred thousand entries:
/// they take some 24 bytes each here, and 80 in a map of objects.
public final class OffsetTable {
    private static final long HASH = 0x9E3779B97F4A7C15L;
    private static final int FIRST_CAPACITY = 16;

    private long[] offsets = {};
    private int[] numbers = {};

    /// Hash slots: the position of an offset plus one, 0: free. Their number is a power of two, and at least half
    /// are free.
    private int[] slots = {};

    /// Shift that leaves the highest bits of a hash. They spread equidistant offsets evenly; the lower bits do
    /// not.
    private int shift;

    private int size;

    /// The position found last: usually the same or the next one is requested next.
    private int lastFound;

    /// An empty table.
    public OffsetTable() {}

    /// Receives each entry.
    @FunctionalInterface
    public interface Visitor {
        void visit(long offset, int number);
    }

    public int size() {
        return size;
    }

    /// The number at a position.
    public int number(int position) {
        return numbers[position];
    }

    public boolean contains(long offset) {
        return position(offset) >= 0;
    }

    /// The number at an offset, or `otherwise`.
    public int get(long offset, int otherwise) {
        int position = position(offset);
        return position < 0 ? otherwise : numbers[position];
    }

    /// The position of an offset, or -1.
    private int position(long offset) {
        for (int i = lastFound; i < size && i <= lastFound + 1; i++) {
            if (offsets[i] == offset) {
                lastFound = i;
                return i;
            }
        }
        int position = size == 0 ? -1 : slots[slot(offset)] - 1;
        lastFound = position < 0 ? lastFound : position;
        return position;
    }

    /// Sets the number of an offset.
    public void put(long offset, int number) {
        if (size == offsets.length) {
            grow();
        }
        int slot = slot(offset);
        if (slots[slot] != 0) {
            numbers[slots[slot] - 1] = number;
            return;
        }
        offsets[size] = offset;
        numbers[size] = number;
        slots[slot] = ++size;
    }

    public void forEach(Visitor visitor) {
        for (int i = 0; i < size; i++) {
            visitor.visit(offsets[i], numbers[i]);
        }
    }

    public void clear() {
        size = 0;
        lastFound = 0;
        offsets = new long[0];
        numbers = new int[0];
        slots = new int[0];
    }

    private void grow() {
        int capacity = Math.max(FIRST_CAPACITY, 2 * size);
        offsets = Arrays.copyOf(offsets, capacity);
        numbers = Arrays.copyOf(numbers, capacity);
        slots = new int[2 * Integer.highestOneBit(capacity)];
        shift = Long.SIZE - Integer.numberOfTrailingZeros(slots.length);
        for (int i = 0; i < size; i++) {
            slots[slot(offsets[i])] = i + 1;
        }
    }

    /// The first slot to try for an offset.
    static int firstSlot(long offset, int shift) {
        return (int) (offset * HASH >>> shift);
    }

    /// The slot that holds an offset, or the free slot to insert the offset into.
    private int slot(long offset) {
        int mask = slots.length - 1;
        int slot = firstSlot(offset, shift);
        while (slots[slot] != 0 && offsets[slots[slot] - 1] != offset) {
            slot = slot + 1 & mask;
        }
        return slot;
    }
}
