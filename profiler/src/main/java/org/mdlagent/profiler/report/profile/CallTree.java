package org.mdlagent.profiler.report.profile;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// CPU time by call path: how often the kernel's clock has found threads on each, with the code that they were in
/// last.
/// Paths that differ in the callers of one function only are apart.
public final class CallTree {
    /// Of a session without samples.
    public static final CallTree NONE = new CallTree(1);

    private final long nanosPerSample;
    private final Node root = new Node(null, null);
    private List<SampledThread> threads = List.of();
    private List<Sample> samples = List.of();
    private long samplesPerLogged = 1;

    /// @param nanosPerSample CPU time that one stands for
    public CallTree(long nanosPerSample) {
        this.nanosPerSample = nanosPerSample;
    }

    /// A path: the functions that are running on it, one called by the other.
    public final class Node {
        private final @Nullable Node parent;
        private final @Nullable CodeFrame frame;
        private final IdentityHashMap<CodeFrame, Node> children = new IdentityHashMap<>();
        private List<Node> sorted = List.of();
        private long own;
        private long all;

        private Node(@Nullable Node parent, @Nullable CodeFrame frame) {
            this.parent = parent;
            this.frame = frame;
        }

        /// What was called last, the last of those that [#path] has. Not for the root.
        public CodeFrame frame() {
            return Objects.requireNonNull(frame);
        }

        /// The path that this one goes on from; the root where it begins, which is in no list of nodes.
        public Node parent() {
            return Objects.requireNonNull(parent);
        }

        /// Time on this path and what goes on from it.
        public long nanos() {
            return all * nanosPerSample;
        }

        /// Of this, time in the last frame's own code.
        public long selfNanos() {
            return own * nanosPerSample;
        }

        /// The frames of the path, the caller of all first.
        public List<CodeFrame> path() {
            List<CodeFrame> path = new ArrayList<>();
            for (Node node = this; node != null && node.frame != null; node = node.parent) {
                path.add(node.frame);
            }
            return path.reversed();
        }

        /// The path that goes on to a frame. Frames are told apart by what they are, not by what they say.
        public Node child(CodeFrame called) {
            return children.computeIfAbsent(called, absent -> new Node(this, called));
        }

        /// Adds samples in the last frame's own code.
        public void add(long samples) {
            own += samples;
        }

        private long sum() {
            all = own;
            for (Node child : children.values()) {
                all += child.sum();
            }
            sorted = children.values().stream()
                    .sorted(Comparator.comparingLong((Node child) -> child.all)
                            .reversed()
                            .thenComparing(child -> child.frame().name()))
                    .toList();
            return all;
        }

        private void collect(double least, List<Node> nodes) {
            for (Node child : sorted) {
                if (child.all > 0 && child.all >= least) {
                    nodes.add(child);
                    child.collect(least, nodes);
                }
            }
        }
    }

    /// One sample.
    ///
    /// @param startNanos when it was taken, since the session began
    /// @param thread     position among [#threads]
    /// @param path       whose last frame the thread was in; the root where the path found no room
    /// @param weight     periods of CPU time that it stands for
    /// @param address    of the instruction, at link time where the code is an image's
    public record Sample(long startNanos, int thread, Node path, long weight, long address) {}

    /// The threads that were sampled. The first stands for those for which there was no room.
    public List<SampledThread> threads() {
        return threads;
    }

    /// The samples one by one, in no order: all, or some of them that were chosen at random.
    public List<Sample> samples() {
        return samples;
    }

    /// The same, the earliest first.
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

    /// Takes the samples one by one.
    ///
    /// @param each how many samples each stands for
    public void log(List<SampledThread> ofThreads, List<Sample> some, long each) {
        threads = List.copyOf(ofThreads);
        samples = List.copyOf(some);
        samplesPerLogged = each;
    }

    /// Whether a path is where all begin.
    @SuppressWarnings("ReferenceEquality") // there is one
    public boolean isRoot(Node node) {
        return node == root;
    }

    /// Where all paths begin.
    public Node root() {
        return root;
    }

    /// To be called once, when all is added.
    public CallTree complete() {
        root.sum();
        return this;
    }

    /// All paths on which time was spent, each behind that which it goes on from, the one with the most time
    /// first.
    public List<Node> nodes() {
        return nodes(0);
    }

    /// Those that have at least a part of all time: what they leave out belongs to what called it.
    public List<Node> nodes(double leastPart) {
        List<Node> nodes = new ArrayList<>();
        root.collect(leastPart * root.all, nodes);
        return nodes;
    }
}
