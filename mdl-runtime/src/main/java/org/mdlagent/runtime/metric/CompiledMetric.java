package org.mdlagent.runtime.metric;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.runtime.mdl.request.Answer;
import org.mdlagent.runtime.mdl.request.SnippetRequest;
import org.mdlagent.runtime.mdl.request.Value;

/// The snippets of a metric as they would be if nothing else were measured. Nothing is attached.
///
/// @param values    names by index, counted from the first that snippets may have
/// @param snippets  in the order in which they would be attached
/// @param obstacles what cannot be instrumented
public record CompiledMetric(Map<Integer, String> values, List<Placed> snippets, List<Answer.Obstacle> obstacles) {

    /// A snippet and where it goes.
    public record Placed(SnippetRequest request, Snippet snippet) {}

    public static CompiledMetric of(Answer.Instance instance) {
        Indices indices = new Indices();
        instance.flags().forEach(flag -> indices.of(flag.value()));
        Lowering lowering = new Lowering(indices::of, indices::errors, flag -> Optional.empty());
        List<Placed> snippets = new ArrayList<>();
        List<Answer.Obstacle> obstacles = new ArrayList<>(instance.obstacles());
        for (SnippetRequest request : instance.snippets()) {
            try {
                snippets.add(new Placed(request, lowering.lower(request)));
            } catch (Lowering.UnsupportedException e) {
                obstacles.add(new Answer.Obstacle(request.point().description(), String.valueOf(e.getMessage())));
            }
        }
        return new CompiledMetric(indices.names, List.copyOf(snippets), List.copyOf(obstacles));
    }

    /// Gives each value the next index.
    private static final class Indices {
        private final Map<Value, Integer> known = new LinkedHashMap<>();
        private final Map<Integer, String> names = new TreeMap<>();
        private int next = ValueDescriptor.FIRST;
        private int errors;

        int of(Value value) {
            return known.computeIfAbsent(
                    value, key -> take(key.name(), key.kind().isTimer() ? ValueDescriptor.TIMER_SIZE : 1));
        }

        int errors() {
            if (errors == 0) {
                errors = take("errors", 1);
            }
            return errors;
        }

        private int take(String name, int count) {
            int index = next;
            names.put(index, name);
            next += count;
            return index;
        }
    }
}
