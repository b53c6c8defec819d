package org.mdlagent.arch.elf;

/// Call frame instructions that take effect at an instruction of a function (DWARF 5 section 6.4.2).
///
/// @param offset       of the instruction in the function
/// @param instructions call frame instructions, none of which advances, after those of smaller offsets; code
///     addresses count in bytes, what is saved in words below the frame's address
public record FrameRule(int offset, byte[] instructions) {}
