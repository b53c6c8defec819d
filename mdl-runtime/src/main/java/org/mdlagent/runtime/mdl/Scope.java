package org.mdlagent.runtime.mdl;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.WhereType.Kind;
import org.mdlagent.runtime.mdl.syntax.ValueKind;

/// The names visible in a definition.
///
/// @param variables of statements
/// @param values    counters and timers that code may use
/// @param selection of a constraint's `$constraint[n]`, null outside of constraints
record Scope(
        Map<String, WhereType> variables,
        Map<String, ValueKind> values,
        @Nullable Selection selection) {
    /// Names in every scope.
    private static final Map<String, WhereType> PREDEFINED = Map.of(
            "$procedures", WhereType.listOf(Kind.PROCEDURE),
            "$modules", WhereType.listOf(Kind.MODULE),
            "$start", WhereType.PROCEDURE,
            "$exit", WhereType.PROCEDURE,
            "$globalId", WhereType.NUMBER);

    /// The scope outside of metrics and constraints.
    static Scope of(Map<String, WhereType> lists) {
        Map<String, WhereType> variables = new LinkedHashMap<>(PREDEFINED);
        variables.putAll(lists);
        return new Scope(variables, Map.of(), null);
    }

    Scope withVariable(String name, WhereType type) {
        Map<String, WhereType> more = new LinkedHashMap<>(variables);
        more.put(name, type);
        return new Scope(more, values, selection);
    }

    Scope withValue(String name, ValueKind kind) {
        Map<String, ValueKind> more = new LinkedHashMap<>(values);
        more.put(name, kind);
        return new Scope(variables, more, selection);
    }

    Scope inside(Selection constraint) {
        return new Scope(variables, values, constraint);
    }

    /// All names, for spelling hints.
    Set<String> names() {
        Set<String> names = new HashSet<>(variables.keySet());
        names.addAll(values.keySet());
        return names;
    }
}
