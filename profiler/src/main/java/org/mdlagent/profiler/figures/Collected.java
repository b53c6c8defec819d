package org.mdlagent.profiler.figures;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.HeaderDescriptor;

/// What a session holds of its functions. Each constant has a `Collector` in the agent.
public enum Collected {
    /// Calls and how long they take, exact or sampled.
    LATENCY(0),
    /// The same, and slow calls with what they called and where they waited.
    SLOW(HeaderDescriptor.FLAG_SLOW),
    /// The number of calls, exact. No call is timed.
    COUNTS(HeaderDescriptor.FLAG_COUNTS),
    /// Whether a function has been called. Its probe goes off at the first call.
    COVERAGE(HeaderDescriptor.FLAG_COUNTS | HeaderDescriptor.FLAG_COVERAGE),
    /// The number of calls, and how often each basic block of functions ran.
    BLOCKS(HeaderDescriptor.FLAG_COUNTS | HeaderDescriptor.FLAG_BLOCKS),
    /// The same, and how often each way of control between blocks was taken.
    ARCS(HeaderDescriptor.FLAG_COUNTS | HeaderDescriptor.FLAG_BLOCKS | HeaderDescriptor.FLAG_ARCS),
    /// How often an event of the kernel came, by call path. Functions have no probes.
    EVENTS(HeaderDescriptor.FLAG_KERNEL_EVENTS);

    private static final int FLAGS = HeaderDescriptor.FLAG_COUNTS
            | HeaderDescriptor.FLAG_COVERAGE
            | HeaderDescriptor.FLAG_BLOCKS
            | HeaderDescriptor.FLAG_ARCS
            | HeaderDescriptor.FLAG_SLOW
            | HeaderDescriptor.FLAG_KERNEL_EVENTS;

    private final int flags;

    Collected(int flags) {
        this.flags = flags;
    }

    /// The flags of the session's header that say so.
    public int flags() {
        return flags;
    }

    /// What a session with these flags holds.
    public static Collected of(int headerFlags) {
        int known = headerFlags & FLAGS;
        for (Collected collected : values()) {
            if (known == collected.flags) {
                return collected;
            }
        }
        return LATENCY;
    }

    /// The constant with this [#key], null if there is none.
    public static @Nullable Collected named(String key) {
        return switch (key) {
            case "latency" -> LATENCY;
            case "slow" -> SLOW;
            case "counts" -> COUNTS;
            case "coverage" -> COVERAGE;
            case "blocks" -> BLOCKS;
            case "arcs" -> ARCS;
            case "events" -> EVENTS;
            default -> null;
        };
    }

    /// Whether calls are timed.
    public boolean isTimed() {
        return this == LATENCY || this == SLOW;
    }

    /// Whether figures come from probes of functions.
    public boolean hasProbes() {
        return this != EVENTS;
    }

    /// Whether basic blocks are counted.
    public boolean hasBlocks() {
        return this == BLOCKS || this == ARCS;
    }

    /// Its name in options and reports, in lower case.
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }
}
