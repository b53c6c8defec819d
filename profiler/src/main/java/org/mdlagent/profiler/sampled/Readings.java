package org.mdlagent.profiler.sampled;

import java.util.Arrays;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.profiler.EnteredCalls;

/// What the program had done when it was last looked at: its CPU time, and the calls that probes have counted.
final class Readings {
    private final NativeApi api;
    private final EnteredCalls counters;
    private long[] calls = {};
    private long cpu;
    private long tsc;

    Readings(NativeApi api) {
        this.api = api;
        counters = new EnteredCalls(api.session());
    }

    /// Makes room for functions that have come.
    void grow(int functions) {
        calls = Arrays.copyOf(calls, functions);
    }

    /// Looks at the program.
    void read() {
        calls = counters.read(calls.length);
        cpu = api.programCpuNanos();
        tsc = api.tsc();
    }

    int functions() {
        return calls.length;
    }

    /// By function; valid until the next look.
    long[] calls() {
        return calls;
    }

    long calls(int function) {
        return calls[function];
    }

    /// CPU time of the program, in nanoseconds.
    long cpu() {
        return cpu;
    }

    /// When that was, by the time-stamp counter.
    long tsc() {
        return tsc;
    }
}
