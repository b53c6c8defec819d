package org.mdlagent.profiler.report.profile;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// CPU time by call path: how often the kernel's sampling clock found threads on each path, with the code
/// that they were in last. Paths that differ only in one function's callers are separate.
public final class CallTree {
    /// The tree of a session without samples.
    public static final CallTree NONE = new CallTree(1);

    private final long nanosPerSample;
    private final Node root = new Node(null, null);
    private List<SampledThread> threads = List.of();
    private List<Sample> samples = List.of();
    private long samplesPerLogged = 1;
    private List<Wait> waits = List.of();

    /// @param nanosPerSample CPU time that one sample stands for
    public CallTree(long nanosPerSample) {
        this.nanosPerSample = nanosPerSample;
    }

    /// A path: a chain of calls in progress.
    public final class Node {
        private final @Nullable Node parent;
        private final @Nullable CodeFrame frame;
        private final IdentityHashMap<CodeFrame, Node> children = new IdentityHashMap<>();
        private List<Node> sorted = List.of();
        private long own;
        private long all;
        private long waits;

        private Node(@Nullable Node parent, @Nullable CodeFrame frame) {
            this.parent = parent;
            this.frame = frame;
        }

        /// The innermost frame, the last of [#path]. Not for the root.
        public CodeFrame frame() {
            return Objects.requireNonNull(frame);
        }

        /// The path without its innermost frame; for outermost frames the root, which is in no list of nodes.
        public Node parent() {
            return Objects.requireNonNull(parent);
        }

        /// Time on this path and on the paths that extend it.
        public long nanos() {
            return all * nanosPerSample;
        }

        /// Of this, the time in the innermost frame's own code.
        public long selfNanos() {
            return own * nanosPerSample;
        }

        /// Time off the processors on this path and on the paths that extend it, except waits for a processor.
        public long waitNanos() {
            return waits;
        }

        /// The frames of the path, outermost first.
        public List<CodeFrame> path() {
            List<CodeFrame> path = new ArrayList<>();
            for (Node node = this; node != null && node.frame != null; node = node.parent) {
                path.add(node.frame);
            }
            return path.reversed();
        }

        /// The path extended by a frame. Frames are compared by identity, not by contents.
        public Node child(CodeFrame called) {
            return children.computeIfAbsent(called, absent -> new Node(this, called));
        }

        /// Adds samples in the innermost frame's own code.
        public void add(long samples) {
            own += samples;
        }

        /// Adds time that threads were off the processors in the innermost frame.
        public void addWait(long nanos) {
            waits += nanos;
        }

        private void sum() {
            all = own;
            for (Node child : children.values()) {
                child.sum();
                all += child.all;
                waits += child.waits;
            }
            sorted = children.values().stream()
                    .sorted(Comparator.comparingLong((Node child) -> child.all)
                            .reversed()
                            .thenComparing(child -> child.frame().name()))
                    .toList();
        }

        private void collect(Predicate<Node> wanted, List<Node> nodes) {
            for (Node child : sorted) {
                if (wanted.test(child)) {
                    nodes.add(child);
                    child.collect(wanted, nodes);
                }
            }
        }
    }

    /// One sample.
    ///
    /// @param startNanos when it was taken, since the session began
    /// @param thread     position among [#threads]
    /// @param path       whose innermost frame the thread was in; the root if there was no room to record the
    ///     path
    /// @param weight     periods of CPU time that it stands for
    /// @param address    of the instruction; at link time for code of an image
    public record Sample(long startNanos, int thread, Node path, long weight, long address) {}

    /// Where a thread waited: it was seen there at both times, and had not run in between. Only sessions with slow
    /// calls
    /// keep such waits.
    ///
    /// @param sinceNanos since the session began
    public record Wait(int pid, int tid, long sinceNanos, long untilNanos, Node path) {}

    /// The waits, in no order.
    public List<Wait> waits() {
        return waits;
    }

    /// Sets the waits.
    public void waited(List<Wait> some) {
        waits = List.copyOf(some);
    }

    /// The sampled threads. The first stands for threads that there was no room for.
    public List<SampledThread> threads() {
        return threads;
    }

    /// The samples, unordered: all of them, or a random selection.
    public List<Sample> samples() {
        return samples;
    }

    /// The samples, earliest first.
    public List<Sample> samplesByTime() {
        return samples.stream()
                .sorted(Comparator.comparingLong(Sample::startNanos))
                .toList();
    }

    /// How many samples each of [#samples] stands for.
    public long samplesPerLogged() {
        return samplesPerLogged;
    }

    public long nanosPerSample() {
        return nanosPerSample;
    }

    /// Sets the single samples.
    ///
    /// @param each how many samples each stands for
    public void log(List<SampledThread> ofThreads, List<Sample> some, long each) {
        threads = List.copyOf(ofThreads);
        samples = List.copyOf(some);
        samplesPerLogged = each;
    }

    /// Whether a node is the root.
    @SuppressWarnings("ReferenceEquality") // there is one
    public boolean isRoot(Node node) {
        return node == root;
    }

    /// The root of all paths.
    public Node root() {
        return root;
    }

    /// Completes the tree; to be called once, after all samples have been added.
    public CallTree complete() {
        root.sum();
        return this;
    }

    /// All paths with CPU time, each after its parent, the one with the most time first.
    public List<Node> nodes() {
        List<Node> nodes = new ArrayList<>();
        root.collect(node -> node.all > 0, nodes);
        return nodes;
    }

    /// The paths with at least a share of the total CPU time, or of that and the time off the processors. Time of
    /// omitted paths remains in their callers.
    public List<Node> nodes(double leastPart) {
        double leastCpu = Math.max(1, leastPart * root.all);
        double leastOfBoth = Math.max(1, leastPart * (root.nanos() + root.waits));
        List<Node> nodes = new ArrayList<>();
        root.collect(node -> node.all >= leastCpu || node.nanos() + node.waits >= leastOfBoth, nodes);
        return nodes;
    }
}
