package org.mdlagent.client;

import java.util.List;

/// A basic block: code that is entered at its beginning only and left at its end only.
///
/// @param function     demangled name
/// @param image        path of the ELF file
/// @param address      of its first instruction, in the file
/// @param bytes        its size
/// @param instructions their number
/// @param count        how often it ran, exact
/// @param lines        with code in it; empty if not known
public record Block(
        String function, String image, long address, int bytes, int instructions, long count, List<Line> lines) {
    public Block {
        lines = List.copyOf(lines);
    }
}
