package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.mdlagent.fastinst.ProbeClient;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.runtime.mdl.Constraint;
import org.mdlagent.runtime.mdl.Definitions;
import org.mdlagent.runtime.mdl.Metric;
import org.mdlagent.runtime.mdl.request.Answer;
import org.mdlagent.runtime.mdl.request.Evaluator;
import org.mdlagent.runtime.mdl.request.Focus;
import org.mdlagent.runtime.mdl.request.Point;
import org.mdlagent.runtime.mdl.request.Procedure;
import org.mdlagent.runtime.mdl.request.Resource;
import org.mdlagent.runtime.mdl.request.SnippetRequest;
import org.mdlagent.runtime.mdl.syntax.Diagnostic;
import org.mdlagent.runtime.options.FunctionGlob;

/// The metrics of this process (MDL paper, section 4: the instrumentation manager): enables them while the program
/// runs, and publishes them to readers of the session. Used by the agent's thread only.
public final class Metrics {
    /// Maximum metrics enabled by one request with a pattern.
    public static final int EXPANDED_MAX = 1000;

    /// Maximum objects of one request with a pattern if each costs a comparison at every use of any object.
    private static final int OBJECTS_MAX = 64;

    /// Ratio of the pause after a check for new code to the duration of the check.
    private static final int FOLLOW_PAUSE = 50;

    private final Probes probes;
    private final ProbeClient client;
    private final String executable;
    private final ExpectedCost expectedCost;
    private final Flags flags;
    private final SyncObjects objects;
    private final GrowingRequests growing;
    private final Map<MetricRequest, Enabled> enabled = new LinkedHashMap<>();
    private final KnownMetrics definitions = new KnownMetrics();
    private @Nullable View view;
    private int requests;

    /// The program that enabled metrics are measured in, and the time of the next check for new code.
    private Probes.@Nullable Version followed;
    private long nextFollow = System.nanoTime();

    /// @param id     `$globalId`
    /// @param records in the session's table
    /// @param kinds  of objects discovered while it is enabled
    private record Enabled(EnabledMetric metric, int id, List<Long> records, Set<Resource> kinds) {}

    /// A metric ready to start.
    private record Candidate(Answer.Instance instance, int id) {}

    /// The program that requests are evaluated against.
    private record View(Probes.Version version, ProbedProgram program, Evaluator evaluator) {}

    /// The result of enabling.
    ///
    /// @param metrics   number of metrics, several for a focus with a pattern
    /// @param points    number of their points
    /// @param percent   expected overhead in percent of a processor; empty if no profiler knows the calls
    /// @param obstacles parts that could not be instrumented
    public record Outcome(int metrics, int points, OptionalDouble percent, Set<Answer.Obstacle> obstacles) {}

    /// A percentage as text.
    public static String significant(double percent) {
        return new BigDecimal(percent).round(new MathContext(2)).toPlainString();
    }

    /// An attached snippet.
    public record PlacedSnippet(MetricRequest request, SnippetRequest snippet) {}

    /// @param executable path of the program's own image
    /// @param profiledTicks duration of call counting so far, 0 if calls are not counted
    public Metrics(Probes probes, ProbeClient client, String executable, LongSupplier profiledTicks) {
        this.probes = probes;
        this.client = client;
        this.executable = executable;
        expectedCost = new ExpectedCost(probes.snippets(), profiledTicks);
        flags = new Flags(probes.snippets());
        objects = new SyncObjects(probes.snippets());
        growing = new GrowingRequests(objects);
    }

    /// Adds a file's definitions to the known ones, without those with errors.
    ///
    /// @return diagnostics
    public List<Diagnostic> load(Path file) throws IOException {
        view = null;
        return definitions.load(file);
    }

    /// Adds a definition to the known ones.
    ///
    /// @throws IllegalArgumentException if it has errors, or changes an enabled metric, with a message for the
    ///     user
    public void define(String text) {
        view = null;
        definitions.define(
                text, enabled.keySet().stream().map(MetricRequest::metric).collect(Collectors.toSet()));
    }

    /// The available metrics, by their name in requests.
    public Definitions definitions() {
        return definitions.get();
    }

    /// Enables a metric.
    ///
    /// @param percentMax maximum expected overhead in percent of a processor
    /// @throws IllegalArgumentException if it cannot be measured or would exceed the maximum, with a message for
    ///     the user
    /// @throws IllegalStateException if there is no room, or the agent's probes are off permanently
    /// @throws IOException when code memory is refused
    public Outcome enable(MetricRequest request, double percentMax) throws IOException {
        boolean grows = FocusGlob.mayGrow(request.focus()) && !growing.contains(request);
        if (grows) {
            View now = view();
            growing.add(
                    request,
                    percentMax,
                    now.evaluator.discoveries(definitions.metric(request.metric()), request.focus()),
                    now.program);
        }
        try {
            List<Focus> focuses = FocusGlob.expand(request.focus(), view().program);
            if (focuses.size() > EXPANDED_MAX) {
                throw new IllegalArgumentException(request + " stands for " + focuses.size() + " metrics, more than "
                        + EXPANDED_MAX + ": narrow it");
            }
            return enable(request, focuses, percentMax);
        } catch (IOException | RuntimeException e) {
            boolean unused = grows && growing.remove(request);
            throw e;
        }
    }

    /// @param focuses the expansion of the request
    private Outcome enable(MetricRequest request, List<Focus> focuses, double percentMax) throws IOException {
        Metric metric = definitions.metric(request.metric());
        View now = view();
        if (enabled.isEmpty()) {
            followed = now.version;
        }
        ProbedProgram program = now.program;
        Set<Answer.Obstacle> obstacles = new LinkedHashSet<>();
        Map<MetricRequest, Candidate> found = new LinkedHashMap<>();
        for (Focus focus : focuses) {
            MetricRequest one = new MetricRequest(metric.id(), focus);
            attempt(one, focuses, obstacles, () -> found.put(one, evaluate(one, metric, now)));
        }
        OptionalDouble percent = expectedCost.percent(
                found.values().stream().map(Candidate::instance).toList(), program, percentMax);
        if (percent.orElse(0) > percentMax) {
            throw new IllegalArgumentException(request + " would take some " + significant(percent.getAsDouble())
                    + " % of a processor, more than " + significant(percentMax) + " %: narrow it, or use --force");
        }
        Map<Resource, List<SnippetRequest>> discoveries = now.evaluator.discoveries(metric, request.focus());
        List<EnabledMetric> started = new ArrayList<>();
        try (SideBySide places = new SideBySide(probes.snippets().values(), flags)) {
            places.reserve(found.values().stream()
                    .map(Candidate::instance)
                    .filter(instance -> instance.focus().firstFile() == 0)
                    .toList());
            probes.snippets().together(() -> {
                for (Map.Entry<MetricRequest, Candidate> one : found.entrySet()) {
                    attempt(
                            one.getKey(),
                            focuses,
                            obstacles,
                            () -> started.add(start(one.getKey(), one.getValue(), discoveries, program, places)));
                }
            });
        } catch (IOException | RuntimeException e) {
            remove(enabled.entrySet().stream()
                    .filter(one -> started.contains(one.getValue().metric))
                    .map(Map.Entry::getKey)
                    .toList());
            throw e;
        }
        for (EnabledMetric one : started) {
            obstacles.addAll(one.obstacles(program));
        }
        obstacles.addAll(program.unseen(request.focus()));
        obstacles.addAll(enteredBefore(started, program));
        int points = started.stream().mapToInt(one -> one.snippets().size()).sum();
        return new Outcome(started.size(), points, percent, obstacles);
    }

    /// Calls already under way, if a metric needs their entry and return: no snippet has seen the entry, and the
    /// return bypasses the probes.
    private static List<Answer.Obstacle> enteredBefore(List<EnabledMetric> started, ProbedProgram program) {
        Set<Procedure> wanted = started.stream()
                .flatMap(one -> one.snippets().stream())
                .map(SnippetRequest::point)
                .filter(Point.Return.class::isInstance)
                .map(Point::procedure)
                .collect(Collectors.toSet());
        return !program.hasBegun() || wanted.isEmpty()
                ? List.of()
                : program.inside(wanted).entrySet().stream()
                        .sorted(Map.Entry.comparingByKey(Comparator.comparing(Procedure::name)))
                        .map(one -> new Answer.Obstacle(
                                "calls of " + one.getKey().name() + " that "
                                        + (one.getValue() == 1 ? "1 thread is" : one.getValue() + " threads are")
                                        + " in",
                                "they began before; the next call counts"))
                        .toList();
    }

    /// A failure for one object does not stop the others.
    private void enableAppeared(MetricRequest pattern, double percentMax) throws IOException {
        boolean cheap = definitions.metric(pattern.metric()).constraints().stream()
                .filter(Constraint::ofObjects)
                .allMatch(Constraint::isVector);
        int room = (cheap ? EXPANDED_MAX : OBJECTS_MAX) - matching(pattern).size();
        List<Focus> appeared = FocusGlob.expand(pattern.focus(), view().program).stream()
                .filter(focus -> !enabled.containsKey(new MetricRequest(pattern.metric(), focus)))
                .limit(Math.max(0, room))
                .toList();
        if (!appeared.isEmpty()) {
            try {
                Outcome unused = enable(pattern, appeared, percentMax);
            } catch (IllegalArgumentException e) {
                // Treated as undiscovered.
            }
        }
    }

    private List<MetricRequest> matching(MetricRequest request) {
        String pattern = request.toString();
        return enabled.keySet().stream()
                .filter(candidate -> candidate.equals(request) || FunctionGlob.matches(pattern, candidate.toString()))
                .toList();
    }

    /// The current program; refreshed if it has changed.
    private View view() {
        Probes.Version version = probes.version();
        if (view == null || !view.version.equals(version)) {
            ProbedProgram program = new ProbedProgram(client, probes, objects, executable);
            view = new View(version, program, new Evaluator(definitions(), program));
        }
        return view;
    }

    private interface Step {
        void run() throws IOException;
    }

    /// A failure of one of several metrics does not stop the others.
    private static void attempt(MetricRequest one, List<Focus> focuses, Set<Answer.Obstacle> obstacles, Step step)
            throws IOException {
        try {
            step.run();
        } catch (IllegalArgumentException e) {
            if (focuses.size() == 1) {
                throw e;
            }
            obstacles.add(new Answer.Obstacle(one.focus().toString(), String.valueOf(e.getMessage())));
        }
    }

    private Candidate evaluate(MetricRequest request, Metric metric, View now) {
        if (enabled.containsKey(request)) {
            throw new IllegalArgumentException(request + " is enabled already");
        }
        return switch (now.evaluator.evaluate(metric, request.focus(), ++requests)) {
            case Answer.Refused(String reason) ->
                throw new IllegalArgumentException(now.program.explain(reason, request.focus()));
            case Answer.Instance instance -> new Candidate(instance, requests);
        };
    }

    private EnabledMetric start(
            MetricRequest request,
            Candidate candidate,
            Map<Resource, List<SnippetRequest>> discoveries,
            ProbedProgram program,
            SideBySide places)
            throws IOException {
        int files = request.focus().firstFile() == 0
                ? 1
                : objects.files().together(request.focus().firstFile());
        EnabledMetric started = new EnabledMetric(candidate.instance, files, probes.snippets(), flags, probes::text);
        try {
            started.start(program, places);
            objects.retain(discoveries, program);
            enabled.put(request, new Enabled(started, candidate.id, show(started), discoveries.keySet()));
        } catch (IOException | RuntimeException e) {
            started.stop();
            throw e;
        }
        return started;
    }

    /// Publishes a metric to readers; for files by number, one for each once it has a name.
    ///
    /// @return its records
    private List<Long> show(EnabledMetric metric) {
        long first = metric.instance().focus().firstFile();
        if (first == 0) {
            return List.of(probes.metrics().add(metric.row(0)));
        }
        List<Long> records = new ArrayList<>();
        for (int i = 0; i < metric.objects(); i++) {
            records.add(
                    probes.metrics().addReserved(metric.row(i), objects.files().text(first + i)));
        }
        return records;
    }

    /// Updates the histories of enabled metrics, and occasionally checks the program for new code. Call it some
    /// ten times a second.
    ///
    /// @throws IllegalStateException when the agent's probes are switched off permanently
    /// @throws IOException when code memory is refused
    public void observe() throws IOException {
        long now = System.nanoTime();
        probes.metrics().observe(now);
        probes.imports().confirm();
        growing.observe(this::enableAppeared);
        if (now >= nextFollow) {
            follow();
        }
    }

    /// Whether any metric needs observation that often.
    public boolean areMeasured() {
        return !enabled.isEmpty() || !growing.isEmpty();
    }

    /// Extends enabled metrics to new code of the program.
    ///
    /// @throws IllegalStateException when the agent's probes are switched off permanently
    /// @throws IOException when code memory is refused
    public void follow() throws IOException {
        Probes.Version version = probes.version();
        if (enabled.isEmpty() || version.equals(followed)) {
            return;
        }
        followed = version;
        long begin = System.nanoTime();
        try {
            View now = view();
            probes.snippets().together(() -> {
                for (Map.Entry<MetricRequest, Enabled> one : enabled.entrySet()) {
                    follow(one.getKey(), one.getValue(), now);
                }
            });
        } finally {
            long end = System.nanoTime();
            nextFollow = end + FOLLOW_PAUSE * (end - begin);
        }
    }

    private static void follow(MetricRequest request, Enabled one, View now) throws IOException {
        Answer answer = now.evaluator.evaluate(one.metric.instance().metric(), request.focus(), one.id);
        if (answer instanceof Answer.Instance instance) {
            one.metric.follow(instance, now.program);
        }
    }

    /// Disables a metric, or all that match a pattern.
    ///
    /// @return the number of disabled metrics
    /// @throws IllegalArgumentException if none is enabled
    public int disable(MetricRequest request) throws IOException {
        List<MetricRequest> found = matching(request);
        boolean grew = growing.remove(request);
        if (found.isEmpty() && !grew) {
            throw new IllegalArgumentException(request + " is not enabled");
        }
        remove(found);
        return found.size();
    }

    private void remove(List<MetricRequest> requests) throws IOException {
        probes.snippets().together(() -> {
            for (MetricRequest request : requests) {
                Enabled gone = Objects.requireNonNull(enabled.remove(request));
                gone.records.forEach(probes.metrics()::remove);
                gone.metric.stop();
                objects.release(gone.kinds);
            }
        });
    }

    /// Disables metrics that start at the entry of `main`, which was not seen; returns them.
    public List<MetricRequest> disableFromMain() throws IOException {
        List<MetricRequest> late = enabled.entrySet().stream()
                .filter(one ->
                        view().evaluator.countsFromMain(one.getValue().metric.instance()))
                .map(Map.Entry::getKey)
                .toList();
        remove(late);
        return late;
    }

    /// The current resources, each after its parent.
    ///
    /// @throws IllegalStateException when the agent's probes are switched off permanently
    /// @throws IOException when code memory is refused
    public List<Resource> resources() throws IOException {
        growing.observe(this::enableAppeared);
        return view().program
                .resources()
                .filter(resource -> !resource.isNumberedFile())
                .toList();
    }

    /// The snippets of all enabled metrics; a shared flag's snippets occur for each metric that tests it.
    public List<PlacedSnippet> points() {
        List<PlacedSnippet> points = new ArrayList<>();
        enabled.forEach((request, each) ->
                each.metric.snippets().forEach(snippet -> points.add(new PlacedSnippet(request, snippet))));
        return points;
    }
}
