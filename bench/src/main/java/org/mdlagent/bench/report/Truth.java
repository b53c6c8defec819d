package org.mdlagent.bench.report;

import java.util.EnumMap;
import java.util.Map;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// Ground truth of a function.
///
/// @param values the known values
public record Truth(String symbol, Map<Column, Long> values) {
    /// From a run with each of its calls timed.
    public static Truth of(FunctionProfile function) {
        Map<Column, Long> values = new EnumMap<>(Column.class);
        for (Column column : Column.values()) {
            column.of(function).ifPresent(value -> values.put(column, value));
        }
        return new Truth(function.symbol(), values);
    }

    /// The same calls on a machine that takes `factor` times as long.
    public Truth slowedBy(double factor) {
        Map<Column, Long> slower = new EnumMap<>(values);
        slower.replaceAll((column, value) -> column == Column.CALLS ? value : Math.round(factor * value));
        return new Truth(symbol, slower);
    }

    /// From a line of a self-measuring program: the symbol, and a number for each column.
    ///
    /// @throws IllegalArgumentException if it is invalid
    public static Truth parse(String line) {
        String[] words = line.split(" ", -1);
        if (words.length != Column.values().length + 1) {
            throw new IllegalArgumentException("not the truth about a function: " + line);
        }
        Map<Column, Long> values = new EnumMap<>(Column.class);
        for (Column column : Column.values()) {
            values.put(column, Long.parseLong(words[column.ordinal() + 1]));
        }
        return new Truth(words[0], values);
    }
}
