package org.mdlagent.runtime.mdl.request;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.Metric;

/// What becomes of a request.
public sealed interface Answer {
    /// A metric for a focus, and all that it needs.
    ///
    /// @param value     what is read
    /// @param flags     of its constraints, whose snippets come first
    /// @param base      snippets of its own, in the order in which they are to be inserted
    /// @param obstacles what cannot be instrumented; the rest can
    /// @param scopes    resources that select what is read, as `/Thread/1234`, without code
    record Instance(
            Metric metric,
            Focus focus,
            Value value,
            List<Flag> flags,
            List<SnippetRequest> base,
            List<Obstacle> obstacles,
            List<Resource> scopes)
            implements Answer {
        /// All of them, in the order in which they are to be inserted.
        public List<SnippetRequest> snippets() {
            return Stream.concat(flags.stream().flatMap(flag -> flag.snippets.stream()), base.stream())
                    .toList();
        }
    }

    /// A constraint for a resource. Two that are equal are the same: requests share it.
    ///
    /// @param snippets which set and clear it
    /// @param choice   of a vector; null when it is a flag of its own
    record Flag(
            Value value,
            List<SnippetRequest> snippets,
            @Nullable Choice choice) {}

    /// One object of a vector.
    ///
    /// @param selector stands for the flags of all objects
    /// @param direct   whether numbers are indices themselves
    /// @param object   the number that stands for it; null: all objects that nobody asks for
    record Choice(Value selector, boolean direct, @Nullable Long object) {}

    /// Nothing of it can be had.
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
