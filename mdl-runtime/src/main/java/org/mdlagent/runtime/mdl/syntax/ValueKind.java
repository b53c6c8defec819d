package org.mdlagent.runtime.mdl.syntax;

import java.util.Arrays;
import java.util.List;

/// The kind of a metric's base, a replacement or a temporary.
public enum ValueKind {
    COUNTER("counter"),
    /// CPU time of the thread.
    PROCESS_TIMER("processTimer"),
    /// Elapsed time.
    WALL_TIMER("wallTimer"),
    /// Kernel events, named by the base.
    HARDWARE_COUNTER("hwCounter"),
    /// Kernel time, named by the base.
    HARDWARE_TIMER("hwTimer"),
    /// No value, only code.
    VOID("void");

    private final String word;

    ValueKind(String word) {
        this.word = word;
    }

    public String word() {
        return word;
    }

    /// Whether `("event")` follows it.
    public boolean hasEvent() {
        return this == HARDWARE_COUNTER || this == HARDWARE_TIMER;
    }

    public boolean isTimer() {
        return this == PROCESS_TIMER || this == WALL_TIMER;
    }

    static List<String> words() {
        return Arrays.stream(values()).map(ValueKind::word).toList();
    }
}
