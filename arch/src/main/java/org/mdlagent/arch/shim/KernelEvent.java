package org.mdlagent.arch.shim;

import java.util.Arrays;
import java.util.stream.Collectors;

/// A software event of `perf_event_open(2)`, with perf's name.
public enum KernelEvent {
    PAGE_FAULTS("page-faults", 2),
    CONTEXT_SWITCHES("context-switches", 3),
    CPU_MIGRATIONS("cpu-migrations", 4),
    MINOR_FAULTS("minor-faults", 5),
    MAJOR_FAULTS("major-faults", 6);

    private final String word;
    private final int number;

    /// @param number `enum perf_sw_ids`
    KernelEvent(String word, int number) {
        this.word = word;
        this.number = number;
    }

    int number() {
        return number;
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
        throw new IllegalArgumentException("no event " + name + " is counted here; there are "
                + Arrays.stream(values()).map(event -> event.word).collect(Collectors.joining(", ")));
    }
}
