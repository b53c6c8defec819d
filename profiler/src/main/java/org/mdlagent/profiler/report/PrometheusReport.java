package org.mdlagent.profiler.report;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.Predicate;

/// The report for Prometheus: its text exposition format, version 0.0.4, durations in seconds.
///
/// Only functions that were called have series; those that their labels do not tell apart are added up. Latencies are
/// classic histograms, with the buckets of [FunctionSeries].
public final class PrometheusReport {
    private PrometheusReport() {}

    /// Writes the first `limit` functions of a profile that were called, in the given order.
    public static void write(Profile profile, ProfileOrder order, int limit, Appendable out) throws IOException {
        write(List.of(new SessionSeries(profile, order, limit)), out);
    }

    /// Writes what is known of some sessions, of which no two have the same program and process.
    public static void write(List<SessionSeries> sessions, Appendable out) throws IOException {
        Exposition exposition = new Exposition(sessions, out);
        exposition.info();
        exposition.single(
                "mdl_agent_cpu_seconds_total",
                "counter",
                "CPU time of the agent's threads.",
                one -> seconds(one.session().agentNanos()));
        exposition.single(
                "mdl_probe_seconds_total",
                "counter",
                "What the probes have cost the program's threads, predicted by what they counted.",
                one -> one.session().tscHz().isPresent() ? seconds(one.probeNanos()) : "");
        exposition.single(
                "mdl_toggles_total",
                "counter",
                "Probes switched on or off.",
                one -> Long.toString(one.session().toggles()));
        exposition.single(
                "mdl_calls_dropped_total",
                "counter",
                "Calls that were counted but not timed, for want of room.",
                one -> Long.toString(one.profile().dropped()));
        exposition.single(
                "mdl_calls_unmatched_total",
                "counter",
                "Calls that a jump or an exception left.",
                one -> Long.toString(one.profile().unmatched()));
        exposition.single(
                "mdl_functions_left_out",
                "gauge",
                "Functions that were called, but are not among the hottest ones that have series.",
                one -> Long.toString(one.leftOut()));
        exposition.counters(
                "mdl_function_calls_total",
                "Calls of a function: counted, or estimated in a sampled session.",
                FunctionSeries::calls,
                Long::toString);
        exposition.counters(
                "mdl_function_seconds_total",
                "Time in a function and what it called, over all its calls.",
                FunctionSeries::total,
                PrometheusReport::seconds);
        exposition.counters(
                "mdl_function_self_seconds_total",
                "The same without the probed functions that it called.",
                FunctionSeries::self,
                PrometheusReport::seconds);
        exposition.histograms("mdl_function_duration_seconds", "Durations of the calls that were timed.");
        exposition.metrics(
                "mdl_metric_total",
                "counter",
                "What a metric of which the rate matters has counted or measured since it was enabled.",
                metric -> metric.unitsType() == MetricValue.UnitsType.RATE);
        exposition.metrics(
                "mdl_metric_value",
                "gauge",
                "What any other metric shows.",
                metric -> metric.unitsType() != MetricValue.UnitsType.RATE);
    }

    private static String process(SessionSeries session) {
        return "program=" + quoted(session.session().program()) + ",pid=\""
                + session.session().pid() + '"';
    }

    private static String labels(SessionSeries session, FunctionSeries function) {
        FunctionSeries.Labels labels = function.labels();
        return process(session) + ",function=" + quoted(labels.function()) + ",file=" + quoted(labels.file())
                + ",image=" + quoted(labels.image());
    }

    private static String quoted(String value) {
        return '"' + value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }

    private static String seconds(long nanos) {
        return BigDecimal.valueOf(nanos, 9).stripTrailingZeros().toPlainString();
    }

    /// The lines of the format: those of a family stand together, whatever session they are of.
    private record Exposition(List<SessionSeries> sessions, Appendable out) {
        void info() throws IOException {
            family("mdl_session_info", "gauge", "A session that other figures are of.");
            for (SessionSeries one : sessions) {
                String mode = one.session().exact() ? "exact" : "sampled";
                String labels = "session=" + quoted(one.session().id()) + ',' + process(one) + ",mode=\"" + mode + '"';
                sample("mdl_session_info", labels, "1");
            }
        }

        /// @param value "" where it is not known
        void single(String name, String type, String help, Function<SessionSeries, String> value) throws IOException {
            family(name, type, help);
            for (SessionSeries one : sessions) {
                String text = value.apply(one);
                if (!text.isEmpty()) {
                    sample(name, process(one), text);
                }
            }
        }

        void counters(String name, String help, Function<FunctionSeries, OptionalLong> value, LongFunction<String> text)
                throws IOException {
            family(name, "counter", help);
            for (SessionSeries session : sessions) {
                for (FunctionSeries function : session.functions()) {
                    OptionalLong known = value.apply(function);
                    if (known.isPresent()) {
                        sample(name, labels(session, function), text.apply(known.getAsLong()));
                    }
                }
            }
        }

        void histograms(String name, String help) throws IOException {
            family(name, "histogram", help);
            for (SessionSeries session : sessions) {
                for (FunctionSeries function : session.functions()) {
                    if (function.timed()) {
                        histogram(name, labels(session, function), function);
                    }
                }
            }
        }

        private void histogram(String name, String labels, FunctionSeries function) throws IOException {
            long cumulated = 0;
            for (int i = 0; i < FunctionSeries.BUCKETS; i++) {
                cumulated += function.inBucket(i);
                OptionalLong bound = FunctionSeries.bound(i);
                String le = bound.isPresent() ? seconds(bound.getAsLong()) : "+Inf";
                sample(name + "_bucket", labels + ",le=\"" + le + '"', Long.toString(cumulated));
            }
            sample(name + "_sum", labels, seconds(function.timedNanos()));
            sample(name + "_count", labels, Long.toString(cumulated));
        }

        void metrics(String name, String type, String help, Predicate<MetricValue> wanted) throws IOException {
            family(name, type, help);
            for (SessionSeries session : sessions) {
                for (MetricValue metric : session.profile().metrics()) {
                    if (wanted.test(metric) && metric.amount().isPresent()) {
                        String labels = process(session) + ",metric=" + quoted(metric.id()) + ",focus="
                                + quoted(String.join("@", metric.focus())) + ",units=" + quoted(metric.units());
                        sample(name, labels, Double.toString(metric.amount().getAsDouble()));
                    }
                }
            }
        }

        private void family(String name, String type, String help) throws IOException {
            out.append("# HELP ").append(name).append(' ').append(help).append('\n');
            out.append("# TYPE ").append(name).append(' ').append(type).append('\n');
        }

        private void sample(String name, String labels, String value) throws IOException {
            out.append(name)
                    .append('{')
                    .append(labels)
                    .append("} ")
                    .append(value)
                    .append('\n');
        }
    }
}
