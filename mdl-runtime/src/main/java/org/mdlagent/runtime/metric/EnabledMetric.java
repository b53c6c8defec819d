package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.KernelEvent;
import org.mdlagent.arch.layout.MetricDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.shim.Descriptors;
import org.mdlagent.arch.shim.EventCounter;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Expression.Member;
import org.mdlagent.arch.snippet.Statement.Clock;
import org.mdlagent.fastinst.snippet.MetricTable;
import org.mdlagent.fastinst.snippet.Snippets;
import org.mdlagent.fastinst.snippet.Values;
import org.mdlagent.runtime.mdl.Metric;
import org.mdlagent.runtime.mdl.request.Answer;
import org.mdlagent.runtime.mdl.request.Procedure;
import org.mdlagent.runtime.mdl.request.Resource;
import org.mdlagent.runtime.mdl.request.SnippetRequest;
import org.mdlagent.runtime.mdl.request.Value;
import org.mdlagent.runtime.mdl.syntax.ValueKind;

/// An enabled metric for a focus: its snippets and their values, or its kernel counter.
final class EnabledMetric implements Lowering.StorageOfMany {
    private Answer.Instance instance;
    private final Values values;
    private final Descriptors descriptors;
    private final Flags flags;
    private final ToLongFunction<String> texts;
    private final SnippetGroup base;
    private final List<Flags.Shared> tested = new ArrayList<>();
    private final Map<Value, Integer> indices = new HashMap<>();
    private final Map<Value, Member> members = new HashMap<>();
    private final Map<Value, Vectors.Vector> vectors = new HashMap<>();
    private final Map<Value, Integer> selected = new HashMap<>();

    /// Values of this metric only.
    private final List<Integer> own = new ArrayList<>();

    private final int objects;
    private final Lowering lowering;
    private final Lowering ofFlags = new Lowering(this);

    /// Index of the error counter, 0 if errors are impossible.
    private int errors;

    /// The kernel counter, or null if code counts.
    private @Nullable EventCounter events;

    /// @param objects number of objects of its vector, the first of which the instance selects; 1 without a vector
    /// @param texts   address of a text: [org.mdlagent.fastinst.Probes#text]
    EnabledMetric(Answer.Instance instance, int objects, Snippets snippets, Flags flags, ToLongFunction<String> texts) {
        this.instance = instance;
        this.objects = objects;
        lowering = objects == 1 ? new Lowering(this) : new Lowering.OfMany(this);
        this.texts = texts;
        this.values = snippets.values();
        this.descriptors = snippets.descriptors();
        this.flags = flags;
        base = new SnippetGroup(snippets);
    }

    /// Attaches its snippets, or starts the kernel counter.
    ///
    /// @param places places for metrics enabled together with it
    /// @throws IllegalArgumentException if none of its own can be attached, or the kernel refuses, with the
    ///     reasons
    void start(ProbedProgram program, SideBySide places) throws IOException {
        for (Answer.Flag flag : instance.flags()) {
            Flags.Shared shared = flags.retain(flag, places);
            tested.add(shared);
            indices.put(flag.value(), shared.index());
            shared.member().ifPresent(member -> members.put(flag.value(), member));
            Answer.Choice choice = flag.choice();
            if (choice != null && shared.vector() != null) {
                indices.put(choice.selector(), shared.index());
                vectors.put(choice.selector(), shared.vector());
                shared.selected().ifPresent(selected -> this.selected.put(flag.value(), selected));
            }
        }
        if (objects > 1) {
            startMany(places);
        }
        places.of(instance).forEach((value, index) -> {
            values.retain(index);
            own.add(index);
            indices.put(value, index);
        });
        for (Flags.Shared shared : tested) {
            shared.attach(program, ofFlags);
        }
        base.attach(instance.base(), program, lowering);
        if (instance.value().kind().hasEvent()) {
            events = countEvents(program);
        } else if (base.inPlace().isEmpty()) {
            throw new IllegalArgumentException(String.join(
                    "; ", obstacles().stream().map(Answer.Obstacle::toString).toList()));
        }
    }

    /// Allocates the values of all objects, and enables the lookup of objects after the first.
    private void startMany(SideBySide places) {
        Answer.Flag flag = instance.flags().getFirst();
        Answer.Choice choice = Objects.requireNonNull(flag.choice());
        long object = Objects.requireNonNull(choice.object());
        ValueKind kind = instance.value().kind();
        if (!instance.metric().counters().isEmpty() || kind.hasEvent()) {
            throw new IllegalArgumentException("metric " + instance.metric().id()
                    + " has more than one counter or timer for each file: ask for files by their names");
        }
        int first = SideBySide.allocate(values, kind, objects);
        if (first == 0) {
            throw new IllegalStateException("there is no room for the values of " + objects + " files");
        }
        indices.put(instance.value(), first);
        for (int i = 0; i < objects; i++) {
            own.add(first + i * stride());
            if (i > 0) {
                Value value = new Value(
                        flag.value().name(),
                        ValueKind.COUNTER,
                        Resource.ofFile(object + i).toString());
                Answer.Choice other = new Answer.Choice(choice.selector(), choice.direct(), object + i);
                tested.add(flags.retain(new Answer.Flag(value, flag.snippets(), other), places));
            }
        }
    }

    /// Number of its objects.
    int objects() {
        return objects;
    }

    @Override
    public int selector() {
        return tested.getFirst().index();
    }

    @Override
    public int first() {
        return value();
    }

    @Override
    public int stride() {
        return instance.value().kind().isTimer() ? ValueDescriptor.TIMER_SIZE : 1;
    }

    @Override
    public List<Integer> numbers() {
        return tested.stream().map(shared -> shared.selected().orElseThrow()).toList();
    }

    private EventCounter countEvents(ProbedProgram program) {
        Metric metric = instance.metric();
        if (instance.value().kind() == ValueKind.HARDWARE_TIMER) {
            throw new IllegalArgumentException(
                    "metric " + metric.id() + ": kernel timers are not supported; a processTimer measures CPU time");
        }
        if (metric.aggregate() != Metric.Aggregate.SUM) {
            throw new IllegalArgumentException(
                    "metric " + metric.id() + ": kernel events have aggregateOperator sum only");
        }
        ThreadChoice scope = ThreadChoice.of(instance.scopes());
        return program.count(KernelEvent.of(metric.event()), scope.pid(), scope.tid());
    }

    /// Attaches missing snippets after the program has grown.
    ///
    /// @param now the current answer to the same request
    void follow(Answer.Instance now, ProbedProgram program) throws IOException {
        instance = now;
        for (int i = 0; i < now.flags().size(); i++) {
            flags.follow(tested.get(i), now.flags().get(i), program, ofFlags);
        }
        base.attach(now.base(), program, lowering);
    }

    /// Reverts [#start], even if it was incomplete.
    void stop() throws IOException {
        base.detach();
        for (Flags.Shared shared : tested) {
            flags.release(shared);
        }
        own.forEach(values::release);
        if (events != null) {
            events.close();
        }
    }

    @Override
    public int index(Value value) {
        return indices.computeIfAbsent(value, this::allocate);
    }

    @Override
    public Optional<Member> member(Value flag) {
        return Optional.ofNullable(members.get(flag));
    }

    @Override
    public OptionalInt selected(Value flag) {
        Integer number = selected.get(flag);
        return number == null ? OptionalInt.empty() : OptionalInt.of(number);
    }

    @Override
    public Expression.Position position(Value selector, Expression number) {
        return Objects.requireNonNull(vectors.get(selector)).position(number);
    }

    private int allocate(Value value) {
        int index = switch (value.kind()) {
            case WALL_TIMER -> values.timer(Clock.WALL);
            case PROCESS_TIMER -> values.timer(Clock.THREAD_CPU);
            default -> values.counter();
        };
        own.add(index);
        return index;
    }

    @Override
    public int errors() {
        if (errors == 0) {
            errors = values.counter();
            own.add(errors);
        }
        return errors;
    }

    @Override
    public long descriptors() {
        return descriptors.table();
    }

    @Override
    public long text(String text) {
        return texts.applyAsLong(text);
    }

    Answer.Instance instance() {
        return instance;
    }

    /// Index of the value to read, 0 if no code writes it.
    private int value() {
        return indices.getOrDefault(instance.value(), 0);
    }

    /// The metric's record for readers.
    ///
    /// @param object counted from 0
    MetricTable.Row row(int object) {
        Metric metric = instance.metric();
        ThreadChoice scope = ThreadChoice.of(instance.scopes());
        return new MetricTable.Row(
                metric.id(),
                metric.name(),
                metric.units(),
                instance.focus().resources().stream().map(Resource::toString).collect(Collectors.joining("\n")),
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
                value() == 0 ? 0 : value() + object * stride(),
                errors,
                scope.pid(),
                scope.tid(),
                events);
    }

    /// Attached snippets, including those of shared flags, in the order of the request.
    List<SnippetRequest> snippets() {
        Set<SnippetRequest> inPlace = new HashSet<>();
        groups().forEach(group -> inPlace.addAll(group.inPlace()));
        return instance.snippets().stream().filter(inPlace::contains).toList();
    }

    Set<Answer.Obstacle> obstacles() {
        Set<Answer.Obstacle> obstacles = new LinkedHashSet<>(instance.obstacles());
        groups().forEach(group -> obstacles.addAll(group.obstacles()));
        return obstacles;
    }

    /// The metric's obstacles, and callers that none of its snippets see.
    Set<Answer.Obstacle> obstacles(ProbedProgram program) {
        Set<Answer.Obstacle> obstacles = obstacles();
        for (SnippetRequest snippet : snippets()) {
            Procedure called = snippet.point().procedure();
            String hidden = program.hiddenCallers(called);
            if (!hidden.isEmpty()) {
                obstacles.add(new Answer.Obstacle(
                        "calls of " + called.name() + " in " + hidden, "calls through a pointer are not seen"));
            }
        }
        return obstacles;
    }

    private Stream<SnippetGroup> groups() {
        return Stream.concat(tested.stream().map(Flags.Shared::group), Stream.of(base));
    }
}
