package org.mdlagent.profiler.report.page;

import java.io.IOException;
import java.util.TreeMap;
import org.mdlagent.arch.layout.RowBuckets;
import org.mdlagent.arch.layout.SliceDescriptor;
import org.mdlagent.profiler.report.slice.FunctionSlice;
import org.mdlagent.profiler.text.JsonWriter;

/// Calls of a function by time and duration, as a heat map: a column is a time slice, a row is a range of
/// histogram slots, four to an octave.
public final class HeatMap {
    private static final int SLOTS_PER_ROW = 4;

    static final int ROWS = SliceDescriptor.SLOTS / SLOTS_PER_ROW;

    /// By column and row.
    private final TreeMap<Integer, Long> cells = new TreeMap<>();

    /// Without calls.
    public HeatMap() {}

    public void add(int column, FunctionSlice slice) {
        for (FunctionSlice.Slot slot : slice.slots()) {
            cells.merge(column * ROWS + slot.index() / SLOTS_PER_ROW, slot.calls(), Long::sum);
        }
    }

    /// The shortest duration of a row, in ticks.
    static long lowestTicks(int row) {
        return RowBuckets.lowest(row * SLOTS_PER_ROW * SliceDescriptor.SLOT);
    }

    /// Writes triples of column, row and calls.
    public void write(JsonWriter json) throws IOException {
        json.beginArray("heat");
        for (var cell : cells.entrySet()) {
            json.element(cell.getKey() / ROWS);
            json.element(cell.getKey() % ROWS);
            json.element(cell.getValue());
        }
        json.endArray();
    }
}
