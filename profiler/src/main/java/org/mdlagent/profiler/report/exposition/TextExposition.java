package org.mdlagent.profiler.report.exposition;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.mdlagent.profiler.text.ForeignText;

/// Prometheus' text exposition format, version 0.0.4, with classic histograms.
final class TextExposition {
    private final Appendable out;

    TextExposition(Appendable out) {
        this.out = out;
    }

    void write(MetricFamily family) throws IOException {
        String name = family.name();
        String type = family.type().name().toLowerCase(Locale.ROOT);
        out.append("# HELP ")
                .append(name)
                .append(' ')
                .append(ForeignText.printable(family.help()))
                .append('\n');
        out.append("# TYPE ").append(name).append(' ').append(type).append('\n');
        for (MetricFamily.Sample sample : family.samples()) {
            String labels = labels(sample.labels());
            switch (sample) {
                case MetricFamily.Value one ->
                    line(name, labels, one.value().stripTrailingZeros().toPlainString());
                case MetricFamily.Durations durations -> histogram(name, labels, durations.function());
            }
        }
    }

    private void histogram(String name, String labels, FunctionSeries function) throws IOException {
        long[] cumulated = function.buckets();
        Arrays.parallelPrefix(cumulated, Long::sum);
        for (int i = 0; i < cumulated.length; i++) {
            OptionalLong bound = FunctionSeries.bound(i);
            String le = bound.isPresent() ? seconds(bound.getAsLong()) : "+Inf";
            line(name + "_bucket", labels + ",le=\"" + le + '"', Long.toString(cumulated[i]));
        }
        line(name + "_sum", labels, seconds(function.total().orElse(0)));
        line(name + "_count", labels, Long.toString(cumulated[cumulated.length - 1]));
    }

    private static String seconds(long nanos) {
        return PrometheusReport.seconds(nanos).stripTrailingZeros().toPlainString();
    }

    private static String labels(List<MetricFamily.Label> labels) {
        return labels.stream()
                .map(label -> label.name() + '=' + quoted(label.value()))
                .collect(Collectors.joining(","));
    }

    private static String quoted(String value) {
        return '"' + ForeignText.printable(value).replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    private void line(String name, String labels, String value) throws IOException {
        for (String part : List.of(name, "{", labels, "} ", value, "\n")) {
            out.append(part);
        }
    }
}
