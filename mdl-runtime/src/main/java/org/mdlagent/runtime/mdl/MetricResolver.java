package org.mdlagent.runtime.mdl;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.syntax.Definition;
import org.mdlagent.runtime.mdl.syntax.Diagnostics;
import org.mdlagent.runtime.mdl.syntax.MetricField;
import org.mdlagent.runtime.mdl.syntax.Name;
import org.mdlagent.runtime.mdl.syntax.Spelling;
import org.mdlagent.runtime.mdl.syntax.ValueKind;

/// Checks the fields of one metric.
final class MetricResolver {
    private static final Map<String, List<String>> CHOICES = Map.of(
            "unitsType", words(Metric.UnitsType.values(), Metric.UnitsType::word),
            "aggregateOperator", words(Metric.Aggregate.values(), Metric.Aggregate::word),
            "style", words(Metric.Style.values(), Metric.Style::word),
            "mode", List.of("normal", "developer"));

    private final Definition.Metric metric;
    private final Diagnostics diagnostics;
    private final StatementChecker statements;
    private final Map<String, Name> settings = new HashMap<>();
    private final List<Constraint> constraints = new ArrayList<>();
    private final List<String> counters = new ArrayList<>();
    private final List<Name> flavors = new ArrayList<>();
    private MetricField.@Nullable Base base;

    MetricResolver(Definition.Metric metric, Diagnostics diagnostics, StatementChecker statements) {
        this.metric = metric;
        this.diagnostics = diagnostics;
        this.statements = statements;
    }

    /// The metric; null if a field is missing. Errors are reported.
    ///
    /// @param named    finds a constraint by its name
    /// @param resolved checks a constraint that is defined in the metric
    @Nullable
    Metric resolve(
            Scope outer,
            Function<Name, @Nullable Constraint> named,
            BiFunction<Definition.Constraint, Scope, Constraint> resolved) {
        metric.fields().forEach(this::collect);
        boolean complete = complete();
        String id = metric.name().text();
        Scope scope = outer;
        for (String counter : counters) {
            scope = scope.withValue(counter, ValueKind.COUNTER);
        }
        for (MetricField field : metric.fields()) {
            switch (field) {
                case MetricField.Constrainable constrainable -> {
                    Constraint constraint = named.apply(constrainable.constraint());
                    if (constraint != null) {
                        constraints.add(constraint);
                    }
                }
                case MetricField.Replacement replacement ->
                    constraints.add(
                            resolved.apply(replacement.constraint(), replacing(scope, replacement.constraint())));
                default -> {}
            }
        }
        MetricField.Base found = base;
        if (found != null) {
            statements.check(found.statements(), scope.withValue(id, found.kind()));
        }
        return complete && found != null ? metric(id, found) : null;
    }

    /// A replacement's value has the metric's name and its own.
    private Scope replacing(Scope scope, Definition.Constraint constraint) {
        ValueKind kind = constraint.kind();
        return kind == null
                ? scope
                : scope.withValue(metric.name().text(), kind)
                        .withValue(constraint.name().text(), kind);
    }

    private void collect(MetricField field) {
        switch (field) {
            case MetricField.Setting setting -> {
                String name = setting.field().text();
                if (settings.putIfAbsent(name, setting.value()) != null) {
                    twice(field, name);
                }
                checkChoice(name, setting.value());
            }
            case MetricField.Flavors more -> {
                if (!flavors.isEmpty()) {
                    twice(field, "flavor");
                }
                checkFlavors(more.flavors(), diagnostics);
                flavors.addAll(more.flavors());
            }
            case MetricField.Temporary temporary -> {
                String name = temporary.counter().text();
                if (counters.contains(name) || name.equals(metric.name().text())) {
                    diagnostics.error(temporary.counter().at(), "'" + name + "' is a value of this metric already");
                }
                counters.add(name);
            }
            case MetricField.Base only -> {
                if (base != null) {
                    twice(field, "base");
                }
                base = only;
            }
            case MetricField.Constrainable constrainable -> {}
            case MetricField.Replacement replacement -> {}
        }
    }

    /// A metric or list of another system loads, but applies to no program.
    static void checkFlavors(List<Name> flavors, Diagnostics diagnostics) {
        for (Name flavor : flavors) {
            if (Flavor.of(flavor.text()).isEmpty()) {
                diagnostics.ignored(flavor.at(), "no program here is of flavor " + flavor);
            }
        }
    }

    private void checkChoice(String field, Name value) {
        List<String> words = CHOICES.get(field);
        if (words != null && !words.contains(value.text())) {
            diagnostics.error(
                    value.at(),
                    "expected " + String.join(", ", words) + " for " + field + ", found '" + value + "'",
                    Spelling.hint(value.text(), words));
        }
    }

    private static <T> List<String> words(T[] choices, Function<T, String> word) {
        return Arrays.stream(choices).map(word).toList();
    }

    private void twice(MetricField field, String name) {
        diagnostics.error(field.at(), "metric " + metric.name() + " has its " + name + " already");
    }

    private boolean complete() {
        List<String> missing = new ArrayList<>();
        for (String field : List.of("name", "units", "aggregateOperator")) {
            if (!settings.containsKey(field)) {
                missing.add(field);
            }
        }
        if (base == null) {
            missing.add("base");
        }
        for (String field : missing) {
            diagnostics.error(metric.name().at(), "metric " + metric.name() + " has no " + field);
        }
        return missing.isEmpty();
    }

    private Metric metric(String id, MetricField.Base found) {
        Metric.Style style = choice("style", Metric.Style.values(), Metric.Style::word, Metric.Style.EVENT_COUNTER);
        return new Metric(
                id,
                text("name"),
                text("units"),
                unitsType(style),
                choice("aggregateOperator", Metric.Aggregate.values(), Metric.Aggregate::word, Metric.Aggregate.SUM),
                style,
                flavors.stream().map(Name::text).toList(),
                text("mode").equals("developer"),
                List.copyOf(constraints),
                List.copyOf(counters),
                found.kind(),
                found.event(),
                found.statements());
    }

    /// Units such as `opsPerSecond` denote a rate.
    private static Metric.UnitsType ofUnits(String units) {
        return units.endsWith("PerSecond") || units.endsWith("/s")
                ? Metric.UnitsType.NORMALIZED
                : Metric.UnitsType.UNNORMALIZED;
    }

    /// Sampled values are instantaneous: they have no rate.
    private Metric.UnitsType unitsType(Metric.Style style) {
        boolean sampled = style == Metric.Style.SAMPLED_FUNCTION;
        Metric.UnitsType type = choice(
                "unitsType",
                Metric.UnitsType.values(),
                Metric.UnitsType::word,
                sampled ? Metric.UnitsType.SAMPLED : ofUnits(text("units")));
        if (sampled && type == Metric.UnitsType.NORMALIZED) {
            diagnostics.ignored(
                    metric.name().at(), "metric " + metric.name() + " is a SampledFunction, it is not shown as a rate");
            return Metric.UnitsType.SAMPLED;
        }
        return type;
    }

    private String text(String field) {
        Name value = settings.get(field);
        return value == null ? "" : value.text();
    }

    /// The choice that a field names. Invalid ones have been reported.
    private <T> T choice(String field, T[] choices, Function<T, String> word, T otherwise) {
        return Arrays.stream(choices)
                .filter(choice -> word.apply(choice).equals(text(field)))
                .findFirst()
                .orElse(otherwise);
    }
}
