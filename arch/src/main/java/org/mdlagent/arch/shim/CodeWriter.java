package org.mdlagent.arch.shim;

/// Stores to code, always through a writable alias ([CodeMemory#alias]). Java has no other way. [NativeApi]
/// implements it; tests use their own implementation to run between the steps of a protocol.
public interface CodeWriter {
    /// One store instruction of `size` (1, 2, 4 or 8) bytes to `alias`.
    void store(long alias, long value, int size);

    /// Replaces the bits of `mask` in eight bytes, by one locked store, so writers whose bytes share an atomic
    /// unit do not undo each other's stores.
    ///
    /// @param alias where the eight bytes start; they lie inside one atomic unit
    /// @param value the new bits, within the mask
    void replace(long alias, long mask, long value);

    /// Makes all stores of a list in order, each as above.
    default void replaceAll(StoreList stores) {
        stores.forEach(this);
    }
}
