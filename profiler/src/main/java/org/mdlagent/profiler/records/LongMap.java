package org.mdlagent.profiler.records;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A cache keyed by long, without an object per key: open addressing, linear probing.
final class LongMap<V> {
    private static final int SLOTS_AT_FIRST = 1024;
    private static final long HASH = 0x9E3779B97F4A7C15L;

    private final int most;
    private long[] keys = new long[SLOTS_AT_FIRST];
    private @Nullable Object[] values = new Object[SLOTS_AT_FIRST];
    private int size;

    /// @param most keys; the next one clears the cache
    LongMap(int most) {
        this.most = most;
    }

    /// The value of a key, null when there is none.
    @SuppressWarnings("unchecked") // only values of this type are put in
    @Nullable
    V get(long key) {
        return (V) values[slot(key)];
    }

    /// Adds a key.
    void put(long key, V value) {
        if (size == most) {
            clear();
        } else if (2 * size >= keys.length) {
            grow();
        }
        int slot = slot(key);
        keys[slot] = key;
        values[slot] = value;
        size++;
    }

    void clear() {
        Arrays.fill(values, null);
        size = 0;
    }

    private int slot(long key) {
        int mask = keys.length - 1;
        int slot = (int) (key * HASH >>> 32) & mask;
        while (values[slot] != null && keys[slot] != key) {
            slot = slot + 1 & mask;
        }
        return slot;
    }

    private void grow() {
        long[] oldKeys = keys;
        @Nullable Object[] oldValues = values;
        keys = new long[2 * oldKeys.length];
        values = new Object[keys.length];
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldValues[i] != null) {
                int slot = slot(oldKeys[i]);
                keys[slot] = oldKeys[i];
                values[slot] = oldValues[i];
            }
        }
    }
}
