package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.SourceLine;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.report.profile.CallEdge;
import org.mdlagent.profiler.report.profile.Coverage;
import org.mdlagent.profiler.report.profile.CpuSamples;
import org.mdlagent.profiler.report.profile.EventCounts;
import org.mdlagent.profiler.report.profile.FunctionBlocks;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.Loss;
import org.mdlagent.profiler.report.profile.MetricValue;
import org.mdlagent.profiler.report.profile.NotProbed;
import org.mdlagent.profiler.report.profile.ProcessProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.profile.SlowCall;
import org.mdlagent.profiler.report.profile.TimeRange;
import org.mdlagent.profiler.text.JsonWriter;

/// The report for scripts: JSON as specified for the command line. Durations are in nanoseconds; unknown
/// values are absent.
public final class JsonReport {
    private JsonReport() {}

    /// Writes the first `limit` functions of a profile, in the given order.
    public static void write(Profile profile, ProfileOrder order, int limit, Appendable out) throws IOException {
        write(profile, List.of(), List.of(), SlowCall.All.NONE, EventCounts.NONE, order, limit, out);
    }

    /// The same.
    ///
    /// @param notProbed what is known of functions without probes, for a session of coverage or blocks
    /// @param blocks    of functions, for a session that counts them
    /// @param slow      slow calls, for a session that keeps them
    /// @param events    for a session that counts them
    public static void write(
            Profile profile,
            List<NotProbed> notProbed,
            List<FunctionBlocks> blocks,
            SlowCall.All slow,
            EventCounts events,
            ProfileOrder order,
            int limit,
            Appendable out)
            throws IOException {
        JsonWriter json = new JsonWriter(out);
        json.beginObject();
        session(profile.session(), json);
        range(profile.range(), json);
        family(profile, json);
        cpu(profile.cpu(), json);
        if (profile.session().collected() == Collected.COVERAGE) {
            coverage(Coverage.of(profile, notProbed), json);
        }
        if (profile.session().collected().hasBlocks()) {
            blocks(blocks, notProbed, json);
        }
        if (profile.session().collected() == Collected.ARCS) {
            arcs(blocks, json);
        }
        SlowCallsJson.write(slow, json);
        events(events, json);
        json.beginArray("functions");
        IdentityHashMap<FunctionProfile, List<CallEdge>> callers = profile.callers();
        for (FunctionProfile function : order.first(limit, profile.functions())) {
            json.element().beginObject();
            function(function, json);
            callers(callers.getOrDefault(function, List.of()), json);
            json.endObject();
        }
        json.endArray();
        json.beginArray("metrics");
        for (MetricValue metric : profile.metrics()) {
            json.element().beginObject();
            metric(metric, json);
            json.endObject();
        }
        json.endArray();
        overhead(profile, json);
        losses(profile, json);
        json.member("dropped", profile.dropped());
        json.member("unmatched", profile.unmatched());
        json.endObject();
        out.append('\n');
    }

    private static void coverage(Coverage coverage, JsonWriter json) throws IOException {
        json.name("coverage").beginObject();
        sum(coverage.sum(), json);
        json.beginArray("images");
        for (Coverage.OfImage image : coverage.images()) {
            json.element().beginObject();
            json.member("image", image.image());
            sum(image.sum(), json);
            NotProbed without = image.notProbed();
            if (without != null) {
                json.member("notProbed", without.functions());
                json.member("notProbedFor", without.reasons());
            }
            json.beginArray("files");
            for (Coverage.OfFile file : image.files()) {
                json.element().beginObject();
                json.member("file", file.file());
                sum(file.sum(), json);
                json.endObject();
            }
            json.endArray();
            json.endObject();
        }
        json.endArray();
        json.endObject();
    }

    private static void events(EventCounts events, JsonWriter json) throws IOException {
        if (events.equals(EventCounts.NONE)) {
            return;
        }
        json.name("events").beginObject();
        json.member("event", events.event());
        json.member("count", events.count());
        json.member("lost", events.lost());
        json.member("withoutStack", events.withoutStack());
        json.beginArray("functions");
        for (EventCounts.OfFunction of : events.functions()) {
            json.element().beginObject();
            json.member("name", of.function().name());
            json.member("image", of.function().image());
            json.member("self", of.self());
            json.member("total", of.all());
            json.endObject();
        }
        json.endArray();
        json.endObject();
    }

    private static void blocks(List<FunctionBlocks> functions, List<NotProbed> notProbed, JsonWriter json)
            throws IOException {
        json.beginArray("blocksNotCounted");
        for (NotProbed without : notProbed) {
            json.element().beginObject();
            json.member("image", without.image());
            json.member("functions", without.functions());
            json.member("reasons", without.reasons());
            json.endObject();
        }
        json.endArray();
        json.beginArray("blocks");
        for (FunctionBlocks function : functions) {
            for (FunctionBlocks.Block block : function.blocks()) {
                json.element().beginObject();
                json.member("function", function.function().name());
                json.member("image", function.function().image());
                json.member("address", block.address());
                json.member("size", block.size());
                json.member("instructions", block.instructions());
                json.member("count", block.count());
                json.beginArray("lines");
                for (SourceLine line : block.lines()) {
                    json.element().beginObject();
                    json.member("file", line.file());
                    json.member("line", line.line());
                    json.endObject();
                }
                json.endArray();
                json.endObject();
            }
        }
        json.endArray();
    }

    private static void arcs(List<FunctionBlocks> functions, JsonWriter json) throws IOException {
        json.beginArray("arcs");
        for (FunctionBlocks function : functions) {
            for (FunctionBlocks.Arc arc : function.arcs()) {
                FunctionBlocks.Way way = arc.way();
                json.element().beginObject();
                json.member("function", function.function().name());
                json.member("image", function.function().image());
                json.member("kind", way.kind().name().toLowerCase(Locale.ROOT));
                if (way.from() != FunctionBlocks.OUTSIDE) {
                    json.member("from", way.from());
                }
                if (way.to() != FunctionBlocks.OUTSIDE) {
                    json.member("to", way.to());
                } else if (way.target() != 0) {
                    json.member("target", way.target());
                }
                json.member("count", arc.count());
                json.endObject();
            }
        }
        json.endArray();
    }

    private static void sum(Coverage.Sum sum, JsonWriter json) throws IOException {
        json.member("probed", sum.probed());
        json.member("called", sum.called());
    }

    /// What is missing, and why.
    public static void losses(Profile profile, JsonWriter json) throws IOException {
        json.beginArray("losses");
        for (Loss loss : profile.losses()) {
            json.element().beginObject();
            json.member("reason", loss.reason().key());
            json.member("count", loss.count());
            json.member("meaning", ProfileNotes.sentence(loss));
            json.endObject();
        }
        json.endArray();
    }

    /// The range of the session's time that functions and overhead cover.
    public static void range(@Nullable TimeRange range, JsonWriter json) throws IOException {
        if (range == null) {
            return;
        }
        json.name("range").beginObject();
        json.member("from", time(range.from()));
        json.member("to", time(range.to()));
        json.member("slices", range.slices());
        json.member("leftOut", range.leftOut());
        json.endObject();
    }

    /// Where the threads' CPU time was spent, if it was sampled.
    public static void cpu(CpuSamples cpu, JsonWriter json) throws IOException {
        if (cpu.isEmpty()) {
            return;
        }
        json.name("cpu").beginObject();
        json.member("periodNanos", cpu.periodNanos());
        json.member("samples", cpu.samples());
        json.member("weight", OptionalDouble.of(cpu.weight()));
        json.member("inProbes", cpu.inProbes());
        json.member("lost", cpu.lost());
        json.member("elsewhere", cpu.elsewhere());
        json.member("cut", cpu.cut());
        json.member("withoutTable", cpu.withoutTable());
        json.member("leftOut", cpu.leftOut());
        json.beginArray("notProbed");
        for (CpuSamples.OfImage of : cpu.notProbed()) {
            json.element().beginObject();
            json.member("image", of.image());
            json.member("samples", of.samples());
            json.endObject();
        }
        json.endArray();
        json.endObject();
    }

    public static void overhead(Profile profile, JsonWriter json) throws IOException {
        json.name("overhead").beginObject();
        json.member("percent", profile.overheadPercent());
        json.member("probePercent", profile.probePercent());
        json.member("agentPercent", profile.agentPercent());
        json.member("everyCallPercent", profile.everyCallPercent());
        json.member("budgetPercent", profile.session().method().budgetPercent());
        json.member("toggles", profile.session().costs().toggles());
        json.member("samples", samples(profile));
        json.endObject();
    }

    public static void family(Profile profile, JsonWriter json) throws IOException {
        // Only exact sessions see every call.
        String calls = profile.session().exact() ? "calls" : "callsSeen";
        json.beginArray("processes");
        for (ProcessProfile process : profile.family().processes()) {
            json.element().beginObject();
            json.member("pid", process.pid());
            json.member("parent", process.parent());
            json.member("started", time(process.started()));
            if (process.ended() != null) {
                json.member("ended", time(process.ended()));
            }
            if (process.exitStatus().isPresent()) {
                json.name("exit").beginObject();
                json.member("status", process.exitStatus());
                json.endObject();
            }
            json.member("runs", process.runs());
            json.member("agent", process.agent());
            json.member(calls, process.calls());
            json.endObject();
        }
        json.endArray();
        if (profile.family().forgotten() > 0) {
            json.name("processesForgotten").beginObject();
            json.member("count", profile.family().forgotten());
            json.member(calls, profile.family().callsForgotten());
            json.endObject();
        }
    }

    /// Calls whose durations are in the report.
    private static long samples(Profile profile) {
        return profile.functions().stream().mapToLong(FunctionProfile::sampled).sum();
    }

    public static void session(SessionFacts session, JsonWriter json) throws IOException {
        json.name("session").beginObject();
        json.member("id", session.id());
        json.member("program", session.program());
        json.member("pid", session.pid());
        json.member("started", time(session.started()));
        if (session.ended() != null) {
            json.member("ended", time(session.ended()));
        }
        if (session.process().exitSignal().isPresent()) {
            json.name("exit").beginObject();
            json.member("status", session.process().exitStatus());
            json.member("signal", session.process().exitSignal());
            json.endObject();
        }
        json.member("measuredNanos", session.measuredNanos());
        json.member("unseenNanos", session.unseenNanos());
        json.member("time", session.cpuTime() ? "cpu" : "wall");
        json.member("collected", session.collected().key());
        json.member("sync", session.method().sync().name().toLowerCase(Locale.ROOT));
        json.member(
                "tscHz",
                session.tscHz().isPresent()
                        ? OptionalLong.of(Math.round(session.tscHz().getAsDouble()))
                        : OptionalLong.empty());
        json.endObject();
    }

    /// The members of a function's object.
    static void function(FunctionProfile function, JsonWriter json) throws IOException {
        description(function, json);
        figures(function, json);
    }

    public static void description(FunctionProfile function, JsonWriter json) throws IOException {
        json.member("name", function.name());
        json.member("symbol", function.symbol());
        json.member("file", function.file());
        if (function.line() > 0) {
            json.member("line", function.line());
        }
        json.member("image", function.image());
    }

    public static void figures(FunctionProfile function, JsonWriter json) throws IOException {
        Latency latency = function.latency();
        json.member("damage", function.damage());
        json.member("calls", function.knownCalls());
        json.member("callsExact", function.callsExact());
        json.member("exact", function.exact());
        json.member("callsError", function.callsError());
        json.member("sampled", function.sampled());
        json.member("totalNanos", function.shownTotalNanos());
        json.member("totalError", function.shownTotalError());
        json.member("selfNanos", function.shownSelfNanos());
        json.member("selfError", function.shownSelfError());
        json.member("cpuNanos", function.shownCpuNanos());
        json.member("cpuError", function.shownCpuError());
        json.member("cpuTotalNanos", function.shownCpuTotalNanos());
        json.member("cpuTotalError", function.shownCpuTotalError());
        json.member("minNanos", latency.minNanos());
        json.member("meanNanos", latency.meanNanos());
        json.member("p50Nanos", function.percentileNanos(50));
        json.member("p90Nanos", function.percentileNanos(90));
        json.member("p99Nanos", function.percentileNanos(99));
        json.member("p999Nanos", function.percentileNanos(99.9));
        json.member("maxNanos", latency.maxNanos());
    }

    /// The callers of a function, in descending order of time. Code without probes has no name.
    private static void callers(List<CallEdge> callers, JsonWriter json) throws IOException {
        if (callers.isEmpty()) {
            return;
        }
        json.beginArray("callers");
        for (CallEdge edge : callers) {
            json.element().beginObject();
            FunctionProfile caller = edge.caller();
            if (caller != null) {
                json.member("name", caller.name());
                json.member("image", caller.image());
            }
            json.member("calls", edge.calls());
            json.member("callsError", edge.error());
            json.member("sampled", edge.samples());
            json.member("totalNanos", edge.nanos());
            json.endObject();
        }
        json.endArray();
    }

    /// The members of a metric's object.
    public static void metric(MetricValue metric, JsonWriter json) throws IOException {
        json.member("name", metric.id());
        json.beginArray("focus");
        for (String path : metric.focus()) {
            json.element(path);
        }
        json.endArray();
        json.member("units", metric.units());
        json.member("value", metric.value());
        json.member("errors", metric.errors());
        json.beginArray("series");
        for (MetricValue.Point point : metric.series()) {
            json.pair(point.seconds(), point.amount());
        }
        json.endArray();
    }

    private static String time(Instant instant) {
        return DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(instant.atOffset(ZoneOffset.UTC));
    }
}
