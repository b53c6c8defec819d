package org.mdlagent.profiler.report.profile;

import java.util.List;
import java.util.SortedMap;

/// Lines of a source file that a function's own code is of, and the samples of CPU time that have met them.
///
/// @param file      path as the compiler recorded it
/// @param samples   by line, each counted as often as the periods that it stands for
/// @param firstLine of the text
/// @param text      the file's lines from that one on; none where it cannot be read or is younger than the session
public record FunctionSource(
        FunctionProfile function, String file, SortedMap<Integer, Long> samples, int firstLine, List<String> text) {
    public FunctionSource {
        text = List.copyOf(text);
    }

    /// Of all lines.
    public long sum() {
        return samples.values().stream().mapToLong(Long::longValue).sum();
    }
}
