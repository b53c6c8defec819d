package org.mdlagent.profiler.report.page;

import java.io.IOException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.OptionalDouble;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.slice.FunctionSlice;
import org.mdlagent.profiler.report.slice.TimeSlice;
import org.mdlagent.profiler.report.slice.Timeline;
import org.mdlagent.profiler.text.JsonWriter;

/// Heat maps whose columns are groups of time slices. They are coarser than the stored data and cover a
/// limited number of functions, so that a page stays small.
final class HeatMaps {
    private static final int FUNCTIONS_MAX = 500;
    private static final int COLUMNS_MAX = 240;

    /// The slices of each column.
    private final List<List<TimeSlice>> columns = new ArrayList<>();

    private final IdentityHashMap<FunctionProfile, OverTime> functions = new IdentityHashMap<>();

    /// A function over time.
    private record OverTime(HeatMap map, SpentTime spent) {}

    private final OptionalDouble nanosPerUnit;

    /// @param functions in descending order of importance
    HeatMaps(SessionFacts session, List<FunctionProfile> functions, Timeline timeline) throws IOException {
        nanosPerUnit = session.nanosPerUnit();
        List<TimeSlice> slices = timeline.slices();
        if (slices.isEmpty()) {
            return;
        }
        int perColumn = Math.ceilDiv(slices.size(), COLUMNS_MAX);
        for (int i = 0; i < slices.size(); i += perColumn) {
            columns.add(slices.subList(i, Math.min(slices.size(), i + perColumn)));
        }
        for (FunctionProfile function : functions.subList(0, Math.min(FUNCTIONS_MAX, functions.size()))) {
            this.functions.put(function, new OverTime(new HeatMap(), new SpentTime(nanosPerUnit)));
        }
        for (int column = 0; column < columns.size(); column++) {
            for (TimeSlice slice : columns.get(column)) {
                add(column, slice, timeline.functions());
            }
        }
    }

    private void add(int column, TimeSlice slice, List<FunctionProfile> all) throws IOException {
        for (FunctionSlice function : slice.functions()) {
            OverTime shown = functions.get(all.get(function.function()));
            if (shown != null) {
                shown.map.add(column, function);
                shown.spent.add(column, function);
            }
        }
    }

    /// Writes the start and end of each column in milliseconds since 1970, and the start of each row in
    /// nanoseconds.
    void axes(JsonWriter json) throws IOException {
        json.beginArray("columns");
        for (List<TimeSlice> slices : columns) {
            json.element(slices.getFirst().start().toEpochMilli());
            json.element(slices.getLast().end().toEpochMilli());
        }
        json.endArray();
        json.beginArray("rows");
        for (int row = 0; row < HeatMap.ROWS && nanosPerUnit.isPresent(); row++) {
            json.element(Math.round(HeatMap.lowestTicks(row) * nanosPerUnit.getAsDouble()));
        }
        json.endArray();
    }

    /// Writes a function's cells and time spent; nothing if it has no map.
    void cells(FunctionProfile function, JsonWriter json) throws IOException {
        OverTime shown = functions.get(function);
        if (shown == null) {
            return;
        }
        shown.map.write(json);
        shown.spent.write(json);
    }
}
