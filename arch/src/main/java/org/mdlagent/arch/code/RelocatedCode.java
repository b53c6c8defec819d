package org.mdlagent.arch.code;

/// Code that has the effect of instructions which stand elsewhere.
///
/// @param bytes  the code
/// @param starts of each byte of the instructions the offset of the code that stands for the instruction which begins
///     there; -1 where none begins
public record RelocatedCode(byte[] bytes, int[] starts) {}
