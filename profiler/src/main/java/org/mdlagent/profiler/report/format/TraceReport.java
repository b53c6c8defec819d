package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.profile.SlowCall;
import org.mdlagent.profiler.report.profile.TimedCall;
import org.mdlagent.profiler.text.BaseName;
import org.mdlagent.profiler.text.JsonWriter;

/// The report for trace viewers such as Perfetto and Chrome's: complete events of the Trace Event Format, in
/// microseconds since the session began.
///
/// It contains the last timed calls of each thread, as many as its ring holds. Functions are timed in turns
/// and a few calls at a time, so gaps between slices are not idle time, and a slice's callees may be missing:
/// the file's metadata say so.
public final class TraceReport {
    private static final String ABOUT =
            "the last sampled calls of each thread: not all calls, nor all that these called";

    private static final String ABOUT_SLOW =
            "slow calls of each thread, and the calls in them that took a considerable part of their time";

    private TraceReport() {}

    /// Writes the calls.
    ///
    /// @param session of the calls
    /// @param threads names of threads by id, if known
    public static void write(
            SessionFacts session,
            List<TimedCall> calls,
            SlowCall.All slow,
            Map<Integer, String> threads,
            Appendable out)
            throws IOException {
        JsonWriter json = new JsonWriter(out, false);
        json.beginObject();
        json.member("displayTimeUnit", "ns");
        json.name("otherData").beginObject();
        json.member("session", session.id());
        json.member("about", slow.calls().isEmpty() ? ABOUT : ABOUT_SLOW);
        json.member("calls", calls.size());
        json.endObject();
        json.beginArray("traceEvents");
        names(session, calls, threads, json);
        if (slow.calls().isEmpty()) {
            for (TimedCall call : calls) {
                slice(call, json.element()).endObject();
            }
        }
        slow(slow.calls(), json);
        json.endArray();
        json.endObject();
        out.append('\n');
    }

    /// Names and orders processes and threads: the first thread of each process first, the others by first
    /// appearance.
    private static void names(
            SessionFacts session, List<TimedCall> calls, Map<Integer, String> threads, JsonWriter json)
            throws IOException {
        Map<Integer, Set<Integer>> byProcess = new LinkedHashMap<>();
        byProcess.put(session.pid(), new LinkedHashSet<>(List.of(session.pid())));
        calls.stream()
                .sorted(Comparator.comparingLong(TimedCall::startNanos))
                .forEach(call -> byProcess
                        .computeIfAbsent(call.pid(), pid -> new LinkedHashSet<>(List.of(pid)))
                        .add(call.tid()));
        int order = 0;
        for (int pid : byProcess.keySet()) {
            name("process_name", pid, pid, session.name(), json);
            order("process_sort_index", pid, pid, order++, json);
            for (int tid : byProcess.getOrDefault(pid, Set.of())) {
                name("thread_name", pid, tid, threads.getOrDefault(tid, kind(pid, tid)), json);
                order("thread_sort_index", pid, tid, order++, json);
            }
        }
    }

    private static String kind(int pid, int tid) {
        return tid == pid ? "first thread" : tid < 0 ? "threads that have ended" : "thread";
    }

    private static void name(String what, int pid, int tid, String name, JsonWriter json) throws IOException {
        beginMetadata(what, pid, tid, json).member("name", name).endObject().endObject();
    }

    private static void order(String what, int pid, int tid, int order, JsonWriter json) throws IOException {
        beginMetadata(what, pid, tid, json)
                .member("sort_index", order)
                .endObject()
                .endObject();
    }

    private static JsonWriter beginMetadata(String what, int pid, int tid, JsonWriter json) throws IOException {
        json.element().beginObject();
        json.member("ph", "M").member("name", what).member("pid", pid).member("tid", tid);
        return json.name("args").beginObject();
    }

    private static JsonWriter slice(TimedCall call, JsonWriter json) throws IOException {
        json.beginObject();
        json.member("ph", "X");
        json.member("name", call.function().name());
        json.member("cat", BaseName.of(call.function().image()));
        json.member("pid", call.pid());
        json.member("tid", call.tid());
        json.member("ts", micros(call.startNanos()));
        return json.member("dur", micros(call.nanos()));
    }

    /// Slow calls and their callees, one after the other.
    public static List<TimedCall> calls(SlowCall.All slow) {
        List<TimedCall> calls = new ArrayList<>();
        slow.calls().forEach(call -> add(call, calls));
        return calls;
    }

    private static void add(SlowCall call, List<TimedCall> calls) {
        calls.add(timed(call));
        call.callees().forEach(callee -> add(callee, calls));
    }

    private static TimedCall timed(SlowCall call) {
        return new TimedCall(call.pid(), call.tid(), call.function(), call.startNanos(), call.nanos());
    }

    private static void slow(List<SlowCall> calls, JsonWriter json) throws IOException {
        for (SlowCall call : calls) {
            slice(timed(call), json.element());
            json.name("args").beginObject();
            if (call.waitNanos().isPresent()) {
                json.member("waited, ms", call.waitNanos().getAsLong() / 1e6);
            }
            if (!call.waits().isEmpty()) {
                json.member("waited in", SlowCallsTable.place(call.waits().getFirst(), call));
            }
            json.endObject();
            json.endObject();
            slow(call.callees(), json);
        }
    }

    private static OptionalDouble micros(long nanos) {
        return OptionalDouble.of(nanos / 1e3);
    }
}
