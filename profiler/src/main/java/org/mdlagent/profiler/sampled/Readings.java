package org.mdlagent.profiler.sampled;

import java.util.Arrays;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.profiler.EnteredCalls;

/// A reading of the program: its CPU time, and the calls that probes have counted.
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

    /// Makes room for new functions.
    void grow(int functions) {
        calls = Arrays.copyOf(calls, functions);
    }

    /// Takes a reading.
    void read() {
        calls = counters.read(calls.length);
        cpu = api.programCpuNanos();
        tsc = api.tsc();
    }

    int functions() {
        return calls.length;
    }

    /// By function; valid until the next reading.
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

    /// Time of the reading, by the time-stamp counter.
    long tsc() {
        return tsc;
    }
}
