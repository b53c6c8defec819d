package org.mdlagent.profiler.report.profile;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A session's time by call path, made from who calls whom.
///
/// What is known of a call is its direct caller, so a path is a guess: a function is taken to do the same whoever calls
/// it, and its time, with that of what it calls, is divided among its callers by what the calls of each took (Graham,
/// Kessler, McKusick, "gprof: a Call Graph Execution Profiler", 1982). No function comes twice in a path: what nested
/// calls of it take is divided among what else goes on there. Where a call tells of no caller with probes, a path
/// begins.
///
/// A call that has not returned yet has no time: of a function of which none ever has, it is that of what it called.
public final class CallTree {
    /// Paths with less than this part of the time belong to what called them.
    private static final double LEAST_PART = 1e-4;

    private static final int NODES_MAX = 20_000;
    private static final int DEPTH_MAX = 500;

    private final IdentityHashMap<FunctionProfile, List<CallEdge>> callees = new IdentityHashMap<>();
    private final Node root = new Node(null, null, 0);

    /// Functions that are running on a path.
    public static final class Node {
        private final @Nullable Node parent;
        private final @Nullable FunctionProfile function;
        private final double nanos;
        private final int depth;
        private final List<Node> children = new ArrayList<>();
        private double self;

        private Node(@Nullable Node parent, @Nullable FunctionProfile function, double nanos) {
            this.parent = parent;
            this.function = function;
            this.nanos = nanos;
            depth = parent == null ? 0 : parent.depth + 1;
            self = nanos;
        }

        /// The function called last, the first of those that [#path] has. Not for the root.
        public FunctionProfile function() {
            return Objects.requireNonNull(function);
        }

        /// The path that this one goes on from; the root where it begins, which is in no list of nodes.
        public Node parent() {
            return Objects.requireNonNull(parent);
        }

        /// Time on this path and what goes on from it.
        public long nanos() {
            return Math.round(nanos);
        }

        /// Of this, time in the function itself.
        public long selfNanos() {
            return Math.round(self);
        }

        /// Where the path goes on, in descending order of time.
        List<Node> children() {
            return children;
        }

        /// The functions of the path, the caller of all first.
        public List<FunctionProfile> path() {
            List<FunctionProfile> path = new ArrayList<>();
            for (Node node = this; node != null && node.function != null; node = node.parent) {
                path.add(node.function);
            }
            return path.reversed();
        }

        @SuppressWarnings("ReferenceEquality") // a function is itself alone, whatever another has in common with it
        private boolean holds(FunctionProfile wanted) {
            for (Node node = this; node != null; node = node.parent) {
                if (node.function == wanted) {
                    return true;
                }
            }
            return false;
        }

        private void add(Node child) {
            children.add(child);
            self -= child.nanos;
        }
    }

    private CallTree() {}

    public static CallTree of(Profile profile) {
        return of(profile.edges());
    }

    public static CallTree of(List<CallEdge> edges) {
        CallTree tree = new CallTree();
        tree.grow(edges);
        return tree;
    }

    /// Whose children begin paths.
    Node root() {
        return root;
    }

    /// All paths on which functions spend time of their own, each behind that which it goes on from.
    public List<Node> nodes() {
        List<Node> nodes = new ArrayList<>();
        for (Node child : root.children) {
            collect(child, nodes);
        }
        return nodes;
    }

    private static void collect(Node node, List<Node> nodes) {
        nodes.add(node);
        for (Node child : node.children) {
            collect(child, nodes);
        }
    }

    private void grow(List<CallEdge> edges) {
        IdentityHashMap<FunctionProfile, Double> roots = new IdentityHashMap<>();
        Set<FunctionProfile> called = Collections.newSetFromMap(new IdentityHashMap<>());
        edges.forEach(edge -> called.add(edge.callee()));
        for (CallEdge edge : edges) {
            if (edge.caller() == null) {
                roots.merge(edge.callee(), (double) edge.nanos(), Double::sum);
            } else {
                callees.computeIfAbsent(edge.caller(), caller -> new ArrayList<>())
                        .add(edge);
                if (edge.caller().totalNanos().isEmpty() && !called.contains(edge.caller())) {
                    roots.merge(edge.caller(), (double) edge.nanos(), Double::sum);
                }
            }
        }
        double all = roots.values().stream().mapToDouble(Double::doubleValue).sum();
        double least = all * LEAST_PART;
        // The largest first, so that a bounded tree holds what matters.
        PriorityQueue<Node> growing = new PriorityQueue<>(Comparator.comparingDouble(node -> -node.nanos));
        roots.forEach((function, nanos) -> {
            if (nanos >= least) {
                growing.add(new Node(root, function, nanos));
            }
        });
        root.children.addAll(growing);
        for (int nodes = growing.size(); nodes < NODES_MAX && !growing.isEmpty(); ) {
            Node node = growing.remove();
            for (Node child : expand(node, least)) {
                node.add(child);
                growing.add(child);
                nodes++;
            }
        }
        sort(root);
    }

    /// What goes on from a path, but for what is too little.
    private List<Node> expand(Node node, double least) {
        FunctionProfile function = node.function();
        List<CallEdge> called = node.depth < DEPTH_MAX ? callees.getOrDefault(function, List.of()) : List.of();
        double own = function.selfNanos().orElse(0);
        double whole = own;
        List<CallEdge> further = new ArrayList<>();
        for (CallEdge edge : called) {
            if (!node.holds(edge.callee())) {
                further.add(edge);
                whole += edge.nanos();
            }
        }
        List<Node> children = new ArrayList<>();
        for (CallEdge edge : further) {
            double nanos = node.nanos * edge.nanos() / whole;
            if (nanos > 0 && nanos >= least) {
                children.add(new Node(node, edge.callee(), nanos));
            }
        }
        return children;
    }

    private static void sort(Node node) {
        node.children.sort(Comparator.comparingDouble((Node child) -> child.nanos)
                .reversed()
                .thenComparing(child -> child.function().name()));
        node.children.forEach(CallTree::sort);
    }
}
