package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.mdlagent.runtime.mdl.request.Resource;
import org.mdlagent.runtime.mdl.request.SnippetRequest;

/// Requests whose pattern may match future objects: each object is measured from its discovery on.
final class GrowingRequests {
    private final SyncObjects objects;
    private final Map<MetricRequest, Growing> requests = new LinkedHashMap<>();

    /// @param kinds kinds of objects to discover while it exists
    private record Growing(double percentMax, Set<Resource> kinds) {}

    /// Called when discovered objects may match a request.
    interface Step {
        void appeared(MetricRequest pattern, double percentMax) throws IOException;
    }

    GrowingRequests(SyncObjects objects) {
        this.objects = objects;
    }

    /// Starts the discovery of matching objects.
    ///
    /// @param discoveries discovery snippets by kind
    /// @throws IllegalArgumentException if discovery is impossible
    void add(
            MetricRequest request,
            double percentMax,
            Map<Resource, List<SnippetRequest>> discoveries,
            ProbedProgram program)
            throws IOException {
        if (discoveries.keySet().stream().noneMatch(kind -> FocusGlob.isPartOf(request.focus(), kind))) {
            throw new IllegalArgumentException(
                    request.focus() + ": metric " + request.metric() + " has no constraint for it");
        }
        objects.retain(discoveries, program);
        Growing before = requests.put(request, new Growing(percentMax, discoveries.keySet()));
        if (before != null) {
            objects.release(before.kinds);
        }
    }

    boolean contains(MetricRequest request) {
        return requests.containsKey(request);
    }

    boolean isEmpty() {
        return requests.isEmpty();
    }

    /// @return whether the request existed
    boolean remove(MetricRequest request) throws IOException {
        Growing ended = requests.remove(request);
        if (ended != null) {
            objects.release(ended.kinds);
        }
        return ended != null;
    }

    /// Handles newly discovered objects.
    void observe(Step step) throws IOException {
        if (objects.observe()) {
            for (Map.Entry<MetricRequest, Growing> one : List.copyOf(requests.entrySet())) {
                step.appeared(one.getKey(), one.getValue().percentMax);
            }
        }
    }
}
