package org.mdlagent.profiler.report.live;

import java.io.IOException;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import org.mdlagent.profiler.report.page.SpentTime;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.profiler.report.slice.FunctionSlice;
import org.mdlagent.profiler.text.JsonWriter;

/// The time spent in some functions, slice by slice, while the program runs: what a page must append to its
/// overview, given the last slice it knows.
public final class SpentNews {
    private final NewSlices slices;

    /// By function position.
    private final TreeMap<Integer, SpentTime> functions = new TreeMap<>();

    /// @param wanted positions among the session's functions
    /// @param from   number of the first slice that the page does not know
    public SpentNews(SessionReader session, Set<Integer> wanted, long from) throws IOException {
        slices = new NewSlices(session, from);
        OptionalDouble nanosPerUnit = session.facts().nanosPerUnit();
        for (int column = 0; column < slices.slices().size(); column++) {
            for (FunctionSlice slice : slices.slices().get(column).functions()) {
                if (wanted.contains(slice.function())) {
                    functions
                            .computeIfAbsent(slice.function(), position -> new SpentTime(nanosPerUnit))
                            .add(column, slice);
                }
            }
        }
    }

    /// Writes JSON: the slices, and for each function its position and triples of slice position, nanoseconds
    /// and calls.
    public void write(Appendable out) throws IOException {
        JsonWriter json = JsonWriter.ofPage(out).beginObject();
        slices.write(json);
        json.beginArray("functions");
        for (Map.Entry<Integer, SpentTime> function : functions.entrySet()) {
            json.element().beginObject().member("position", function.getKey());
            function.getValue().write(json);
            json.endObject();
        }
        json.endArray().endObject();
    }
}
