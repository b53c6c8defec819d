package org.mdlagent.profiler.report.exposition;

import java.io.IOException;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import org.mdlagent.profiler.report.profile.Loss;
import org.mdlagent.profiler.report.profile.MetricValue;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;

/// The Prometheus report, in text exposition format or protobuf; durations in seconds.
///
/// Only functions that were called have series; functions with equal labels are added up. Latencies are
/// classic histograms with the buckets of [FunctionSeries], and in protobuf also native histograms, which the
/// text format lacks.
public final class PrometheusReport {
    private final List<SessionSeries> sessions;

    private PrometheusReport(List<SessionSeries> sessions) {
        this.sessions = sessions;
    }

    /// Writes the first `limit` called functions of a profile, in the given order, as text.
    public static void write(Profile profile, ProfileOrder order, int limit, Appendable out) throws IOException {
        write(List.of(new SessionSeries(profile, order, limit)), out);
    }

    /// Writes the series of some sessions as text; no two may have the same program and process.
    public static void write(List<SessionSeries> sessions, Appendable out) throws IOException {
        TextExposition text = new TextExposition(out);
        for (MetricFamily family : new PrometheusReport(sessions).families()) {
            text.write(family);
        }
    }

    /// Writes the series of some sessions as protobuf.
    public static void writeProtobuf(List<SessionSeries> sessions, OutputStream out) throws IOException {
        ProtobufExposition protobuf = new ProtobufExposition(out);
        for (MetricFamily family : new PrometheusReport(sessions).families()) {
            protobuf.write(family);
        }
    }

    private List<MetricFamily> families() {
        return List.of(
                info(),
                single(
                        "mdl_agent_cpu_seconds_total",
                        MetricFamily.Type.COUNTER,
                        "CPU time of the agent's threads.",
                        one -> seconds(one.session().costs().agentNanos())),
                single(
                        "mdl_probe_seconds_total",
                        MetricFamily.Type.COUNTER,
                        "Predicted cost of the probes for the program's threads.",
                        one -> one.session().tscHz().isPresent(),
                        one -> seconds(one.probeNanos())),
                single(
                        "mdl_toggles_total",
                        MetricFamily.Type.COUNTER,
                        "Probes switched on or off.",
                        one -> BigDecimal.valueOf(one.session().costs().toggles())),
                single(
                        "mdl_calls_dropped_total",
                        MetricFamily.Type.COUNTER,
                        "Calls that were counted but not timed, for lack of room.",
                        one -> BigDecimal.valueOf(one.profile().dropped())),
                losses(),
                single(
                        "mdl_calls_unmatched_total",
                        MetricFamily.Type.COUNTER,
                        "Calls left by a jump or an exception.",
                        one -> BigDecimal.valueOf(one.profile().unmatched())),
                single(
                        "mdl_functions_left_out",
                        MetricFamily.Type.GAUGE,
                        "Functions that were called and have no series, which only the hottest ones have.",
                        one -> BigDecimal.valueOf(one.leftOut())),
                counters(
                        "mdl_function_calls_total",
                        "Calls of a function: counted, or estimated in a sampled session.",
                        FunctionSeries::calls,
                        BigDecimal::valueOf),
                counters(
                        "mdl_function_seconds_total",
                        "Time in a function and its callees, over all its calls.",
                        FunctionSeries::total,
                        PrometheusReport::seconds),
                counters(
                        "mdl_function_self_seconds_total",
                        "Time in a function without its probed callees, over all its calls.",
                        FunctionSeries::self,
                        PrometheusReport::seconds),
                durations(
                        "mdl_function_duration_seconds",
                        "Durations of all calls: recorded, or estimated from timed calls."),
                metrics(
                        "mdl_metric_total",
                        MetricFamily.Type.COUNTER,
                        "Amount counted or measured by a rate metric since it was enabled.",
                        metric -> metric.unitsType() == MetricValue.UnitsType.RATE),
                metrics(
                        "mdl_metric_value",
                        MetricFamily.Type.GAUGE,
                        "Value of a metric that is not a rate.",
                        metric -> metric.unitsType() != MetricValue.UnitsType.RATE));
    }

    private MetricFamily info() {
        List<MetricFamily.Sample> samples = new ArrayList<>();
        for (SessionSeries one : sessions) {
            List<MetricFamily.Label> labels = new ArrayList<>();
            labels.add(new MetricFamily.Label("session", one.session().id()));
            labels.addAll(process(one));
            labels.add(new MetricFamily.Label("mode", one.session().mode()));
            labels.add(new MetricFamily.Label("time", one.session().cpuTime() ? "cpu" : "wall"));
            samples.add(new MetricFamily.Value(labels, BigDecimal.ONE));
        }
        return new MetricFamily(
                "mdl_session_info", MetricFamily.Type.GAUGE, "Facts about a session, as labels.", samples);
    }

    private MetricFamily single(
            String name, MetricFamily.Type type, String help, Function<SessionSeries, BigDecimal> value) {
        return single(name, type, help, one -> true, value);
    }

    /// @param known whether there is a value
    private MetricFamily single(
            String name,
            MetricFamily.Type type,
            String help,
            Predicate<SessionSeries> known,
            Function<SessionSeries, BigDecimal> value) {
        List<MetricFamily.Sample> samples = new ArrayList<>();
        for (SessionSeries one : sessions) {
            if (known.test(one)) {
                samples.add(new MetricFamily.Value(process(one), value.apply(one)));
            }
        }
        return new MetricFamily(name, type, help, samples);
    }

    /// Reasons without a loss have series as well, so that an alert has a series before there is a loss.
    private MetricFamily losses() {
        List<MetricFamily.Sample> samples = new ArrayList<>();
        for (SessionSeries one : sessions) {
            for (Loss.Reason reason : Loss.Reason.values()) {
                List<MetricFamily.Label> labels = new ArrayList<>(process(one));
                labels.add(new MetricFamily.Label("reason", reason.key()));
                samples.add(new MetricFamily.Value(
                        labels, BigDecimal.valueOf(one.profile().lost(reason))));
            }
        }
        return new MetricFamily(
                "mdl_losses_total",
                MetricFamily.Type.COUNTER,
                "What the session did not see or keep, by kind.",
                samples);
    }

    private MetricFamily counters(
            String name, String help, Function<FunctionSeries, OptionalLong> value, LongFunction<BigDecimal> scale) {
        List<MetricFamily.Sample> samples = new ArrayList<>();
        for (SessionSeries session : sessions) {
            for (FunctionSeries function : session.functions()) {
                value.apply(function)
                        .ifPresent(known ->
                                samples.add(new MetricFamily.Value(labels(session, function), scale.apply(known))));
            }
        }
        return new MetricFamily(name, MetricFamily.Type.COUNTER, help, samples);
    }

    private MetricFamily durations(String name, String help) {
        List<MetricFamily.Sample> samples = new ArrayList<>();
        for (SessionSeries session : sessions) {
            for (FunctionSeries function : session.functions()) {
                if (function.timed()) {
                    samples.add(new MetricFamily.Durations(labels(session, function), function));
                }
            }
        }
        return new MetricFamily(name, MetricFamily.Type.HISTOGRAM, help, samples);
    }

    private MetricFamily metrics(String name, MetricFamily.Type type, String help, Predicate<MetricValue> wanted) {
        List<MetricFamily.Sample> samples = new ArrayList<>();
        for (SessionSeries session : sessions) {
            for (MetricValue metric : session.profile().metrics()) {
                if (wanted.test(metric) && metric.amount().isPresent()) {
                    BigDecimal amount = BigDecimal.valueOf(metric.amount().getAsDouble());
                    samples.add(new MetricFamily.Value(labels(session, metric), amount));
                }
            }
        }
        return new MetricFamily(name, type, help, samples);
    }

    private static List<MetricFamily.Label> process(SessionSeries session) {
        return List.of(
                new MetricFamily.Label("program", session.session().program()),
                new MetricFamily.Label("pid", Integer.toString(session.session().pid())));
    }

    private static List<MetricFamily.Label> labels(SessionSeries session, FunctionSeries function) {
        List<MetricFamily.Label> labels = new ArrayList<>(process(session));
        labels.add(new MetricFamily.Label("function", function.labels().function()));
        labels.add(new MetricFamily.Label("file", function.labels().file()));
        labels.add(new MetricFamily.Label("image", function.labels().image()));
        return labels;
    }

    private static List<MetricFamily.Label> labels(SessionSeries session, MetricValue metric) {
        List<MetricFamily.Label> labels = new ArrayList<>(process(session));
        labels.add(new MetricFamily.Label("metric", metric.id()));
        labels.add(new MetricFamily.Label("focus", String.join("@", metric.focus())));
        labels.add(new MetricFamily.Label("units", metric.units()));
        return labels;
    }

    static BigDecimal seconds(long nanos) {
        return BigDecimal.valueOf(nanos, 9);
    }
}
