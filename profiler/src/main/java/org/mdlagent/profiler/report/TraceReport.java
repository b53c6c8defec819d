package org.mdlagent.profiler.report;

import java.io.IOException;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/// The report for trace viewers, Perfetto and Chrome's among them: complete events of the Trace Event Format, in
/// microseconds since the session began.
///
/// They are the last calls of each thread that were timed, as many as its ring has room for. Functions are timed
/// in turns and a few calls at a time, so what is between two slices was not idle, and a slice's callees may be
/// missing: the file's metadata say so.
public final class TraceReport {
    private static final String ABOUT =
            "the last sampled calls of each thread: not all calls, nor all that these called";

    private TraceReport() {}

    /// Writes the calls.
    ///
    /// @param session that they are of
    public static void write(SessionFacts session, List<TimedCall> calls, Appendable out) throws IOException {
        JsonWriter json = new JsonWriter(out, false);
        json.beginObject();
        json.member("displayTimeUnit", "ns");
        json.name("otherData").beginObject();
        json.member("session", session.id());
        json.member("about", ABOUT);
        json.member("calls", calls.size());
        json.endObject();
        json.beginArray("traceEvents");
        for (int pid : calls.stream().map(TimedCall::pid).collect(Collectors.toSet())) {
            processName(pid, TableReport.baseName(session.program()), json.element());
        }
        for (TimedCall call : calls) {
            slice(call, json.element());
        }
        json.endArray();
        json.endObject();
        out.append('\n');
    }

    private static void processName(int pid, String name, JsonWriter json) throws IOException {
        json.beginObject();
        json.member("ph", "M");
        json.member("name", "process_name");
        json.member("pid", pid);
        json.name("args").beginObject();
        json.member("name", name);
        json.endObject();
        json.endObject();
    }

    private static void slice(TimedCall call, JsonWriter json) throws IOException {
        json.beginObject();
        json.member("ph", "X");
        json.member("name", call.function().name());
        json.member("cat", TableReport.baseName(call.function().image()));
        json.member("pid", call.pid());
        json.member("tid", call.tid());
        json.member("ts", micros(call.startNanos()));
        json.member("dur", micros(call.nanos()));
        json.endObject();
    }

    private static OptionalDouble micros(long nanos) {
        return OptionalDouble.of(nanos / 1e3);
    }
}
