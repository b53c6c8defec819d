package org.mdlagent.arch.code;

/// A store to code, inside one atomic unit.
///
/// @param address where, in the code; the store goes to its alias
/// @param word    the bytes, little-endian
/// @param size    how many: 1, 2, 4 or 8
public record CodeStore(long address, long word, int size) {}
