package org.mdlagent.arch.shim;

/// The only way in which Java stores to code, always through a writable alias ([CodeMemory#alias]). [NativeApi] does
/// it; tests put themselves between a protocol's steps with one of their own.
public interface CodeWriter {
    /// One store instruction of `size` (1, 2, 4 or 8) bytes to `alias`.
    void store(long alias, long value, int size);

    /// Replaces those bits of eight bytes that `mask` has, by one locked store. So two writers whose bytes share an
    /// atomic unit do not undo each other's stores.
    ///
    /// @param alias where the eight bytes start; they lie inside one atomic unit
    /// @param value the new bits; the mask has all of them
    void replace(long alias, long mask, long value);

    /// Makes all stores of a list, in its order, each as above.
    default void replaceAll(StoreList stores) {
        stores.forEach(this);
    }
}
