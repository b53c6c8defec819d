package org.mdlagent.runtime.metric;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.runtime.mdl.request.Answer;
import org.mdlagent.runtime.mdl.request.ArgumentVector;
import org.mdlagent.runtime.mdl.request.SnippetRequest;
import org.mdlagent.runtime.mdl.request.Value;

/// The snippets of a metric, compiled as the only metric. Nothing is attached.
///
/// @param values    names by index, counted from the first value available to snippets
/// @param texts     string arguments of called functions, with assumed addresses
/// @param snippets  in the order of attachment
/// @param obstacles parts that cannot be instrumented
public record CompiledMetric(
        Map<Integer, String> values, Map<String, Long> texts, List<Placed> snippets, List<Answer.Obstacle> obstacles) {
    private static final long FIRST_TEXT = 0x20000000;

    /// Assumed address of a vector's table.
    private static final long TABLE = 0x10000000;

    /// Assumed address of the table of descriptors.
    private static final long DESCRIPTORS = TABLE + Long.BYTES;

    /// A snippet and its point.
    public record Placed(SnippetRequest request, Snippet snippet) {}

    public static CompiledMetric of(Answer.Instance instance) {
        ExampleStorage storage = new ExampleStorage();
        for (Answer.Flag flag : instance.flags()) {
            if (flag.choice() == null) {
                int unused = storage.index(flag.value());
            } else {
                storage.choose(flag, flag.choice());
            }
        }
        Lowering lowering = new Lowering(storage);
        List<Placed> snippets = new ArrayList<>();
        List<Answer.Obstacle> obstacles = new ArrayList<>(instance.obstacles());
        for (SnippetRequest request : instance.snippets()) {
            try {
                snippets.add(new Placed(request, lowering.lower(request)));
            } catch (Lowering.UnsupportedException e) {
                obstacles.add(new Answer.Obstacle(request.point().description(), String.valueOf(e.getMessage())));
            }
        }
        return new CompiledMetric(storage.names, storage.texts, List.copyOf(snippets), List.copyOf(obstacles));
    }

    /// Assigns indices to values and places to texts in order.
    private static final class ExampleStorage implements Lowering.Storage {
        private final Map<Value, Integer> known = new LinkedHashMap<>();
        private final Map<Value, Integer> selected = new HashMap<>();
        private final Set<Value> direct = new HashSet<>();
        private final Map<Integer, String> names = new TreeMap<>();
        private final Map<String, Long> texts = new LinkedHashMap<>();
        private int next = ValueDescriptor.FIRST;
        private long nextText = FIRST_TEXT;
        private int errors;

        @Override
        public int index(Value value) {
            return known.computeIfAbsent(
                    value, key -> take(key.name(), key.kind().isTimer() ? ValueDescriptor.TIMER_SIZE : 1));
        }

        @Override
        public Optional<Expression.Member> member(Value flag) {
            return Optional.empty();
        }

        /// Assumes that this object is the only one.
        @Override
        public OptionalInt selected(Value flag) {
            Integer number = selected.get(flag);
            return number == null ? OptionalInt.empty() : OptionalInt.of(number);
        }

        @Override
        public Expression.Position position(Value selector, Expression number) {
            return new Expression.Position(number, TABLE, direct.contains(selector));
        }

        @Override
        public long descriptors() {
            return DESCRIPTORS;
        }

        /// @param flag of a vector
        void choose(Answer.Flag flag, Answer.Choice choice) {
            known.put(flag.value(), index(choice.selector()));
            selected.put(flag.value(), choice.object() == null ? ArgumentVector.OTHER : ArgumentVector.OTHER + 1);
            if (choice.direct()) {
                direct.add(choice.selector());
            }
        }

        @Override
        public int errors() {
            if (errors == 0) {
                errors = take("errors", 1);
            }
            return errors;
        }

        @Override
        public long text(String text) {
            return texts.computeIfAbsent(text, key -> {
                long at = nextText;
                nextText += key.length() + 1;
                return at;
            });
        }

        private int take(String name, int count) {
            int index = next;
            names.put(index, name);
            next += count;
            return index;
        }
    }
}
