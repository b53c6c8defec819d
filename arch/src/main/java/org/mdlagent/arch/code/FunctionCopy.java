package org.mdlagent.arch.code;

import java.util.List;

/// The plan of a copy of a function that counts how often each of its basic blocks runs.
///
/// A block ends at a jump, a return or a call, and before an instruction that is jumped to: all of it runs,
/// or nothing. Each block has one counter of eight bytes, in the order of [#blocks].
public interface FunctionCopy {
    /// In ascending order of address within each piece.
    List<Block> blocks();

    /// @param size         in bytes
    /// @param instructions their addresses
    record Block(int size, long[] instructions) {}

    /// Number of counters: one for each block, and one for jumps into the middle of blocks if there can be such.
    int counters();

    /// Bytes of the copy.
    int size();

    /// Bytes of the tables that lead computed jumps into the copy; 0 for none.
    int tableSize();

    /// The copy.
    ///
    /// @param at      where it will stand, within 2 GiB of all that the function refers to
    /// @param counter of the first block, below 2 GiB; the thread's base of counters is added to it
    /// @param table   where the tables will stand, below 2 GiB
    byte[] code(long at, long counter, long table);

    /// The tables of the last [#code].
    byte[] table();

    /// Offset in the last [#code] of the instruction at an address, -1 if none begins there.
    int place(long address);

    /// Where the copy of a piece ends, in the last [#code].
    int end(int piece);
}
