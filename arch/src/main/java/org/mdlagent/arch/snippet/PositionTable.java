package org.mdlagent.arch.snippet;

import static org.mdlagent.arch.snippet.PositionTableDescriptor.COUNT;
import static org.mdlagent.arch.snippet.PositionTableDescriptor.ENTRIES;
import static org.mdlagent.arch.snippet.PositionTableDescriptor.ENTRY_SIZE;
import static org.mdlagent.arch.snippet.PositionTableDescriptor.KEY;
import static org.mdlagent.arch.snippet.PositionTableDescriptor.LOWEST;
import static org.mdlagent.arch.snippet.PositionTableDescriptor.MASK;
import static org.mdlagent.arch.snippet.PositionTableDescriptor.MULTIPLIER;
import static org.mdlagent.arch.snippet.PositionTableDescriptor.PLACES;
import static org.mdlagent.arch.snippet.PositionTableDescriptor.POSITION;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;
import org.mdlagent.arch.shim.Memory;

/// The table of an [Expression.Position]. One writer, concurrent readers.
///
/// Assumes    A1 allocated memory is zeroed and never freed
/// Guarantees G1 a known number has its position, whatever is added meanwhile
///            G2 an unknown number, or one that has just been added or removed, has the position or 0
///
/// A number gets an entry once and keeps it, so only an entry's position changes; the position is stored before
/// the number. If there is no free entry, all numbers move to a larger table, which is published by one word (G1).
public final class PositionTable {
    /// Maximum range of a direct table.
    public static final int REACH_MAX = 1 << 16;

    private static final int STEP = 1 << 10;
    private static final int HASHED_MIN = 1 << 8;
    private static final int HASHED_MAX = 1 << 20;

    /// Multipliers to try before a table grows.
    private static final int ATTEMPTS = 4;

    private final LongUnaryOperator allocate;
    private final boolean direct;
    private final SplittableRandom random = new SplittableRandom(0);
    private final Map<Long, Long> positions = new TreeMap<>();
    private final long word;
    private long table;

    /// @param allocate allocates memory of a size in bytes; returns 0 if out of memory
    /// @throws IllegalStateException when there is no memory
    public PositionTable(LongUnaryOperator allocate, boolean direct) {
        this.allocate = allocate;
        this.direct = direct;
        word = memory(Long.BYTES);
        table = direct ? memory(ENTRIES) : hashed(1, 1);
        Memory.putLongRelease(word, table);
    }

    /// The position of a number, found as threads do.
    public Expression.Position of(Expression number) {
        return new Expression.Position(number, word, direct);
    }

    /// Adds a number with its position.
    ///
    /// @param position 1 or more
    /// @throws IllegalArgumentException if the range of a direct table would be too large, or a hashed one is full
    /// @throws IllegalStateException when there is no memory
    public void add(long number, long position) {
        if (!(direct ? putIndexed(table, number, position) : putHashed(table, number, position))) {
            Map<Long, Long> all = new TreeMap<>(positions);
            all.put(number, position);
            long larger = direct ? indexed(all) : hashed(all);
            Memory.putLongRelease(word, larger);
            table = larger;
        }
        positions.put(number, position);
    }

    /// Removes a number's position.
    public void remove(long number) {
        if (positions.remove(number) != null) {
            boolean there = direct ? putIndexed(table, number, 0) : putHashed(table, number, 0);
            assert there : number;
        }
    }

    private static boolean putIndexed(long table, long number, long position) {
        long index = number - Memory.getLong(table + LOWEST);
        if (Long.compareUnsigned(index, Memory.getLong(table + COUNT)) >= 0) {
            return false;
        }
        Memory.putLongRelease(table + ENTRIES + index * Long.BYTES, position);
        return true;
    }

    private long indexed(Map<Long, Long> all) {
        long lowest = all.keySet().stream().min(Long::compare).orElseThrow() & -STEP;
        long highest = all.keySet().stream().max(Long::compare).orElseThrow();
        long count = (highest - lowest & -STEP) + STEP;
        if (count <= 0 || count > REACH_MAX) {
            throw new IllegalArgumentException("a direct vector reaches over " + REACH_MAX + " numbers, not from "
                    + lowest + " to " + highest + ": write 'vector hashed'");
        }
        long fresh = memory(ENTRIES + count * Long.BYTES);
        Memory.putLong(fresh + LOWEST, lowest);
        Memory.putLong(fresh + COUNT, count);
        all.forEach((number, position) -> {
            boolean unused = putIndexed(fresh, number, position);
        });
        return fresh;
    }

    /// Finds the number's entry, or an unused one.
    private static boolean putHashed(long table, long number, long position) {
        long first = PositionTableDescriptor.firstPlace(
                number, Memory.getLong(table + MULTIPLIER), Memory.getLong(table + MASK));
        for (int place = 0; place < PLACES; place++) {
            long entry = table + ENTRIES + first + (long) place * ENTRY_SIZE;
            long key = Memory.getLong(entry + KEY);
            if (key == number || key == 0 && Memory.getLong(entry + POSITION) == 0) {
                Memory.putLongRelease(entry + POSITION, position);
                Memory.putLongRelease(entry + KEY, number);
                return true;
            }
        }
        return false;
    }

    private long hashed(Map<Long, Long> all) {
        long entries = HASHED_MIN;
        while (entries < 4L * all.size()) {
            entries *= 2;
        }
        for (; entries <= HASHED_MAX; entries *= 2) {
            long fresh = 0;
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                long multiplier = random.nextLong() | 1;
                if (fit(all, multiplier, entries)) {
                    fresh = hashed(multiplier, entries);
                    break;
                }
            }
            if (fresh != 0) {
                long made = fresh;
                all.forEach((number, position) -> {
                    boolean unused = putHashed(made, number, position);
                });
                return made;
            }
        }
        throw new IllegalArgumentException("a hashed vector has no room for " + all.size() + " numbers");
    }

    /// Whether each of the numbers finds an entry.
    private static boolean fit(Map<Long, Long> all, long multiplier, long entries) {
        boolean[] taken = new boolean[Math.toIntExact(entries) + PLACES];
        for (long number : all.keySet()) {
            int entry = (int)
                    (PositionTableDescriptor.firstPlace(number, multiplier, (entries - 1) * ENTRY_SIZE) / ENTRY_SIZE);
            int end = entry + PLACES;
            while (entry < end && taken[entry]) {
                entry++;
            }
            if (entry == end) {
                return false;
            }
            taken[entry] = true;
        }
        return true;
    }

    private long hashed(long multiplier, long entries) {
        long fresh = memory(ENTRIES + (entries + PLACES - 1) * ENTRY_SIZE);
        Memory.putLong(fresh + MULTIPLIER, multiplier);
        Memory.putLong(fresh + MASK, (entries - 1) * ENTRY_SIZE);
        return fresh;
    }

    private long memory(long bytes) {
        long address = allocate.applyAsLong(bytes);
        if (address == 0) {
            throw new IllegalStateException("the session file cannot grow");
        }
        return address;
    }
}
