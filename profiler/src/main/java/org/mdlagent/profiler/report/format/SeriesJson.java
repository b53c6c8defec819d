package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.List;
import java.util.OptionalDouble;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.statistics.SeriesChange;
import org.mdlagent.profiler.report.statistics.SeriesComparison;
import org.mdlagent.profiler.report.statistics.SeriesTest;
import org.mdlagent.profiler.text.JsonWriter;

/// A comparison of series of runs for scripts. Durations are in nanoseconds.
///
/// ```json
/// { "before": [ run, ... ], "after": [ run, ... ], "thresholdPercent": 2.0, "slower": false,
///   "program": { figure }, "untestedFunctions": 0,
///   "functions": [ { "name": "", "symbol": "", "file": "", "image": "",
///       "calls": { "before": 0.0, "after": 0.0 }, "typical": { figure } } ] }
/// ```
///
/// A figure is `beforeNanos` and `afterNanos` (geometric means of the runs), `changePercent`, `lowPercent`
/// and `highPercent` (its 95 % interval), `slowerLevel` and `fasterLevel` (the lowest family-wise
/// significance level at which it is slower or faster by more than the threshold) and `verdict`: `slower`,
/// `faster` or `same`. A run is as in [ComparisonJson].
public final class SeriesJson {
    private SeriesJson() {}

    /// Writes the first `limit` functions.
    public static void write(SeriesComparison comparison, int limit, Appendable out) throws IOException {
        JsonWriter json = new JsonWriter(out).beginObject();
        runs("before", comparison.before(), json);
        runs("after", comparison.after(), json);
        json.member("thresholdPercent", OptionalDouble.of(comparison.thresholdPercent()));
        json.member("slower", comparison.isSlower());
        figure("program", comparison.program(), json);
        json.member("untestedFunctions", comparison.untested());
        json.beginArray("functions");
        for (SeriesChange change : comparison.changes().stream().limit(limit).toList()) {
            json.element().beginObject();
            json.member("name", change.function().name());
            json.member("symbol", change.function().symbol());
            json.member("file", change.function().file());
            json.member("image", change.function().image());
            json.name("calls").beginObject();
            json.member("before", OptionalDouble.of(change.calls()));
            json.member("after", OptionalDouble.of(change.callsNow()));
            json.endObject();
            figure("typical", change.typical(), json);
            json.endObject();
        }
        json.endArray();
        json.endObject();
        out.append('\n');
    }

    private static void runs(String name, List<Run> runs, JsonWriter json) throws IOException {
        json.beginArray(name);
        for (Run run : runs) {
            json.element().beginObject();
            ComparisonJson.members(run, json);
            json.endObject();
        }
        json.endArray();
    }

    private static void figure(String name, SeriesChange.Figure figure, JsonWriter json) throws IOException {
        SeriesTest test = figure.test();
        json.name(name).beginObject();
        json.member("beforeNanos", OptionalDouble.of(test.before()));
        json.member("afterNanos", OptionalDouble.of(test.after()));
        json.member("changePercent", OptionalDouble.of(test.changePercent()));
        json.member("lowPercent", OptionalDouble.of(test.lowPercent()));
        json.member("highPercent", OptionalDouble.of(test.highPercent()));
        json.member("slowerLevel", OptionalDouble.of(figure.slower()));
        json.member("fasterLevel", OptionalDouble.of(figure.faster()));
        json.member("verdict", figure.verdict());
        json.endObject();
    }
}
