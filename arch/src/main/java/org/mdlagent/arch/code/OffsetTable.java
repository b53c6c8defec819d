package org.mdlagent.arch.code;

import java.util.Arrays;

/// Numbers of what stands in an image, by its offset, in the order in which they came. A large program has a hundred
/// thousand: they take some 24 bytes each here, 80 in a map of objects.
public final class OffsetTable {
    private static final long HASH = 0x9E3779B97F4A7C15L;
    private static final int FIRST_CAPACITY = 16;

    private long[] offsets = {};
    private int[] numbers = {};

    /// A power of two, at least half of which are 0: the position of an offset, raised by one.
    private int[] slots = {};

    /// What leaves the highest bits of a hash, as many as `slots` takes. These spread offsets at equal distances
    /// evenly; lower ones do not.
    private int shift;

    private int size;

    /// The position that was found last: mostly the next one is asked for then, or the same.
    private int lastFound;

    /// An empty one.
    public OffsetTable() {}

    /// What is done with each.
    @FunctionalInterface
    public interface Visitor {
        void visit(long offset, int number);
    }

    public int size() {
        return size;
    }

    /// The number that came as the `position`-th.
    public int number(int position) {
        return numbers[position];
    }

    public boolean contains(long offset) {
        return position(offset) >= 0;
    }

    /// The number at an offset, `otherwise` when there is none.
    public int get(long offset, int otherwise) {
        int position = position(offset);
        return position < 0 ? otherwise : numbers[position];
    }

    /// Where an offset stands, -1 when it is not there.
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

    /// Gives an offset a number, in place of the one that it had.
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

    /// The slot of an offset that is tried first.
    static int firstSlot(long offset, int shift) {
        return (int) (offset * HASH >>> shift);
    }

    /// That of an offset, or the one that it would have.
    private int slot(long offset) {
        int mask = slots.length - 1;
        int slot = firstSlot(offset, shift);
        while (slots[slot] != 0 && offsets[slots[slot] - 1] != offset) {
            slot = slot + 1 & mask;
        }
        return slot;
    }
}
