package org.mdlagent.profiler.report.exposition;

import java.io.IOException;
import java.io.OutputStream;
import java.util.OptionalLong;
import org.mdlagent.profiler.report.codec.ProtobufWriter;

/// Prometheus' protobuf exposition format: `MetricFamily` messages of `io/prometheus/client/metrics.proto`,
/// each after its length. Histograms are native and classic at once; the server keeps what it is configured
/// to keep.
final class ProtobufExposition {
    private final OutputStream out;

    ProtobufExposition(OutputStream out) {
        this.out = out;
    }

    void write(MetricFamily family) throws IOException {
        ProtobufWriter message = new ProtobufWriter()
                .field(Field.NAME, family.name())
                .field(Field.HELP, family.help())
                .field(Field.TYPE, type(family.type()));
        for (MetricFamily.Sample sample : family.samples()) {
            message.field(Field.METRIC, metric(sample, family.type()));
        }
        message.writeDelimitedTo(out);
    }

    private static int type(MetricFamily.Type type) {
        return switch (type) {
            case COUNTER -> 0;
            case GAUGE -> 1;
            case HISTOGRAM -> 4;
        };
    }

    private static ProtobufWriter metric(MetricFamily.Sample sample, MetricFamily.Type type) {
        ProtobufWriter metric = new ProtobufWriter();
        for (MetricFamily.Label label : sample.labels()) {
            metric.field(
                    Field.LABEL,
                    new ProtobufWriter().field(Field.LABEL_NAME, label.name()).field(Field.LABEL_VALUE, label.value()));
        }
        return switch (sample) {
            case MetricFamily.Value one ->
                metric.field(
                        type == MetricFamily.Type.GAUGE ? Field.GAUGE : Field.COUNTER,
                        new ProtobufWriter().field(Field.VALUE, one.value().doubleValue()));
            case MetricFamily.Durations durations -> metric.field(Field.HISTOGRAM, histogram(durations.function()));
        };
    }

    private static ProtobufWriter histogram(FunctionSeries function) {
        ProtobufWriter histogram = new ProtobufWriter();
        histogram.field(
                Field.SAMPLE_SUM,
                PrometheusReport.seconds(function.total().orElse(0)).doubleValue());
        long cumulated = 0;
        long[] buckets = function.buckets();
        for (int i = 0; i < buckets.length; i++) {
            cumulated += buckets[i];
            OptionalLong bound = FunctionSeries.bound(i);
            if (bound.isPresent()) {
                histogram.field(
                        Field.BUCKET,
                        new ProtobufWriter()
                                .field(Field.CUMULATIVE_COUNT, cumulated)
                                .field(
                                        Field.UPPER_BOUND,
                                        PrometheusReport.seconds(bound.getAsLong())
                                                .doubleValue()));
            }
        }
        histogram.field(Field.SAMPLE_COUNT, cumulated);
        nativeBuckets(NativeHistogram.of(function), histogram);
        return histogram;
    }

    private static void nativeBuckets(NativeHistogram buckets, ProtobufWriter histogram) {
        histogram.signed(Field.SCHEMA, NativeHistogram.SCHEMA);
        histogram.field(Field.ZERO_THRESHOLD, NativeHistogram.ZERO_SECONDS);
        histogram.field(Field.ZERO_COUNT, buckets.zeros());
        for (NativeHistogram.Span span : buckets.spans()) {
            histogram.field(
                    Field.POSITIVE_SPAN,
                    new ProtobufWriter()
                            .signed(Field.SPAN_OFFSET, span.offset())
                            .field(Field.SPAN_LENGTH, span.length()));
        }
        histogram.packedSigned(Field.POSITIVE_DELTA, buckets.deltas());
    }

    /// Field numbers, by message.
    private static final class Field {
        // MetricFamily
        static final int NAME = 1;
        static final int HELP = 2;
        static final int TYPE = 3;
        static final int METRIC = 4;
        // Metric
        static final int LABEL = 1;
        static final int GAUGE = 2;
        static final int COUNTER = 3;
        static final int HISTOGRAM = 7;
        // LabelPair
        static final int LABEL_NAME = 1;
        static final int LABEL_VALUE = 2;
        // Gauge, Counter
        static final int VALUE = 1;
        // Histogram
        static final int SAMPLE_COUNT = 1;
        static final int SAMPLE_SUM = 2;
        static final int BUCKET = 3;
        static final int SCHEMA = 5;
        static final int ZERO_THRESHOLD = 6;
        static final int ZERO_COUNT = 7;
        static final int POSITIVE_SPAN = 12;
        static final int POSITIVE_DELTA = 13;
        // Bucket
        static final int CUMULATIVE_COUNT = 1;
        static final int UPPER_BOUND = 2;
        // BucketSpan
        static final int SPAN_OFFSET = 1;
        static final int SPAN_LENGTH = 2;
    }
}
