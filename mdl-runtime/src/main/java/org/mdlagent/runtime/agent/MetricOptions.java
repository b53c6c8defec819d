package org.mdlagent.runtime.agent;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.mdlagent.runtime.mdl.syntax.Diagnostic;
import org.mdlagent.runtime.metric.MetricRequest;
import org.mdlagent.runtime.metric.Metrics;
import org.mdlagent.runtime.options.AgentLog;

/// Metrics enabled at program start: the options `mdl` and `metric`.
record MetricOptions(Metrics metrics, OnDemand onDemand, AgentLog log) {
    /// Never fails: failures are logged.
    void apply(List<String> files, List<String> requests) {
        for (String file : files) {
            try {
                for (Diagnostic diagnostic : metrics.load(Path.of(file))) {
                    log.line(diagnostic.format());
                }
            } catch (IOException | IllegalArgumentException e) {
                log.line("mdl=" + file + " cannot be read: " + e.getMessage());
            }
        }
        for (String text : requests) {
            try {
                MetricRequest request = MetricRequest.of(text);
                onDemand.open(request.focus());
                Metrics.Outcome outcome = metrics.enable(request, Double.POSITIVE_INFINITY);
                log.line("metric " + request + ": " + outcome.points() + " points");
                outcome.obstacles().forEach(obstacle -> log.line("metric " + request + ": " + obstacle));
            } catch (IOException | RuntimeException e) {
                log.line("metric " + text + " is not measured: " + e.getMessage());
            }
        }
    }
}
