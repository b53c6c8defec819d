package org.mdlagent.client;

/// A line of a source file.
///
/// @param file path of the file, as the compiler wrote it
/// @param line from 1
public record Line(String file, int line) {
    @Override
    public String toString() {
        return file + ":" + line;
    }
}
