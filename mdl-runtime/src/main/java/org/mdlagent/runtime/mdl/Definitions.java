package org.mdlagent.runtime.mdl;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.mdlagent.runtime.mdl.syntax.Definition;

/// Definitions of files, by name, in their order.
public record Definitions(
        Map<String, Definition.Items> lists,
        Map<String, Constraint> constraints,
        Map<String, Metric> metrics,
        List<Definition.Exclude> excludes) {
    public static final Definitions NONE = new Definitions(Map.of(), Map.of(), Map.of(), List.of());

    /// These definitions, overridden by others of the same name.
    public Definitions with(Definitions others) {
        List<Definition.Exclude> all = new ArrayList<>(excludes);
        all.addAll(others.excludes);
        return new Definitions(
                union(lists, others.lists),
                union(constraints, others.constraints),
                union(metrics, others.metrics),
                List.copyOf(all));
    }

    private static <T> Map<String, T> union(Map<String, T> first, Map<String, T> second) {
        Map<String, T> union = new LinkedHashMap<>(first);
        union.putAll(second);
        return Collections.unmodifiableMap(union);
    }
}
