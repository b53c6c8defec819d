package org.mdlagent.profiler.report.exposition;

import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.Loss;
import org.mdlagent.profiler.report.profile.MetricValue;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.text.JsonWriter;

/// The report for OpenTelemetry: an `ExportMetricsServiceRequest` in OTLP's JSON encoding (OpenTelemetry Protocol
/// Specification 1, "JSON Protobuf Encoding": 64-bit integers are strings, enumerations numbers). Durations are in
/// seconds; sums and histograms are cumulative, from the session's start.
public final class OtlpReport {
    /// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
    private static final long CUMULATIVE = 2;

    private final Instant now;
    private final String host;
    private final JsonWriter json;

    private OtlpReport(Instant now, String host, JsonWriter json) {
        this.now = now;
        this.host = host;
        this.json = json;
    }

    /// Writes the series of some sessions.
    ///
    /// @param now  when the sessions were read
    /// @param host name of the machine
    public static void write(List<SessionSeries> sessions, Instant now, String host, Appendable out)
            throws IOException {
        OtlpReport report = new OtlpReport(now, host, new JsonWriter(out, false));
        report.json.beginObject().beginArray("resourceMetrics");
        for (SessionSeries session : sessions) {
            report.resource(session);
        }
        report.json.endArray().endObject();
    }

    private void resource(SessionSeries session) throws IOException {
        SessionFacts facts = session.session();
        String program = facts.program();
        json.element().beginObject().name("resource").beginObject().beginArray("attributes");
        attribute("service.name", program.substring(program.lastIndexOf('/') + 1));
        attribute("service.instance.id", facts.id());
        attribute("host.name", host);
        attribute("process.executable.path", program);
        json.element().beginObject().member("key", "process.pid").name("value").beginObject();
        json.member("intValue", Integer.toString(facts.pid())).endObject().endObject();
        json.endArray().endObject();
        json.beginArray("scopeMetrics").element().beginObject();
        json.name("scope").beginObject().member("name", "mdlagent").endObject();
        json.beginArray("metrics");
        session(session);
        functions(session);
        metrics(session);
        json.endArray().endObject().endArray().endObject();
    }

    private void session(SessionSeries session) throws IOException {
        SessionFacts facts = session.session();
        beginSum("mdl.agent.cpu.time", "s");
        point(session, seconds(facts.costs().agentNanos()));
        endMetric();
        if (facts.tscHz().isPresent()) {
            beginSum("mdl.probe.time", "s");
            point(session, seconds(session.probeNanos()));
            endMetric();
        }
        beginSum("mdl.toggles", "{toggle}");
        point(session, facts.costs().toggles());
        endMetric();
        beginSum("mdl.losses", "{loss}");
        for (Loss loss : session.profile().losses()) {
            beginPoint(session);
            json.beginArray("attributes");
            attribute("reason", loss.reason().key());
            json.endArray().member("asInt", Long.toString(loss.count())).endObject();
        }
        endMetric();
    }

    private void functions(SessionSeries session) throws IOException {
        beginSum("mdl.function.calls", "{call}");
        for (FunctionSeries function : session.functions()) {
            beginPoint(session);
            attributes(function);
            json.member("asInt", Long.toString(function.calls().orElse(0))).endObject();
        }
        endMetric();
        times("mdl.function.time", session, FunctionSeries::total);
        times("mdl.function.self_time", session, FunctionSeries::self);
        beginMetric("mdl.function.duration", "s").name("histogram").beginObject();
        json.member("aggregationTemporality", CUMULATIVE).beginArray("dataPoints");
        for (FunctionSeries function : session.functions()) {
            if (function.timed()) {
                histogram(session, function);
            }
        }
        endMetric();
    }

    private void times(String name, SessionSeries session, Function<FunctionSeries, OptionalLong> nanos)
            throws IOException {
        beginSum(name, "s");
        for (FunctionSeries function : session.functions()) {
            OptionalLong known = nanos.apply(function);
            if (known.isPresent()) {
                beginPoint(session);
                attributes(function);
                json.member("asDouble", seconds(known.getAsLong())).endObject();
            }
        }
        endMetric();
    }

    private void histogram(SessionSeries session, FunctionSeries function) throws IOException {
        beginPoint(session);
        attributes(function);
        long count = 0;
        json.beginArray("bucketCounts");
        for (long calls : function.buckets()) {
            count += calls;
            json.element(Long.toString(calls));
        }
        json.endArray().beginArray("explicitBounds");
        for (int i = 0; i < FunctionSeries.BUCKETS; i++) {
            OptionalLong bound = FunctionSeries.bound(i);
            if (bound.isPresent()) {
                json.element(seconds(bound.getAsLong()));
            }
        }
        json.endArray().member("count", Long.toString(count));
        json.member("sum", seconds(function.total().orElse(0))).endObject();
    }

    /// A metric has one data point per focus.
    private void metrics(SessionSeries session) throws IOException {
        Map<String, List<MetricValue>> byId = session.profile().metrics().stream()
                .filter(metric -> metric.amount().isPresent())
                .collect(Collectors.groupingBy(MetricValue::id, LinkedHashMap::new, Collectors.toList()));
        for (List<MetricValue> same : byId.values()) {
            MetricValue first = same.getFirst();
            beginMetric("mdl.metric." + first.id(), null)
                    .member("description", first.name() + " (" + first.units() + ")");
            if (first.unitsType() == MetricValue.UnitsType.RATE) {
                openSum();
            } else {
                json.name("gauge").beginObject().beginArray("dataPoints");
            }
            for (MetricValue metric : same) {
                beginPoint(session);
                json.beginArray("attributes");
                attribute("focus", String.join("@", metric.focus()));
                BigDecimal amount = BigDecimal.valueOf(metric.amount().orElse(0));
                json.endArray().member("asDouble", amount).endObject();
            }
            endMetric();
        }
    }

    private JsonWriter beginMetric(String name, @Nullable String unit) throws IOException {
        return json.element().beginObject().member("name", name).member("unit", unit);
    }

    private void beginSum(String name, String unit) throws IOException {
        beginMetric(name, unit);
        openSum();
    }

    private void openSum() throws IOException {
        json.name("sum").beginObject().member("aggregationTemporality", CUMULATIVE);
        json.member("isMonotonic", true).beginArray("dataPoints");
    }

    /// Closes the data points, writes the metric's type, and closes the metric.
    private void endMetric() throws IOException {
        json.endArray().endObject().endObject();
    }

    private void point(SessionSeries session, BigDecimal value) throws IOException {
        beginPoint(session);
        json.member("asDouble", value).endObject();
    }

    private void point(SessionSeries session, long value) throws IOException {
        beginPoint(session);
        json.member("asInt", Long.toString(value)).endObject();
    }

    private void beginPoint(SessionSeries session) throws IOException {
        json.element().beginObject();
        json.member("startTimeUnixNano", nanos(session.session().started())).member("timeUnixNano", nanos(now));
    }

    private void attributes(FunctionSeries function) throws IOException {
        json.beginArray("attributes");
        attribute("code.function.name", function.labels().function());
        attribute("code.file.path", function.labels().file());
        attribute("image", function.labels().image());
        json.endArray();
    }

    private void attribute(String key, String value) throws IOException {
        json.element().beginObject().member("key", key).name("value").beginObject();
        json.member("stringValue", value).endObject().endObject();
    }

    private static BigDecimal seconds(long nanos) {
        return BigDecimal.valueOf(nanos, 9).stripTrailingZeros();
    }

    private static String nanos(Instant instant) {
        return Long.toString(Math.addExact(instant.getEpochSecond() * 1_000_000_000L, instant.getNano()));
    }
}
