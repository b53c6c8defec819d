package org.mdlagent.profiler.report.live;

import java.io.IOException;
import java.util.Optional;
import org.mdlagent.profiler.report.page.HeatMap;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.profiler.report.slice.FunctionSlice;
import org.mdlagent.profiler.text.JsonWriter;

/// The latency of one function over time while its program runs: the slices that a page must append to its
/// heat map, given the last slice it knows.
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

    /// Writes JSON: the slices, then triples of slice position, row and calls.
    public void write(Appendable out) throws IOException {
        JsonWriter json = JsonWriter.ofPage(out).beginObject();
        slices.write(json);
        map.write(json);
        json.endObject();
    }
}
