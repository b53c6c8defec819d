package org.mdlagent.profiler.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.OptionalDouble;
import java.util.TreeMap;
import org.mdlagent.arch.layout.SliceDescriptor;

/// Calls by time and duration, for pictures: a column is some slices of time, a row some slots of their histograms,
/// four to an octave. Coarser than what is kept, and of so many functions only, that a page stays small.
final class HeatMaps {
    private static final int FUNCTIONS_MAX = 500;
    private static final int COLUMNS_MAX = 240;
    private static final int SLOTS_PER_ROW = 4;
    private static final int ROWS = SliceDescriptor.SLOTS / SLOTS_PER_ROW;

    /// The slices of each column.
    private final List<List<TimeSlice>> columns = new ArrayList<>();

    /// By function: calls, by column and row.
    private final IdentityHashMap<FunctionProfile, TreeMap<Integer, Long>> cells = new IdentityHashMap<>();

    private final OptionalDouble tscHz;

    /// @param functions in descending order of importance
    HeatMaps(SessionFacts session, List<FunctionProfile> functions, Timeline timeline) throws IOException {
        tscHz = session.tscHz();
        List<TimeSlice> slices = timeline.slices();
        int perColumn = Math.ceilDiv(slices.size(), COLUMNS_MAX);
        for (int i = 0; i < slices.size(); i += perColumn) {
            columns.add(slices.subList(i, Math.min(slices.size(), i + perColumn)));
        }
        functions.stream().limit(FUNCTIONS_MAX).forEach(function -> cells.put(function, new TreeMap<>()));
        for (int column = 0; column < columns.size(); column++) {
            for (TimeSlice slice : columns.get(column)) {
                add(column, slice, timeline.functions());
            }
        }
    }

    private void add(int column, TimeSlice slice, List<FunctionProfile> functions) throws IOException {
        for (FunctionSlice function : slice.functions()) {
            TreeMap<Integer, Long> map = cells.get(functions.get(function.function()));
            if (map != null) {
                function.slots()
                        .forEach(slot ->
                                map.merge(column * ROWS + slot.index() / SLOTS_PER_ROW, slot.calls(), Long::sum));
            }
        }
    }

    /// Where columns begin and end, in milliseconds since 1970, and where rows begin, in nanoseconds.
    void axes(JsonWriter json) throws IOException {
        json.beginArray("columns");
        for (List<TimeSlice> slices : columns) {
            json.element(slices.getFirst().start().toEpochMilli());
            json.element(slices.getLast().end().toEpochMilli());
        }
        json.endArray();
        json.beginArray("rows");
        for (int row = 0; row < ROWS && tscHz.isPresent(); row++) {
            double ticks = Latency.lowest(row * SLOTS_PER_ROW * SliceDescriptor.SLOT);
            json.element(Math.round(ticks / tscHz.getAsDouble() * 1e9));
        }
        json.endArray();
    }

    /// A function's column, row and calls in turn; nothing of one that has no map.
    void cells(FunctionProfile function, JsonWriter json) throws IOException {
        TreeMap<Integer, Long> map = cells.get(function);
        if (map == null) {
            return;
        }
        json.beginArray("heat");
        for (var cell : map.entrySet()) {
            json.element(cell.getKey() / ROWS);
            json.element(cell.getKey() % ROWS);
            json.element(cell.getValue());
        }
        json.endArray();
    }
}
