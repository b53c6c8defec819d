package org.mdlagent.arch.shim;

import java.util.Arrays;

/// A batch of ordered stores, made by few shim calls: [CodeWriter#replaceAll].
public final class StoreList {
    /// For each store: alias, mask and value.
    static final int WORDS = 3;

    /// Mask for eight bytes without other writers.
    public static final long ALL = -1;

    /// Mask for a single byte.
    private static final long ONE_BYTE = 0xFF;

    private static final long[] NONE = {};

    private final int expected;
    private long[] words = NONE;
    private int used;

    /// @param expected expected number of stores; it can grow
    public StoreList(int expected) {
        this.expected = Math.max(1, expected);
    }

    /// Reserves room, so that adding stores cannot fail.
    public void reserve(int more) {
        if (used + more * WORDS > words.length) {
            words = Arrays.copyOf(words, Math.max(expected * WORDS, 2 * words.length + more * WORDS));
        }
    }

    /// Adds a store as of [CodeWriter#replace].
    public void add(long alias, long mask, long value) {
        int at = used;
        if (at == words.length) {
            reserve(1);
        }
        long[] all = words;
        all[at] = alias;
        all[at + 1] = mask;
        all[at + 2] = value;
        used = at + WORDS;
    }

    /// Adds a store of one byte as of [CodeWriter#store].
    public void addByte(long alias, byte value) {
        add(alias, ONE_BYTE, value & ONE_BYTE);
    }

    public void clear() {
        words = NONE;
        used = 0;
    }

    public boolean isEmpty() {
        return used == 0;
    }

    /// Makes the stores one by one.
    void forEach(CodeWriter writer) {
        for (int at = 0; at < used; at += WORDS) {
            if (words[at + 1] == ONE_BYTE) {
                writer.store(words[at], words[at + 2], 1);
            } else {
                writer.replace(words[at], words[at + 1], words[at + 2]);
            }
        }
    }

    /// Sets the same value for all stores.
    public void values(long value) {
        for (int at = WORDS - 1; at < used; at += WORDS) {
            words[at] = value;
        }
    }

    int words() {
        return used;
    }

    /// Copies words to native memory.
    void copy(int from, int count, long address) {
        Memory.put(address, words, from, count);
    }
}
