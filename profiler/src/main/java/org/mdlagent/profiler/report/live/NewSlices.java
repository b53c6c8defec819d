package org.mdlagent.profiler.report.live;

import java.io.IOException;
import java.util.List;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.profiler.report.slice.TimeSlice;
import org.mdlagent.profiler.text.JsonWriter;

/// The time slices that a page does not know yet.
final class NewSlices {
    private final List<TimeSlice> slices;
    private final long next;

    /// @param from number of the first slice that the page does not know
    NewSlices(SessionReader session, long from) throws IOException {
        slices = session.slices(from);
        next = slices.isEmpty() ? from : slices.getLast().number() + 1;
    }

    List<TimeSlice> slices() {
        return slices;
    }

    /// Writes the start and end of each slice in milliseconds since 1970, and the number of the first slice
    /// to ask for next.
    void write(JsonWriter json) throws IOException {
        json.beginArray("columns");
        for (TimeSlice slice : slices) {
            json.element(slice.start().toEpochMilli());
            json.element(slice.end().toEpochMilli());
        }
        json.endArray().member("next", next);
    }
}
