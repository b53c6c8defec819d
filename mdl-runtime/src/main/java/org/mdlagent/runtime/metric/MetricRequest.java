package org.mdlagent.runtime.metric;

import java.util.List;
import java.util.stream.Collectors;
import org.mdlagent.runtime.mdl.request.Focus;
import org.mdlagent.runtime.mdl.request.Resource;

/// A request: `METRIC[@FOCUS...]`, such as `io_wait@/Code/aof.c@/Thread/4711`.
public record MetricRequest(String metric, Focus focus) {
    /// Parses a request.
    ///
    /// @throws IllegalArgumentException with a message for the user
    public static MetricRequest of(String text) {
        // A function's name may contain @, but a path begins with a slash.
        List<String> parts = List.of(text.strip().split("@(?=/)"));
        String metric = parts.getFirst();
        if (metric.isEmpty() || metric.indexOf('@') >= 0) {
            throw new IllegalArgumentException(
                    "a metric is requested as METRIC or METRIC@/HIERARCHY/..., not as " + text);
        }
        return new MetricRequest(metric, Focus.of(parts.subList(1, parts.size())));
    }

    /// In the form that [#of] parses.
    @Override
    public String toString() {
        return metric
                + focus.resources().stream()
                        .map(Resource::toString)
                        .map("@"::concat)
                        .collect(Collectors.joining());
    }
}
