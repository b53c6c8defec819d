package org.mdlagent.profiler.report.exposition;

import java.math.BigDecimal;
import java.util.List;

/// Samples of one name, for any of Prometheus' formats.
record MetricFamily(String name, Type type, String help, List<Sample> samples) {
    enum Type {
        COUNTER,
        GAUGE,
        HISTOGRAM
    }

    record Label(String name, String value) {}

    sealed interface Sample {
        List<Label> labels();
    }

    record Value(List<Label> labels, BigDecimal value) implements Sample {}

    /// The durations of a function's calls.
    record Durations(List<Label> labels, FunctionSeries function) implements Sample {}
}
