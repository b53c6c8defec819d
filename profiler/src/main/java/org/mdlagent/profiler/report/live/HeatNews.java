package org.mdlagent.profiler.report.live;

import java.io.IOException;
import java.util.Optional;
import org.mdlagent.profiler.report.format.JsonWriter;
import org.mdlagent.profiler.report.page.HeatMap;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.profiler.slice.FunctionSlice;

/// The latency of one function over time, of a program that goes on: what a page that knows the slices of time up to
/// some number is to append to its heat map.
public final class HeatNews {
    private final NewSlices slices;
    private final HeatMap map = new HeatMap();

    /// @param function position among the session's functions
    /// @param from     number of the first slice that the page does not know
    public HeatNews(SessionReader session, int function, long from) throws IOException {
        slices = new NewSlices(session, from);
        for (int column = 0; column < slices.slices().size(); column++) {
            Optional<FunctionSlice> slice = slices.slices().get(column).function(function);
            if (slice.isPresent()) {
                map.add(column, slice.get());
            }
        }
    }

    /// Writes as JSON: the slices, and position of a slice here, row and calls in turn.
    public void write(Appendable out) throws IOException {
        JsonWriter json = JsonWriter.ofPage(out).beginObject();
        slices.write(json);
        map.write(json);
        json.endObject();
    }
}
