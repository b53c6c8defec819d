package org.mdlagent.arch;

/// The only way in which Java stores to code, always through a writable alias ([CodeMemory#alias]). [NativeApi] does
/// it; tests put themselves between a protocol's steps with one of their own.
public interface CodeWriter {
    /// One store instruction of `size` (1, 2, 4 or 8) bytes to `alias`.
    void store(long alias, long value, int size);

    /// Replaces eight bytes by one locked store if they are `expected`. So two writers whose bytes share an atomic
    /// unit do not undo each other's stores.
    ///
    /// @param alias where the eight bytes start; they lie inside one atomic unit
    /// @return what stood there; `expected` when it was replaced
    long exchange(long alias, long expected, long value);
}
