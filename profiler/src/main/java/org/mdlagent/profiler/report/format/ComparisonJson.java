package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.statistics.Comparison;
import org.mdlagent.profiler.report.statistics.FunctionChange;
import org.mdlagent.profiler.text.JsonWriter;

/// A comparison for scripts. Durations are in nanoseconds; unknown values are absent.
///
/// ```json
/// { "before": { run }, "after": { run },
///   "functions": [ { "name": "", "symbol": "", "file": "", "image": "",
///       "before": { "calls": 0, "callsError": 0.0, "totalNanos": 0, "totalError": 0.0, "meanNanos": 0, "p50Nanos": 0,
///           "p99Nanos": 0 },
///       "after": { same } } ] }
/// ```
///
/// A run is `id`, `program`, `started`, `elapsedNanos`, `measuredNanos`, `exact` and `build`. Errors are
/// relative half-widths of 95 % intervals and cover sampling within a run.
public final class ComparisonJson {
    private ComparisonJson() {}

    /// Writes the first `limit` functions.
    public static void write(Comparison comparison, int limit, Appendable out) throws IOException {
        JsonWriter json = new JsonWriter(out).beginObject();
        members(comparison, limit, false, json);
        json.endObject();
        out.append('\n');
    }

    /// @param distributions whether to write the data for plots as well
    public static void members(Comparison comparison, int limit, boolean distributions, JsonWriter json)
            throws IOException {
        run("before", comparison.before(), json);
        run("after", comparison.after(), json);
        json.beginArray("functions");
        for (FunctionChange change : comparison.changes().stream().limit(limit).toList()) {
            json.element().beginObject();
            json.member("name", change.function().name());
            if (distributions) {
                ShortName.write(change.function().name(), json);
            }
            json.member("symbol", change.function().symbol());
            json.member("file", change.function().file());
            json.member("image", change.function().image());
            function("before", change.before(), distributions, json);
            function("after", change.after(), distributions, json);
            json.endObject();
        }
        json.endArray();
    }

    static void run(String name, Run run, JsonWriter json) throws IOException {
        json.name(name).beginObject();
        members(run, json);
        json.endObject();
    }

    /// The members of a run's object.
    static void members(Run run, JsonWriter json) throws IOException {
        json.member("id", run.id());
        json.member("program", run.program());
        json.member(
                "started",
                DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(run.started().atOffset(ZoneOffset.UTC)));
        json.member("elapsedNanos", run.elapsedNanos());
        json.member("measuredNanos", run.measuredNanos());
        json.member("exact", run.exact());
        if (run.builds().containsKey(run.program())) {
            json.member("build", run.build(run.program()));
        }
    }

    private static void function(
            String name, @Nullable FunctionProfile function, boolean distributions, JsonWriter json)
            throws IOException {
        if (function == null) {
            return;
        }
        Latency latency = function.latency();
        json.name(name).beginObject();
        json.member("calls", function.calls());
        json.member("callsError", function.callsError());
        json.member("totalNanos", function.shownTotalNanos());
        json.member("totalError", function.shownTotalError());
        json.member("meanNanos", latency.meanNanos());
        json.member("p50Nanos", function.percentileNanos(50));
        json.member("p99Nanos", function.percentileNanos(99));
        if (distributions) {
            distribution(latency.histogram(), json);
        }
        json.endObject();
    }

    /// The slots as pairs of duration in nanoseconds and number of calls, shortest first.
    private static void distribution(Histogram histogram, JsonWriter json) throws IOException {
        json.beginArray("latency");
        for (HistogramIterationValue slot : histogram.recordedValues()) {
            json.element(histogram.medianEquivalentValue(slot.getValueIteratedTo()));
            json.element(slot.getCountAddedInThisIterationStep());
        }
        json.endArray();
    }
}
