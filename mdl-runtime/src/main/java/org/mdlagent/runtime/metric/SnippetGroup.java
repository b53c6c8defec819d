package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.fastinst.snippet.Snippets;
import org.mdlagent.runtime.mdl.request.Answer;
import org.mdlagent.runtime.mdl.request.SnippetExpression;
import org.mdlagent.runtime.mdl.request.SnippetRequest;
import org.mdlagent.runtime.mdl.syntax.Statement;

/// Snippets that are attached and detached together ([Snippets#together]). At each point they run in the order of
/// the request.
final class SnippetGroup {
    private final Snippets snippets;
    private final List<Attached> attached = new ArrayList<>();
    private final List<SnippetRequest> inPlace = new ArrayList<>();
    private final Set<Answer.Obstacle> obstacles = new LinkedHashSet<>();

    private record Attached(int probe, Snippet snippet) {}

    SnippetGroup(Snippets snippets) {
        this.snippets = snippets;
    }

    /// Attaches all missing snippets; failures become obstacles. Does not detach snippets that are no longer
    /// requested.
    ///
    /// @throws IllegalStateException when the agent's probes are switched off permanently
    /// @throws IOException when code memory is refused
    void attach(List<SnippetRequest> requests, ProbedProgram program, Lowering lowering) throws IOException {
        // Closing a library has removed its snippets.
        attached.removeIf(one -> !snippets.at(one.probe).contains(one.snippet));
        inPlace.clear();
        obstacles.clear();
        Set<Attached> known = new HashSet<>(attached);
        for (SnippetRequest request : requests) {
            int before = attached.size();
            try {
                Snippet snippet = lowering.lower(request);
                attach(request, program.probes(request), snippet, known);
                inPlace.add(request);
            } catch (Lowering.UnsupportedException | IllegalArgumentException e) {
                detachFrom(before);
                obstacles.add(new Answer.Obstacle(request.point().description(), String.valueOf(e.getMessage())));
            }
        }
    }

    /// Timers determine whether it is a start or an end; for flags the point does.
    private static Snippets.Effect effect(SnippetRequest request) {
        List<SnippetExpression> parts = request.code().stream()
                .flatMap(SnippetRequest.Step::expressions)
                .toList();
        boolean starts = parts.stream().anyMatch(SnippetExpression.Start.class::isInstance);
        boolean stops = parts.stream().anyMatch(SnippetExpression.Stop.class::isInstance);
        boolean ends = starts == stops ? request.isAtEnd() : stops;
        return ends ? Snippets.Effect.ENDS : Snippets.Effect.BEGINS;
    }

    /// @param known earlier snippets: a request may contain the same snippet twice, but must not add it later
    private void attach(SnippetRequest request, List<Integer> probes, Snippet snippet, Set<Attached> known)
            throws IOException {
        Snippets.Order order =
                request.order() == Statement.Order.APPEND ? Snippets.Order.APPEND : Snippets.Order.PREPEND;
        for (int probe : probes) {
            Attached one = new Attached(probe, snippet);
            if (!known.contains(one)) {
                snippets.attach(probe, order, effect(request), snippet);
                attached.add(one);
            }
        }
    }

    void detach() throws IOException {
        detachFrom(0);
        inPlace.clear();
    }

    private void detachFrom(int first) throws IOException {
        while (attached.size() > first) {
            Attached last = attached.removeLast();
            // It may have been removed with its library.
            if (snippets.at(last.probe).contains(last.snippet)) {
                snippets.detach(last.probe, last.snippet);
            }
        }
    }

    List<SnippetRequest> inPlace() {
        return inPlace;
    }

    Set<Answer.Obstacle> obstacles() {
        return obstacles;
    }
}
