package org.mdlagent.arch.elf;

/// A place in a source file.
///
/// @param file path as the compiler recorded it
/// @param line counted from 1
public record SourceLine(String file, int line) {}
