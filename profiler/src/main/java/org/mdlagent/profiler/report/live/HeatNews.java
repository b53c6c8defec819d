package org.mdlagent.profiler.report.live;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.mdlagent.profiler.report.format.JsonWriter;
import org.mdlagent.profiler.report.page.HeatMap;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.profiler.slice.FunctionSlice;
import org.mdlagent.profiler.slice.TimeSlice;

/// The latency of one function over time, of a program that goes on: what a page that knows the slices of time up to
/// some number is to append to its heat map.
public final class HeatNews {
    private final List<TimeSlice> slices;
    private final HeatMap map = new HeatMap();
    private final long next;

    /// @param function position among the session's functions
    /// @param from     number of the first slice that the page does not know
    public HeatNews(SessionReader session, int function, long from) throws IOException {
        slices = session.slices(from);
        next = slices.isEmpty() ? from : slices.getLast().number() + 1;
        for (int column = 0; column < slices.size(); column++) {
            Optional<FunctionSlice> slice = slices.get(column).function(function);
            if (slice.isPresent()) {
                map.add(column, slice.get());
            }
        }
    }

    /// Writes as JSON: where each slice begins and ends, in milliseconds since 1970; position of a slice here, row and
    /// calls in turn; and the number of the first slice to ask for next time.
    public void write(Appendable out) throws IOException {
        JsonWriter json = new JsonWriter(out, false).beginObject();
        json.beginArray("columns");
        for (TimeSlice slice : slices) {
            json.element(slice.start().toEpochMilli());
            json.element(slice.end().toEpochMilli());
        }
        json.endArray();
        map.write(json);
        json.member("next", next).endObject();
    }
}
