package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.MetricDescriptor;
import org.mdlagent.fastinst.MetricTable;
import org.mdlagent.fastinst.ProbeClient;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.runtime.FunctionGlob;
import org.mdlagent.runtime.mdl.Compilation;
import org.mdlagent.runtime.mdl.Definitions;
import org.mdlagent.runtime.mdl.Metric;
import org.mdlagent.runtime.mdl.MetricLibrary;
import org.mdlagent.runtime.mdl.request.Answer;
import org.mdlagent.runtime.mdl.request.Evaluator;
import org.mdlagent.runtime.mdl.request.Focus;
import org.mdlagent.runtime.mdl.request.Resource;
import org.mdlagent.runtime.mdl.request.SnippetRequest;
import org.mdlagent.runtime.mdl.syntax.Diagnostic;
import org.mdlagent.runtime.mdl.syntax.SourceFile;
import org.mdlagent.runtime.mdl.syntax.Spelling;

/// The metrics of this process (MDL paper, section 4: the instrumentation manager): enables them while the
/// program runs, and shows them to readers of the session. Used by one thread, the agent's.
public final class Metrics {
    /// Metrics that one request with a pattern may enable.
    private static final int EXPANDED_MAX = 1000;

    private final Probes probes;
    private final ProbeClient client;
    private final String executable;
    private final Flags flags;
    private final Map<MetricRequest, Enabled> enabled = new LinkedHashMap<>();
    private @Nullable Definitions definitions;
    private int requests;

    /// @param record in the session's table
    private record Enabled(EnabledMetric metric, long record) {}

    /// What has been enabled.
    ///
    /// @param metrics   how many, more than one for a focus with a pattern
    /// @param points    where snippets of theirs are
    /// @param pastTicks what all this would have cost in the calls that the profiler has seen so far
    /// @param obstacles what could not be instrumented
    public record Outcome(int metrics, int points, double pastTicks, Set<Answer.Obstacle> obstacles) {}

    /// A snippet that is in place.
    public record PlacedSnippet(MetricRequest request, SnippetRequest snippet) {}

    /// @param executable path of the program's own image
    public Metrics(Probes probes, ProbeClient client, String executable) {
        this.probes = probes;
        this.client = client;
        this.executable = executable;
        flags = new Flags(probes.snippets());
    }

    /// Adds what a file defines to what the agent knows; what has errors is left out.
    ///
    /// @return what there is to say about it
    public List<Diagnostic> load(Path file) throws IOException {
        String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        Compilation compilation = Compilation.of(new SourceFile(file.toString(), text), definitions());
        definitions = definitions().with(compilation.definitions());
        return compilation.diagnostics();
    }

    /// Those that can be enabled, by the name that requests use.
    public Definitions definitions() {
        if (definitions == null) {
            definitions = MetricLibrary.load();
        }
        return definitions;
    }

    /// Starts to measure a metric.
    ///
    /// @throws IllegalArgumentException when it cannot be measured, with a message for the person who asked
    /// @throws IllegalStateException when there is no room, or the agent's probes are switched off for good
    /// @throws IOException when code memory is refused
    public Outcome enable(MetricRequest request) throws IOException {
        Metric metric = metric(request.metric());
        ProbedProgram program = new ProbedProgram(client, executable);
        List<Focus> focuses = FocusGlob.expand(request.focus(), program);
        if (focuses.size() > EXPANDED_MAX) {
            throw new IllegalArgumentException(
                    request + " stands for " + focuses.size() + " metrics, more than " + EXPANDED_MAX + ": narrow it");
        }
        Evaluator evaluator = new Evaluator(definitions(), program);
        int started = 0;
        int points = 0;
        double pastTicks = 0;
        Set<Answer.Obstacle> obstacles = new LinkedHashSet<>();
        for (Focus focus : focuses) {
            try {
                EnabledMetric one = enable(new MetricRequest(metric.id(), focus), metric, evaluator, program);
                started++;
                points += one.snippets().size();
                pastTicks += one.pastTicks();
                obstacles.addAll(one.obstacles());
            } catch (IllegalArgumentException e) {
                if (focuses.size() == 1) {
                    throw e;
                }
                obstacles.add(new Answer.Obstacle(focus.toString(), String.valueOf(e.getMessage())));
            }
        }
        if (program.strangers() > 0) {
            obstacles.add(new Answer.Obstacle(
                    program.strangers() + " probes", "which function is theirs has not shown yet, or varies"));
        }
        return new Outcome(started, points, pastTicks, obstacles);
    }

    private EnabledMetric enable(MetricRequest request, Metric metric, Evaluator evaluator, ProbedProgram program)
            throws IOException {
        if (enabled.containsKey(request)) {
            throw new IllegalArgumentException(request + " is enabled already");
        }
        Answer.Instance instance = switch (evaluator.evaluate(metric, request.focus(), ++requests)) {
            case Answer.Refused(String reason) -> throw new IllegalArgumentException(reason);
            case Answer.Instance answer -> answer;
        };
        if (instance.value().kind().hasEvent()) {
            throw new IllegalArgumentException(
                    "metric " + metric.id() + ": the kernel's events are not counted in this version");
        }
        EnabledMetric started = new EnabledMetric(instance, probes.snippets(), flags);
        try {
            started.start(program);
            enabled.put(request, new Enabled(started, probes.metrics().add(row(started))));
        } catch (IOException | RuntimeException e) {
            started.stop();
            throw e;
        }
        return started;
    }

    private Metric metric(String id) {
        Metric metric = definitions().metrics().get(id);
        if (metric == null) {
            String hint = Spelling.hint(id, definitions().metrics().keySet());
            throw new IllegalArgumentException("no metric " + id + (hint == null ? "" : "; " + hint));
        }
        return metric;
    }

    private static MetricTable.Row row(EnabledMetric enabled) {
        Metric metric = enabled.instance().metric();
        Scope scope = Scope.of(enabled.instance().scopes());
        return new MetricTable.Row(
                metric.id(),
                metric.name(),
                metric.units(),
                enabled.instance().focus().resources().stream()
                        .map(Resource::toString)
                        .collect(Collectors.joining("\n")),
                switch (metric.unitsType()) {
                    case NORMALIZED -> MetricDescriptor.UNITS_RATE;
                    case UNNORMALIZED -> MetricDescriptor.UNITS_AMOUNT;
                    case SAMPLED -> MetricDescriptor.UNITS_SAMPLED;
                },
                switch (metric.aggregate()) {
                    case SUM -> MetricDescriptor.COMBINE_SUM;
                    case MIN -> MetricDescriptor.COMBINE_MIN;
                    case MAX -> MetricDescriptor.COMBINE_MAX;
                    case AVERAGE -> MetricDescriptor.COMBINE_AVERAGE;
                },
                enabled.value(),
                enabled.errorCounter(),
                scope.pid(),
                scope.tid());
    }

    /// Stops to measure a metric, or all that a pattern means.
    ///
    /// @return how many
    /// @throws IllegalArgumentException when none is enabled
    public int disable(MetricRequest request) throws IOException {
        String pattern = request.toString();
        List<MetricRequest> found = enabled.keySet().stream()
                .filter(candidate -> candidate.equals(request) || FunctionGlob.matches(pattern, candidate.toString()))
                .toList();
        if (found.isEmpty()) {
            throw new IllegalArgumentException(request + " is not enabled");
        }
        for (MetricRequest each : found) {
            Enabled gone = Objects.requireNonNull(enabled.remove(each));
            probes.metrics().remove(gone.record);
            gone.metric.stop();
        }
        return found.size();
    }

    /// The snippets of all metrics that are enabled; one that sets a shared flag is there for each that tests it.
    public List<PlacedSnippet> points() {
        List<PlacedSnippet> points = new ArrayList<>();
        enabled.forEach((request, each) ->
                each.metric.snippets().forEach(snippet -> points.add(new PlacedSnippet(request, snippet))));
        return points;
    }
}
