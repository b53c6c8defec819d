package org.mdlagent.arch.elf;

/// Call frame instructions that take effect at an instruction of a function (DWARF 5 section 6.4.2).
///
/// @param offset       of the instruction in the function
/// @param instructions call frame instructions without advances, to be applied after those of smaller offsets;
///     code offsets are in bytes, offsets of saved registers in words below the frame's address
public record FrameRule(int offset, byte[] instructions) {}
