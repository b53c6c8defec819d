package org.mdlagent.profiler.report;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Objects;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/// The report for a browser: one file that holds all it needs, and loads nothing. What it shows stands in it as JSON;
/// `report.js` draws it.
public final class HtmlReport {
    private HtmlReport() {}

    /// Writes the first `limit` functions of a profile, in the given order.
    public static void write(Profile profile, ProfileOrder order, int limit, Appendable out) throws IOException {
        StringBuilder data = new StringBuilder();
        data(profile, order, limit, new JsonWriter(data, false));
        // In JSON this character occurs in strings only; a name with </script> must not end the element.
        String embedded = data.toString().replace("<", "\\u003c");
        out.append(resource("report.html").formatted(resource("report.css"), embedded, resource("report.js")));
    }

    /// What the JSON report holds, and what only pictures need.
    private static void data(Profile profile, ProfileOrder order, int limit, JsonWriter json) throws IOException {
        json.beginObject();
        JsonReport.session(profile.session(), json);
        json.member("exact", profile.session().exact());
        json.member("elapsedNanos", profile.session().elapsedNanos());
        json.member("threads", profile.session().threads());
        json.member("sortedBy", order.name().toLowerCase(Locale.ROOT));
        JsonReport.overhead(profile, json);
        JsonReport.family(profile, json);
        json.beginArray("warnings");
        for (String warning : TableReport.warnings(profile)) {
            json.element(warning);
        }
        json.endArray();
        json.beginArray("functions");
        for (FunctionProfile function : order.first(limit, profile.functions())) {
            json.element().beginObject();
            JsonReport.function(function, json);
            json.member("callsError", function.callsError());
            latency(function.latency(), json);
            json.endObject();
        }
        json.endArray();
        json.endObject();
    }

    /// The histogram's slots, as duration in nanoseconds and number of calls in turn, the shortest first.
    private static void latency(Latency latency, JsonWriter json) throws IOException {
        json.beginArray("latency");
        Histogram histogram = latency.histogram();
        for (HistogramIterationValue slot : histogram.recordedValues()) {
            json.element(histogram.medianEquivalentValue(slot.getValueIteratedTo()));
            json.element(slot.getCountAddedInThisIterationStep());
        }
        json.endArray();
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = Objects.requireNonNull(HtmlReport.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
