package org.mdlagent.runtime.mdl.request;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.Constraint;
import org.mdlagent.runtime.mdl.Definitions;
import org.mdlagent.runtime.mdl.Hierarchies;
import org.mdlagent.runtime.mdl.Metric;
import org.mdlagent.runtime.mdl.syntax.Statement;
import org.mdlagent.runtime.mdl.syntax.ValueKind;

/// Evaluates requests against a program: executes the statements of a metric and of the constraints for its focus.
public final class Evaluator {
    private final Program program;
    private final ProgramIndex index;
    private final Flavors flavors;
    private final WhereEvaluator where;

    /// @param program must not change while this is used
    public Evaluator(Definitions definitions, Program program) {
        this.program = program;
        this.index = new ProgramIndex(program, definitions.excludes());
        this.flavors = new Flavors(program, index);
        this.where = new WhereEvaluator(program, index, flavors, definitions.lists());
    }

    /// A constraint of a request, and the resource that it selects.
    private record Applied(Constraint constraint, Resource resource, List<WhereValue> selected) {
        Value flag() {
            return new Value(constraint.name(), ValueKind.COUNTER, resource.toString());
        }
    }

    /// Evaluates a request.
    ///
    /// @param id unique number of the request: `$globalId`
    public Answer evaluate(Metric metric, Focus focus, int id) {
        try {
            flavors.require(metric);
            List<Applied> applied = new ArrayList<>();
            for (Resource resource : focus.resources()) {
                applied.add(apply(metric, numbered(resource)));
            }
            Answer answer = evaluate(metric, focus, id, applied);
            if (program.hasBegun() && answer instanceof Answer.Instance instance && countsFromMain(instance)) {
                return new Answer.Refused(metric.id() + " starts with main, and main runs already: use"
                        + " mdl run --metric, or another function");
            }
            return answer;
        } catch (Unresolvable e) {
            return new Answer.Refused(String.valueOf(e.getMessage()));
        }
    }

    /// Whether it starts at the entry of `main`, or depends on a flag that only this entry sets.
    public boolean countsFromMain(Answer.Instance instance) {
        Procedure start = program.start();
        return start != null
                && (isOfEntry(instance.base(), start)
                        || instance.flags().stream().anyMatch(flag -> isOfEntry(flag.snippets(), start)));
    }

    /// Whether everything that the snippets do starts at the entry of a function.
    private static boolean isOfEntry(List<SnippetRequest> snippets, Procedure function) {
        Point entry = new Point.Entry(function);
        List<Point> points = snippets.stream().map(SnippetRequest::point).toList();
        return points.contains(entry)
                && Set.of(entry, new Point.Return(function)).containsAll(points);
    }

    /// Snippets that discover objects for a metric's constraints, by kind, such as `/SyncObject/Mutex`: they note
    /// the argument that the constraint compares with the object. Files are discovered differently, if a focus
    /// selects some.
    public Map<Resource, List<SnippetRequest>> discoveries(Metric metric, Focus focus) {
        Map<Resource, List<SnippetRequest>> discoveries = new LinkedHashMap<>();
        boolean ofFiles =
                focus.resources().stream().anyMatch(one -> one.hierarchy().equals(Hierarchies.FILES));
        for (Constraint constraint : metric.constraints()) {
            boolean isOfFiles = constraint.definition().path().getFirst().text().equals(Hierarchies.FILES);
            if (constraint.ofObjects() && isOfFiles && ofFiles) {
                discoveries.put(ObjectDiscovery.kind(constraint), List.of());
            } else if (constraint.ofObjects() && !isOfFiles) {
                SnippetCollector collector = new SnippetCollector(program, where);
                try {
                    discoveries.put(ObjectDiscovery.kind(constraint), ObjectDiscovery.of(constraint, collector));
                } catch (Unresolvable e) {
                    // No object is discovered.
                }
            }
        }
        return discoveries;
    }

    /// Identify a file by its number, which it has before its name.
    private Resource numbered(Resource resource) throws Unresolvable {
        if (!resource.isNamedFile()) {
            return resource;
        }
        long number = program.file(resource);
        if (number == 0) {
            throw new Unresolvable(
                    resource.toString(), "this is not a file's name, or the table of names is full; see docs/mdl.md");
        }
        return Resource.ofFile(number);
    }

    /// The constraint of a metric that can select a resource.
    private Applied apply(Metric metric, Resource resource) throws Unresolvable {
        Constraint constraint = metric.constraints().stream()
                .filter(candidate -> candidate.serves(resource.components()))
                .min(Comparator.comparing(Constraint::isDefault).thenComparingInt(Constraint::depth))
                .orElseThrow(() ->
                        new Unresolvable(resource.toString(), "metric " + metric.id() + " has no constraint for it"));
        return new Applied(constraint, resource, selected(constraint, resource));
    }

    /// Values of `$constraint[0]`, `[1]`, ...
    private List<WhereValue> selected(Constraint constraint, Resource resource) throws Unresolvable {
        List<WhereValue> selected = new ArrayList<>();
        int last = resource.components().size() - 1;
        int span = resource.hierarchy().equals(Hierarchies.CODE) ? constraint.span() : last;
        for (int level = span; level > 0 && !constraint.isDefault(); level--) {
            selected.add(component(resource, Math.min(level, last)));
        }
        return selected;
    }

    private WhereValue component(Resource resource, int level) throws Unresolvable {
        List<String> components = resource.components();
        String name = components.get(level);
        if (resource.hierarchy().equals(Hierarchies.SYNC_OBJECTS)) {
            return object(name);
        }
        if (resource.isNumberedFile()) {
            return new WhereValue.Whole(resource.fileNumber());
        }
        if (!resource.hierarchy().equals(Hierarchies.CODE)) {
            return number(name);
        }
        return level == 1
                ? new WhereValue.OfModule(index.module(name))
                : new WhereValue.OfProcedure(index.copies(components.get(1), name));
    }

    /// A number, or the address of the variable with that name.
    private WhereValue object(String name) {
        WhereValue number = number(name);
        Symbol variable = number instanceof WhereValue.Whole ? null : program.symbol(name);
        return variable == null ? number : new WhereValue.Whole(variable.address());
    }

    /// A decimal number or, with `0x`, a hexadecimal one; other names remain text.
    private static WhereValue number(String name) {
        try {
            return new WhereValue.Whole(Long.decode(name));
        } catch (NumberFormatException e) {
            return new WhereValue.Text(name);
        }
    }

    private Answer evaluate(Metric metric, Focus focus, int id, List<Applied> applied) throws Unresolvable {
        List<Applied> flags = applied.stream()
                .filter(a -> !a.constraint.isDefault() && !a.constraint.replaces())
                .toList();
        Applied replacement = replacement(metric, applied);
        ValueKind kind = replacement == null ? metric.kind() : kind(replacement);
        if (kind.hasEvent() && !flags.isEmpty()) {
            throw new Unresolvable(focus.toString(), "the kernel counts " + metric.event() + " for whole threads");
        }
        String owner = metric.id() + "@"
                + new Focus(applied.stream().map(Applied::resource).toList());
        Value value = new Value(metric.id(), kind, owner);

        SnippetCollector collector = new SnippetCollector(program, where);
        Environment outer = new Environment(Map.of(), Map.of(), List.of(), id);
        List<Answer.Flag> answered = new ArrayList<>();
        for (Applied flag : flags) {
            List<Value> others = flags.stream()
                    .filter(other -> !other.equals(flag))
                    .map(Applied::flag)
                    .toList();
            Answer.Choice choice = choice(flag);
            if (choice != null) {
                answered.add(new Answer.Flag(flag.flag(), ArgumentVector.snippets(flag.constraint, collector), choice));
                continue;
            }
            collector.execute(
                    flag.constraint.definition().statements(),
                    outer.selecting(flag.selected).withValue(flag.constraint.name(), flag.flag()),
                    others);
            int before = collector.obstacles().size();
            List<SnippetRequest> own = collector.take();
            if (own.isEmpty() && collector.obstacles().size() > before) {
                throw new Unresolvable(focus.toString(), nothing(collector.obstacles()));
            }
            answered.add(new Answer.Flag(flag.flag(), own, null));
        }
        Map<String, Value> values = new LinkedHashMap<>();
        metric.counters().forEach(name -> values.put(name, new Value(name, ValueKind.COUNTER, owner)));
        values.put(metric.id(), value);
        List<Statement> base = metric.base();
        List<WhereValue> selected = List.of();
        if (replacement != null) {
            values.put(replacement.constraint.name(), value);
            base = replacement.constraint.definition().statements();
            selected = replacement.selected;
        }
        collector.execute(
                base,
                new Environment(Map.of(), values, selected, id),
                flags.stream().map(Applied::flag).toList());
        List<SnippetRequest> own = collector.take();
        if (own.isEmpty() && !kind.hasEvent()) {
            throw new Unresolvable("metric " + metric.id(), nothing(collector.obstacles()));
        }
        return new Answer.Instance(
                metric,
                focus,
                value,
                answered,
                own,
                collector.obstacles(),
                applied.stream()
                        .filter(a -> a.constraint.isDefault())
                        .map(Applied::resource)
                        .toList());
    }

    /// The object of a vector that a request selects; null without a vector.
    private static Answer.@Nullable Choice choice(Applied flag) {
        if (!flag.constraint.isVector() || flag.selected.isEmpty()) {
            return null;
        }
        Value selector = ArgumentVector.selector(flag.constraint);
        boolean direct = flag.constraint.isDirect();
        return switch (flag.selected.getFirst()) {
            case WhereValue.Whole(long object) -> new Answer.Choice(selector, direct, object);
            case WhereValue.Text(String name)
            when name.equals(ArgumentVector.OTHERS) -> new Answer.Choice(selector, direct, null);
            default -> null;
        };
    }

    private static @Nullable Applied replacement(Metric metric, List<Applied> applied) throws Unresolvable {
        List<Applied> replacements =
                applied.stream().filter(a -> a.constraint.replaces()).toList();
        if (replacements.size() > 1) {
            throw new Unresolvable("metric " + metric.id(), "only one constraint can replace its base");
        }
        return replacements.isEmpty() ? null : replacements.getFirst();
    }

    private static ValueKind kind(Applied replacement) {
        ValueKind kind = replacement.constraint.definition().kind();
        return kind == null ? ValueKind.VOID : kind;
    }

    private static String nothing(List<Answer.Obstacle> obstacles) {
        return obstacles.isEmpty()
                ? "the program has none of the functions that it measures, and calls none in its libraries"
                : obstacles.stream().map(Answer.Obstacle::toString).collect(Collectors.joining("; "));
    }
}
