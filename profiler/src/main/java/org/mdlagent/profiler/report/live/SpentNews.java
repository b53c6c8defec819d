package org.mdlagent.profiler.report.live;

import java.io.IOException;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import org.mdlagent.profiler.report.format.JsonWriter;
import org.mdlagent.profiler.report.page.SpentTime;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.profiler.slice.FunctionSlice;

/// The time spent in some functions, slice by slice, of a program that goes on: what a page that knows the slices up to
/// some number is to append to its picture of the whole program.
public final class SpentNews {
    private final NewSlices slices;

    /// By their positions.
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

    /// Writes as JSON: the slices, and of each function its position, and position of a slice here, nanoseconds and
    /// calls in turn.
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
