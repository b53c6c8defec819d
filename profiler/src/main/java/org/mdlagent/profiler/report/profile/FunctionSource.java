package org.mdlagent.profiler.report.profile;

import java.util.List;
import java.util.SortedMap;

/// The source lines of a function's own code in one file, with the samples of CPU time that met them.
///
/// @param file      path as the compiler recorded it
/// @param samples   by line, weighted by the periods that each sample stands for
/// @param firstLine of the text
/// @param text      the file's lines from that one on; none if it cannot be read or is younger than the session
public record FunctionSource(
        FunctionProfile function, String file, SortedMap<Integer, Long> samples, int firstLine, List<String> text) {
    public FunctionSource {
        text = List.copyOf(text);
    }

    /// Samples of all lines.
    public long sum() {
        return samples.values().stream().mapToLong(Long::longValue).sum();
    }
}
