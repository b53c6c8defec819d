package org.mdlagent.arch.shim;

import java.util.Arrays;

/// Stores that are made one after the other, by few calls of the shim: [CodeWriter#replaceAll].
public final class StoreList {
    /// Of each store: where, a mask, and bits of the mask.
    static final int WORDS = 3;

    /// A mask: eight bytes of which nobody else stores any.
    public static final long ALL = -1;

    /// A mask: one byte alone is stored.
    private static final long ONE_BYTE = 0xFF;

    private static final long[] NONE = {};

    private final int expected;
    private long[] words = NONE;
    private int used;

    /// @param expected how many there may be; more can be added
    public StoreList(int expected) {
        this.expected = Math.max(1, expected);
    }

    /// Makes room for more stores, so that adding them does not fail.
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

    /// Lets all stores be of the same value.
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
