package org.mdlagent.runtime.mdl.request;

import java.util.List;
import org.mdlagent.runtime.mdl.Metric;

/// What becomes of a request.
public sealed interface Answer {
    /// A metric for a focus, and all that it needs.
    ///
    /// @param value     what is read
    /// @param snippets  in the order in which they are to be inserted
    /// @param obstacles what cannot be instrumented; the rest can
    /// @param scopes    resources that select what is read, as `/Thread/1234`, without code
    record Instance(
            Metric metric,
            Focus focus,
            Value value,
            List<SnippetRequest> snippets,
            List<Obstacle> obstacles,
            List<Resource> scopes)
            implements Answer {}

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
