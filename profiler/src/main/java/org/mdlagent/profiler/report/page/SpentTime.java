package org.mdlagent.profiler.report.page;

import java.io.IOException;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import org.mdlagent.profiler.report.slice.FunctionSlice;
import org.mdlagent.profiler.text.JsonWriter;

/// Time spent in a function, and its calls, by time slice, for a plot.
public final class SpentTime {
    private final double nanosPerUnit;
    private final TreeMap<Integer, Spent> columns = new TreeMap<>();

    private record Spent(double nanos, long calls) {
        Spent plus(Spent other) {
            return new Spent(nanos + other.nanos, calls + other.calls);
        }
    }

    /// Without calls.
    ///
    /// @param nanosPerUnit of the session's durations; if unknown, no time is added
    public SpentTime(OptionalDouble nanosPerUnit) {
        this.nanosPerUnit = nanosPerUnit.orElse(0);
    }

    /// Timed calls of a slice stand for the untimed ones.
    public void add(int column, FunctionSlice slice) {
        double each = slice.timed() > 0 ? (double) slice.ticks() / slice.timed() : 0;
        columns.merge(column, new Spent(each * slice.calls() * nanosPerUnit, slice.calls()), Spent::plus);
    }

    /// Writes triples of column, nanoseconds and calls.
    public void write(JsonWriter json) throws IOException {
        json.beginArray("spent");
        for (Map.Entry<Integer, Spent> column : columns.entrySet()) {
            json.element(column.getKey());
            json.element(Math.round(column.getValue().nanos));
            json.element(column.getValue().calls);
        }
        json.endArray();
    }
}
