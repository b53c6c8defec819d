package org.mdlagent.profiler.report.page;

import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.IntPredicate;
import org.mdlagent.profiler.report.format.JsonReport;
import org.mdlagent.profiler.report.format.ProfileNotes;
import org.mdlagent.profiler.report.format.ShortName;
import org.mdlagent.profiler.report.format.SlowCallsJson;
import org.mdlagent.profiler.report.profile.CallEdge;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.CodeFrame;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.FunctionSource;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.MetricValue;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.SampledThread;
import org.mdlagent.profiler.report.profile.SlowCall;
import org.mdlagent.profiler.report.profile.TimedCall;
import org.mdlagent.profiler.report.slice.Timeline;
import org.mdlagent.profiler.text.JsonWriter;

/// The report as a self-contained page that loads nothing. The data is embedded as JSON; `report.js` draws
/// it.
public final class HtmlReport {
    public static final List<String> STYLES = List.of("report.css");

    /// The scripts in dependency order; the last one starts the page.
    public static final List<String> SCRIPTS = List.of(
            "table.js",
            "views.js",
            "flame.js",
            "part.js",
            "function.js",
            "heat.js",
            "phases.js",
            "calls.js",
            "slow.js",
            "metrics.js",
            "report.js");

    /// Maximum single calls shown: the slowest.
    private static final int CALLS_MAX = 3000;

    /// Minimum share of the total time for a path to be shown.
    private static final double LEAST_PART = 1e-4;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private HtmlReport() {}

    /// Writes the first `limit` functions of a profile, in the given order.
    ///
    /// @param timeline of the same session
    /// @param calls    single calls of the session, of which the slowest are shown
    public static void write(
            Profile profile, Timeline timeline, List<TimedCall> calls, ProfileOrder order, int limit, Appendable out)
            throws IOException {
        write(profile, timeline, calls, SlowCall.All.NONE, List.of(), order, limit, out);
    }

    /// Writes the report with source lines.
    ///
    /// @param slow    slow calls, if the session keeps them
    /// @param sources of functions of the profile
    public static void write(
            Profile profile,
            Timeline timeline,
            List<TimedCall> calls,
            SlowCall.All slow,
            List<FunctionSource> sources,
            ProfileOrder order,
            int limit,
            Appendable out)
            throws IOException {
        StringBuilder data = new StringBuilder();
        JsonWriter json = JsonWriter.ofPage(data).beginObject();
        List<FunctionProfile> functions = order.first(limit, profile.functions());
        data(profile, timeline, order, functions, Choice.ALL, json);
        calls(calls, functions, json);
        SlowCallsJson.write(slow, json);
        samples(profile.paths(), json);
        sources(sources, functions, json);
        json.endObject();
        Page.write("report.html", "", STYLES, data, SCRIPTS, out);
    }

    /// Writes a profile's single samples and the paths that they refer to.
    ///
    /// @param functions by whose positions frames refer to them
    public static void samplesWithPaths(CallTree tree, List<FunctionProfile> functions, JsonWriter json)
            throws IOException {
        IdentityHashMap<FunctionProfile, Long> positions = positions(functions);
        paths(tree, positions, json);
        samples(tree, json);
    }

    private static IdentityHashMap<FunctionProfile, Long> positions(List<FunctionProfile> functions) {
        IdentityHashMap<FunctionProfile, Long> positions = new IdentityHashMap<>();
        functions.forEach(function -> positions.put(function, (long) positions.size()));
        return positions;
    }

    /// Writes the threads, and the samples in time order. A sample is four numbers: milliseconds since the
    /// previous sample, or since the session began for the first; thread position; path position, or -1; and
    /// weight.
    static void samples(CallTree tree, JsonWriter json) throws IOException {
        IdentityHashMap<CallTree.Node, Long> numbers = new IdentityHashMap<>();
        tree.nodes(LEAST_PART).forEach(node -> numbers.put(node, (long) numbers.size()));
        json.member("nanosPerSample", tree.nanosPerSample() * tree.samplesPerLogged());
        json.beginArray("sampledThreads");
        for (SampledThread thread : tree.threads()) {
            json.element()
                    .beginObject()
                    .member("tid", thread.tid())
                    .member("pid", thread.pid())
                    .member("name", thread.name())
                    .member("samples", thread.samples())
                    .endObject();
        }
        json.endArray();
        json.beginArray("samples");
        long before = 0;
        for (CallTree.Sample sample : tree.samplesByTime()) {
            long millis = sample.startNanos() / NANOS_PER_MILLI;
            json.element(millis - before);
            json.element(sample.thread());
            json.element(shown(sample.path(), tree.root(), numbers));
            json.element(sample.weight());
            before = millis;
        }
        json.endArray();
    }

    /// Writes for each function and source file: function position, file path, pairs of line and samples, and
    /// the text.
    private static void sources(List<FunctionSource> sources, List<FunctionProfile> functions, JsonWriter json)
            throws IOException {
        IdentityHashMap<FunctionProfile, Long> positions = positions(functions);
        json.beginArray("sources");
        for (FunctionSource source : sources) {
            Long position = positions.get(source.function());
            if (position != null) {
                json.element().beginObject();
                json.member("function", position);
                json.member("file", source.file());
                json.beginArray("lines");
                for (Map.Entry<Integer, Long> line : source.samples().entrySet()) {
                    json.element(line.getKey());
                    json.element(line.getValue());
                }
                json.endArray();
                json.member("firstLine", source.firstLine());
                json.beginArray("text");
                for (String line : source.text()) {
                    json.element(line);
                }
                json.endArray();
                json.endObject();
            }
        }
        json.endArray();
    }

    /// The number of a path, or of its longest numbered prefix; -1 if there is none.
    @SuppressWarnings("ReferenceEquality") // there is one root
    private static long shown(CallTree.Node path, CallTree.Node root, IdentityHashMap<CallTree.Node, Long> numbers) {
        CallTree.Node node = path;
        while (node != root && !numbers.containsKey(node)) {
            node = node.parent();
        }
        return numbers.getOrDefault(node, -1L);
    }

    /// Writes the slowest of some calls, slowest first, as quadruples of thread, function position, start and
    /// duration in nanoseconds. Functions are matched by name, because a session reader creates new objects
    /// at each read.
    public static void calls(List<TimedCall> calls, List<FunctionProfile> functions, JsonWriter json)
            throws IOException {
        Map<List<String>, Long> positions = new HashMap<>();
        for (int i = 0; i < functions.size(); i++) {
            positions.putIfAbsent(identity(functions.get(i)), (long) i);
        }
        json.beginArray("calls");
        List<TimedCall> slowest = calls.stream()
                .filter(call -> positions.containsKey(identity(call.function())))
                .sorted(Comparator.comparingLong(TimedCall::nanos).reversed())
                .limit(CALLS_MAX)
                .toList();
        for (TimedCall call : slowest) {
            json.element(call.tid());
            json.element(positions.getOrDefault(identity(call.function()), 0L));
            json.element(call.startNanos());
            json.element(call.nanos());
        }
        json.endArray();
    }

    private static List<String> identity(FunctionProfile function) {
        return List.of(function.image(), function.symbol(), function.name());
    }

    /// Which parts of functions to write, by position.
    ///
    /// @param wanted    whether to write the function
    /// @param described whether to include what never changes, such as its name
    /// @param pictured  whether to include its histogram, the largest part
    public record Choice(IntPredicate wanted, IntPredicate described, IntPredicate pictured) {
        static final Choice ALL = new Choice(position -> true, position -> true, position -> true);
    }

    /// Writes the members of the JSON report, and the data that only plots need.
    ///
    /// @param functions by whose positions here other members refer to them
    /// @param choice    which of these to write
    public static void data(
            Profile profile,
            Timeline timeline,
            ProfileOrder order,
            List<FunctionProfile> functions,
            Choice choice,
            JsonWriter json)
            throws IOException {
        JsonReport.session(profile.session(), json);
        JsonReport.range(profile.range(), json);
        json.member("exact", profile.session().exact());
        json.member("elapsedNanos", profile.session().elapsedNanos());
        json.member("threads", profile.session().process().threads());
        json.member("sortedBy", order.name().toLowerCase(Locale.ROOT));
        JsonReport.overhead(profile, json);
        JsonReport.family(profile, json);
        JsonReport.losses(profile, json);
        JsonReport.cpu(profile.cpu(), json);
        String notProbed = ProfileNotes.notProbed(profile.cpu());
        json.member("notProbed", notProbed == null ? null : notProbed.replace("\n  ", "; "));
        json.beginArray("warnings");
        for (String warning : ProfileNotes.warnings(profile)) {
            json.element(warning);
        }
        json.endArray();
        IdentityHashMap<FunctionProfile, Long> positions = positions(functions);
        IdentityHashMap<FunctionProfile, List<CallEdge>> callers = profile.callers();
        HeatMaps heat = new HeatMaps(profile.session(), functions, timeline);
        heat.axes(json);
        json.beginArray("functions");
        for (int i = 0; i < functions.size(); i++) {
            if (choice.wanted.test(i)) {
                FunctionProfile function = functions.get(i);
                json.element().beginObject();
                if (choice.described.test(i)) {
                    JsonReport.description(function, json);
                    ShortName.write(function.name(), json);
                }
                JsonReport.figures(function, json);
                if (choice.pictured.test(i)) {
                    latency(function.latency(), json);
                }
                heat.cells(function, json);
                callers(callers.getOrDefault(function, List.of()), positions, json);
                json.endObject();
            }
        }
        json.endArray();
        paths(profile.paths(), positions, json);
        json.beginArray("metrics");
        for (MetricValue metric : profile.metrics()) {
            json.element().beginObject();
            JsonReport.metric(metric, json);
            json.member("title", metric.name());
            json.member("unitsType", metric.unitsType().name().toLowerCase(Locale.ROOT));
            json.endObject();
        }
        json.endArray();
    }

    /// Writes quadruples: position of the caller among the functions, or -1; calls; time; and the error of
    /// the calls in percent, or -1.
    private static void callers(
            List<CallEdge> callers, IdentityHashMap<FunctionProfile, Long> positions, JsonWriter json)
            throws IOException {
        json.beginArray("callers");
        for (CallEdge edge : callers) {
            json.element(edge.caller() == null ? -1 : positions.getOrDefault(edge.caller(), -1L));
            json.element(edge.calls());
            json.element(edge.nanos());
            json.element(
                    edge.error().isEmpty() ? -1 : Math.round(100 * edge.error().getAsDouble()));
        }
        json.endArray();
    }

    /// Writes quadruples: frame position; position of the parent path, or -1; total CPU time; self CPU time. In `waits`
    /// each path has its total time off the processors. Paths with too little time to be visible are left out.
    static void paths(CallTree paths, IdentityHashMap<FunctionProfile, Long> positions, JsonWriter json)
            throws IOException {
        List<CallTree.Node> nodes = paths.nodes(LEAST_PART);
        IdentityHashMap<CallTree.Node, Long> numbers = new IdentityHashMap<>();
        IdentityHashMap<CodeFrame, Long> frames = new IdentityHashMap<>();
        json.beginArray("frames");
        for (CallTree.Node node : nodes) {
            numbers.put(node, (long) numbers.size());
            CodeFrame frame = node.frame();
            if (frames.putIfAbsent(frame, (long) frames.size()) == null) {
                json.element().beginObject();
                json.member("name", frame.name());
                ShortName.write(frame.name(), json);
                json.member("file", frame.file());
                json.member("image", frame.image());
                Long position = frame.function() == null ? null : positions.get(frame.function());
                json.member("function", position == null ? OptionalLong.empty() : OptionalLong.of(position));
                json.endObject();
            }
        }
        json.endArray();
        json.beginArray("paths");
        for (CallTree.Node node : nodes) {
            json.element(frames.getOrDefault(node.frame(), 0L));
            json.element(numbers.getOrDefault(node.parent(), -1L));
            json.element(node.nanos());
            json.element(node.selfNanos());
        }
        json.endArray();
        json.beginArray("waits");
        for (CallTree.Node node : paths.root().waitNanos() > 0 ? nodes : List.<CallTree.Node>of()) {
            json.element(node.waitNanos());
        }
        json.endArray();
    }

    /// The histogram's slots as pairs of duration in nanoseconds and number of calls, shortest first.
    private static void latency(Latency latency, JsonWriter json) throws IOException {
        json.beginArray("latency");
        for (int slot = 0; slot < latency.size(); slot++) {
            json.element(Math.round(latency.middle(slot)));
            json.element(latency.calls(slot));
        }
        json.endArray();
    }
}
