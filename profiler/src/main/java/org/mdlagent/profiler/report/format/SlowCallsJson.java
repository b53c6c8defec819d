package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.List;
import org.mdlagent.profiler.report.profile.SlowCall;
import org.mdlagent.profiler.text.JsonWriter;

/// Slow calls in the report for scripts.
public final class SlowCallsJson {
    private SlowCallsJson() {}

    /// Writes the member `slow`, if the session keeps slow calls.
    public static void write(SlowCall.All slow, JsonWriter json) throws IOException {
        if (slow.equals(SlowCall.All.NONE)) {
            return;
        }
        json.name("slow").beginObject();
        json.member("count", slow.count());
        json.member("cut", slow.cut());
        if (slow.thresholdNanos() > 0) {
            json.member("thresholdNanos", slow.thresholdNanos());
        }
        calls("calls", slow.requests(), json);
        json.endObject();
    }

    private static void calls(String name, List<SlowCall> calls, JsonWriter json) throws IOException {
        json.beginArray(name);
        for (SlowCall call : calls) {
            json.element().beginObject();
            json.member("function", call.function().name());
            json.member("image", call.function().image());
            json.member("pid", call.pid());
            json.member("tid", call.tid());
            json.member("startNanos", call.startNanos());
            json.member("totalNanos", call.nanos());
            json.member("ownNanos", call.ownNanos());
            json.member("waitedNanos", call.waitNanos());
            if (!call.waits().isEmpty()) {
                json.member("waitedIn", SlowCallsTable.place(call.waits().getFirst(), call));
            }
            calls("callees", call.callees(), json);
            json.endObject();
        }
        json.endArray();
    }
}
