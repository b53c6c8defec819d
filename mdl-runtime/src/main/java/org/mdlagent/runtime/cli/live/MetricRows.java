package org.mdlagent.runtime.cli.live;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.mdlagent.profiler.report.profile.MetricValue;

/// The metrics of a running program in `mdl top`: a row for each enabled metric.
final class MetricRows {
    static final String HEAD = "  VALUE               METRIC";

    private final Map<String, MetricColumn> rows = new LinkedHashMap<>();

    /// Adds a look.
    void add(List<MetricValue> metrics) {
        rows.keySet().retainAll(metrics.stream().map(MetricValue::request).toList());
        for (MetricValue metric : metrics) {
            rows.computeIfAbsent(metric.request(), request -> new MetricColumn(metric))
                    .add(metric);
        }
    }

    List<String> lines() {
        return MetricColumn.lines(rows.values());
    }
}
