package org.mdlagent.profiler.report;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;

/// The report for Prometheus: its text exposition format, version 0.0.4, durations in seconds.
///
/// Only functions that were called have series; those that the labels `function`, `file` and `image` do not tell apart
/// are added up. Latencies are classic histograms with three buckets a decade: a call counts where the middle of its
/// slot lies, so at most 0.4 % of a bound away from its own side.
public final class PrometheusReport {
    /// Bounds of the buckets in nanoseconds: 1, 2 and 5 of each decade from 100 ns to 10 s, and what lies outside.
    private static final double[] BOUNDS = bounds();

    private PrometheusReport() {}

    private static double[] bounds() {
        double[] bounds = new double[27];
        for (int i = 1; i < bounds.length - 1; i++) {
            double digit = new double[] {1, 2, 5}[(i - 1) % 3];
            // A bound belongs to the bucket below it.
            bounds[i] = Math.nextUp(digit * Math.pow(10, 2 + (i - 1) / 3));
        }
        bounds[bounds.length - 1] = Double.POSITIVE_INFINITY;
        return bounds;
    }

    /// Writes the first `limit` functions of a profile, in the given order.
    public static void write(Profile profile, ProfileOrder order, int limit, Appendable out) throws IOException {
        Map<String, Series> series = new LinkedHashMap<>();
        for (FunctionProfile function : order.first(limit, profile.functions())) {
            if (function.calls() > 0) {
                series.computeIfAbsent(labels(function), Series::new).add(function);
            }
        }
        Exposition exposition = new Exposition(out);
        session(profile, exposition);
        functions(series.values(), exposition);
    }

    private static void session(Profile profile, Exposition out) throws IOException {
        SessionFacts session = profile.session();
        out.family("mdl_session_info", "gauge", "The session that the other figures are of.");
        out.sample(
                "mdl_session_info",
                "session=" + quoted(session.id()) + ",program=" + quoted(session.program()) + ",pid=\"" + session.pid()
                        + "\",mode=\"" + (session.exact() ? "exact" : "sampled") + '"',
                "1");
        single("mdl_agent_cpu_seconds_total", "CPU time of the agent's threads.", seconds(session.agentNanos()), out);
        if (session.tscHz().isPresent()) {
            String help = "What the probes have cost the program's threads, predicted by what they counted.";
            single("mdl_probe_seconds_total", help, seconds(profile.probeNanos()), out);
        }
        single("mdl_toggles_total", "Probes switched on or off.", Long.toString(session.toggles()), out);
        single(
                "mdl_calls_dropped_total",
                "Calls that were counted but not timed, for want of room.",
                Long.toString(profile.dropped()),
                out);
        single(
                "mdl_calls_unmatched_total",
                "Calls that a jump or an exception left.",
                Long.toString(profile.unmatched()),
                out);
    }

    private static void single(String name, String help, String value, Exposition out) throws IOException {
        out.family(name, "counter", help);
        out.sample(name, "", value);
    }

    private static void functions(Collection<Series> all, Exposition out) throws IOException {
        counters(
                "mdl_function_calls_total",
                "Calls of a function: counted, or estimated in a sampled session.",
                all,
                one -> OptionalLong.of(one.calls),
                value -> Long.toString(value),
                out);
        counters(
                "mdl_function_seconds_total",
                "Time in a function and what it called, over all its calls.",
                all,
                one -> one.total,
                PrometheusReport::seconds,
                out);
        counters(
                "mdl_function_self_seconds_total",
                "The same without the probed functions that it called.",
                all,
                one -> one.self,
                PrometheusReport::seconds,
                out);
        String histogram = "mdl_function_duration_seconds";
        out.family(histogram, "histogram", "Durations of the calls that were timed.");
        for (Series one : all) {
            if (one.timed) {
                histogram(histogram, one, out);
            }
        }
    }

    private static void counters(
            String name,
            String help,
            Collection<Series> all,
            Function<Series, OptionalLong> value,
            Function<Long, String> text,
            Exposition out)
            throws IOException {
        out.family(name, "counter", help);
        for (Series one : all) {
            OptionalLong known = value.apply(one);
            if (known.isPresent()) {
                out.sample(name, one.labels, text.apply(known.getAsLong()));
            }
        }
    }

    private static void histogram(String name, Series one, Exposition out) throws IOException {
        long cumulated = 0;
        for (int i = 0; i < one.buckets.length; i++) {
            cumulated += one.buckets[i];
            double bound = BOUNDS[i + 1];
            String le = Double.isInfinite(bound) ? "+Inf" : seconds(Math.round(bound));
            out.sample(name + "_bucket", one.labels + ",le=\"" + le + '"', Long.toString(cumulated));
        }
        out.sample(name + "_sum", one.labels, seconds(one.timedNanos));
        out.sample(name + "_count", one.labels, Long.toString(cumulated));
    }

    private static String labels(FunctionProfile function) {
        return "function=" + quoted(function.name())
                + ",file=" + quoted(function.file() == null ? "" : function.file())
                + ",image=" + quoted(function.image());
    }

    private static String quoted(String value) {
        return '"' + value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }

    private static String seconds(long nanos) {
        return BigDecimal.valueOf(nanos, 9).stripTrailingZeros().toPlainString();
    }

    /// The functions that have the same labels.
    private static final class Series {
        private final String labels;
        private final long[] buckets = new long[BOUNDS.length - 1];
        private long calls;
        private OptionalLong total = OptionalLong.empty();
        private OptionalLong self = OptionalLong.empty();
        private boolean timed;
        private long timedNanos;

        Series(String labels) {
            this.labels = labels;
        }

        void add(FunctionProfile function) {
            Latency latency = function.latency();
            calls += function.calls();
            total = sum(total, function.totalNanos());
            self = sum(self, function.selfNanos());
            if (latency.known()) {
                timed = true;
                timedNanos += latency.totalNanos().orElse(0);
                long[] more = latency.spread(BOUNDS);
                Arrays.setAll(buckets, i -> buckets[i] + more[i]);
            }
        }

        private static OptionalLong sum(OptionalLong a, OptionalLong b) {
            return a.isEmpty() ? b : OptionalLong.of(a.getAsLong() + b.orElse(0));
        }
    }

    /// The lines of the format.
    private record Exposition(Appendable out) {
        void family(String name, String type, String help) throws IOException {
            out.append("# HELP ").append(name).append(' ').append(help).append('\n');
            out.append("# TYPE ").append(name).append(' ').append(type).append('\n');
        }

        void sample(String name, String labels, String value) throws IOException {
            out.append(name);
            if (!labels.isEmpty()) {
                out.append('{').append(labels).append('}');
            }
            out.append(' ').append(value).append('\n');
        }
    }
}
