package org.mdlagent.runtime.mdl.request;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.Metric;

/// The result of a request.
public sealed interface Answer {
    /// A metric for a focus, with everything it needs.
    ///
    /// @param value     the value to read
    /// @param flags     flags of its constraints, whose snippets come first
    /// @param base      its own snippets, in insertion order
    /// @param obstacles parts that cannot be instrumented; the rest can
    /// @param scopes    resources that select values to read without code, such as `/Thread/1234`
    record Instance(
            Metric metric,
            Focus focus,
            Value value,
            List<Flag> flags,
            List<SnippetRequest> base,
            List<Obstacle> obstacles,
            List<Resource> scopes)
            implements Answer {
        /// All snippets, in insertion order.
        public List<SnippetRequest> snippets() {
            return Stream.concat(flags.stream().flatMap(flag -> flag.snippets.stream()), base.stream())
                    .toList();
        }
    }

    /// A constraint for a resource. Requests share equal ones.
    ///
    /// @param snippets snippets that set and clear it
    /// @param choice   object of a vector; null for a separate flag
    record Flag(
            Value value,
            List<SnippetRequest> snippets,
            @Nullable Choice choice) {}

    /// One object of a vector.
    ///
    /// @param selector the value that represents the flags of all objects
    /// @param direct   whether numbers are indices
    /// @param object   the number of the object; null: all objects that no request selects
    record Choice(Value selector, boolean direct, @Nullable Long object) {}

    /// The request cannot be fulfilled.
    record Refused(String reason) implements Answer {}

    /// @param what   a point or a name
    /// @param reason why it cannot be instrumented
    record Obstacle(String what, String reason) {
        @Override
        public String toString() {
            return what + ": " + reason;
        }
    }
}
