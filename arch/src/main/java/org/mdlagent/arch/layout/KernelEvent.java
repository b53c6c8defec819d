package org.mdlagent.arch.layout;

import java.util.Arrays;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// An event of `perf_event_open(2)`, with perf's name.
public enum KernelEvent {
    PAGE_FAULTS("page-faults", 2),
    CONTEXT_SWITCHES("context-switches", 3),
    CPU_MIGRATIONS("cpu-migrations", 4),
    MINOR_FAULTS("minor-faults", 5),
    MAJOR_FAULTS("major-faults", 6),
    CYCLES("cycles", true, 0),
    INSTRUCTIONS("instructions", true, 1),
    CACHE_REFERENCES("cache-references", true, 2),
    CACHE_MISSES("cache-misses", true, 3),
    BRANCHES("branches", true, 4),
    BRANCH_MISSES("branch-misses", true, 5);

    private final String word;
    private final boolean hardware;
    private final int number;

    KernelEvent(String word, int number) {
        this(word, false, number);
    }

    /// @param number `enum perf_hw_id`, `enum perf_sw_ids`
    KernelEvent(String word, boolean hardware, int number) {
        this.word = word;
        this.hardware = hardware;
        this.number = number;
    }

    /// Perf's name of it.
    public String word() {
        return word;
    }

    /// `enum perf_type_id`.
    public int type() {
        return hardware ? 0 : 1;
    }

    /// Among those of its type.
    public int number() {
        return number;
    }

    /// Whether the processor counts it, and not the kernel.
    public boolean isHardware() {
        return hardware;
    }

    /// The event of a name.
    ///
    /// @throws IllegalArgumentException if there is none; the message lists the events
    public static KernelEvent of(String name) {
        for (KernelEvent event : values()) {
            if (event.word.equals(name)) {
                return event;
            }
        }
        throw new IllegalArgumentException("no event " + name + " is counted here; there are " + words(event -> true));
    }

    /// The event of its number among those of the kernel, null if there is none.
    public static @Nullable KernelEvent ofKernel(long number) {
        for (KernelEvent event : values()) {
            if (!event.hardware && event.number == number) {
                return event;
            }
        }
        return null;
    }

    /// The names of the kernel's own events.
    public static String software() {
        return words(event -> !event.hardware);
    }

    private static String words(Predicate<KernelEvent> wanted) {
        return Arrays.stream(values()).filter(wanted).map(event -> event.word).collect(Collectors.joining(", "));
    }
}
