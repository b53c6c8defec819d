package org.mdlagent.wordpatch;

import org.mdlagent.arch.shim.CodeWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.StoreList;

/// The bytes of a site that lie in one atomic unit, as a part of the eight bytes that one locked store
/// replaces.
///
/// @param alias  start of those eight bytes, through the alias; they lie in the same unit
/// @param shift  bits from there to the part
/// @param offset bits from the site's start to the part
/// @param mask   of the part's bits, at their position in the site's word
record Part(long alias, int shift, int offset, long mask) {
    /// @param siteAlias of the site's first byte
    /// @param from      offset of the part's first byte in the site
    /// @param to        offset one past its last byte
    /// @param unit      bytes within which a store is atomic for fetch
    static Part of(long siteAlias, int from, int to, int unit) {
        long start = siteAlias + from;
        long quadword = start & -Long.BYTES;
        boolean fits = siteAlias + to <= quadword + Long.BYTES;
        long window = fits ? quadword : Math.min(start, (start & -unit) + unit - Long.BYTES);
        return new Part(
                window,
                Math.toIntExact(start - window) * Byte.SIZE,
                from * Byte.SIZE,
                bits(to - from) << from * Byte.SIZE);
    }

    /// The low `bytes` bytes of a long.
    static long bits(int bytes) {
        return bytes == Long.BYTES ? -1 : (1L << bytes * Byte.SIZE) - 1;
    }

    boolean differs(long word, long other) {
        return ((word ^ other) & mask) != 0;
    }

    /// Replaces the part by that of `word`, with one store. Concurrent changes of neighbouring bytes are
    /// kept.
    void store(CodeWriter writer, long word) {
        writer.replace(alias, inPlace(mask), inPlace(word & mask));
    }

    /// Adds the store of [#store] to `stores`, for [CodeWriter#replaceAll].
    void addTo(StoreList stores, long word) {
        stores.add(alias, inPlace(mask), inPlace(word & mask));
    }

    private long inPlace(long bits) {
        return bits >>> offset << shift;
    }

    /// The word of `length` bytes at an address of any alignment; no byte outside the quadwords that contain
    /// it is read.
    static long read(long address, int length) {
        long low = address & -Long.BYTES;
        int shift = (int) (address - low) * Byte.SIZE;
        long word = Memory.getLong(low) >>> shift;
        if (address + length > low + Long.BYTES) {
            word |= Memory.getLong(low + Long.BYTES) << Long.SIZE - shift;
        }
        return word & bits(length);
    }
}
