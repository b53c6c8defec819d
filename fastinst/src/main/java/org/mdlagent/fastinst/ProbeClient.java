package org.mdlagent.fastinst;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.EventCounter;
import org.mdlagent.arch.shim.KernelEvent;
import org.mdlagent.arch.shim.LiveThreads;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// The client interface of probes ("Living on the Edge", PLDI 2016, figure 3) for Java: what `fastinst.h` is for C.
/// A probe has one client, of either language, and the last one given stays.
///
/// What is attached is machine code that follows the C calling convention, `void (uint32_t probe, void *function)`,
/// or a [Recorder]. Java itself does not run at a probe. Used by one thread, the agent's.
public final class ProbeClient {
    private static final int NO_PROBE = 2;

    private final NativeApi api;
    private final long header;

    public ProbeClient(NativeApi api) {
        this.api = api;
        header = api.session();
    }

    /// Tells `listener` of every probe from number `first` on, but for those of imported functions ([Imports]).
    ///
    /// @return the number to go on with when libraries have been loaded
    public int discover(int first, ProbeListener listener) {
        int count = Memory.getIntAcquire(header + HeaderDescriptor.SITE_COUNT);
        for (int id = first; id < count; id++) {
            if (Memory.getInt(site(id) + SiteDescriptor.BODIES) != 0 && !isImported(id)) {
                listener.discovered(describe(id));
            }
        }
        return count;
    }

    /// Lets `function` run at each of the probes, in place of what ran there: all or, when one of them does not
    /// exist, none.
    ///
    /// @param function address of code that stays as long as it is attached, and for as long as a thread may be in
    ///     it
    /// @throws IllegalArgumentException when there is no such probe, or the function is 0
    /// @throws IllegalStateException when the agent's probes are switched off for good
    public void activate(long function, int... probes) {
        if (function == 0) {
            throw new IllegalArgumentException("no function to attach");
        }
        attach(function, probes);
    }

    /// Lets `recorder` record at each of the probes.
    ///
    /// @throws IllegalArgumentException when there is no such probe
    /// @throws IllegalStateException when the agent's probes are switched off for good, or latencies are the
    ///     profiler's
    public void activate(Recorder recorder, int... probes) {
        switch (recorder) {
            case COUNT -> attach(api.counter(), probes);
            case LATENCY -> {
                if (!isUnprofiled()) {
                    throw new IllegalStateException("the profiler records latencies: run with profile=off");
                }
                record(true, probes);
            }
        }
    }

    /// Nothing runs at the probes any more but the profiler, where there is one.
    ///
    /// @throws IllegalArgumentException when there is no such probe
    /// @throws IllegalStateException when the agent's probes are switched off for good
    public void deactivate(int... probes) {
        attach(0, probes);
        if (isUnprofiled()) {
            record(false, probes);
        }
    }

    /// Begins to count an event of the kernel, without probes.
    ///
    /// @param pid whose events alone count, 0 for all processes of the session
    /// @param tid the same, 0 for all threads
    /// @throws IllegalArgumentException when that cannot be had, with the reason
    public EventCounter count(KernelEvent event, int pid, int tid) {
        return EventCounter.open(api, event, pid, tid);
    }

    /// The session's processes that have not ended, each with the threads that it has now, but for the agent's.
    public Map<Integer, List<Integer>> processes() {
        return LiveThreads.byProcess(api);
    }

    /// Calls that a probe has seen, by all threads of the session's processes, while [Recorder#COUNT] was attached.
    ///
    /// @throws IllegalArgumentException when there is no such probe
    public long calls(int probe) {
        require(probe);
        long sum = 0;
        long thread = Memory.getLongAcquire(header + HeaderDescriptor.THREADS);
        for (; thread != 0; thread = Memory.getLong(thread + ThreadDescriptor.NEXT)) {
            long counts = Memory.getLongAcquire(thread + ThreadDescriptor.COUNTS);
            sum += counts == 0 ? 0 : Memory.getLong(counts + (long) probe * Long.BYTES);
        }
        return sum;
    }

    /// Calls of a probe's function so far, as the profiler has counted or estimated them; 0 where it does not record.
    ///
    /// @throws IllegalArgumentException when there is no such probe
    public double profiledCalls(int probe) {
        require(probe);
        long function = Memory.getLongAcquire(site(probe) + SiteDescriptor.FUNCTION);
        long index = Memory.getInt(function + FunctionDescriptor.INDEX);
        double counted = 0;
        long thread = Memory.getLongAcquire(header + HeaderDescriptor.THREADS);
        for (; thread != 0; thread = Memory.getLong(thread + ThreadDescriptor.NEXT)) {
            long calls = Memory.getLongAcquire(thread + ThreadDescriptor.CALLS);
            counted += calls == 0 ? 0 : Memory.getLong(calls + index * Long.BYTES);
        }
        return Math.max(counted, Double.longBitsToDouble(Memory.getLong(function + FunctionDescriptor.CALLS)));
    }

    private void attach(long function, int... probes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment numbers = arena.allocateFrom(ValueLayout.JAVA_INT, probes);
            long status = api.attach(numbers.address(), probes.length, function);
            if (status == NO_PROBE) {
                throw new IllegalArgumentException("no such probe, or the filters leave it out");
            }
            if (status != 0) {
                throw new IllegalStateException("the probes are switched off");
            }
        }
    }

    /// Exits first when it begins, entries first when it ends: no call is left without its exit.
    private void record(boolean on, int... probes) {
        for (int probe : probes) {
            require(probe);
        }
        toggle(on ? Probe.Kind.EXIT : Probe.Kind.ENTRY, on, probes);
        toggle(on ? Probe.Kind.ENTRY : Probe.Kind.EXIT, on, probes);
    }

    private void toggle(Probe.Kind kind, boolean on, int... probes) {
        try (Arena arena = Arena.ofConfined()) {
            long numbers = arena.allocate(ValueLayout.JAVA_INT, probes.length).address();
            int count = 0;
            for (int probe : probes) {
                // The return of a whole function has no code of its own.
                if (kind(probe) == kind && siteKind(probe) != SiteDescriptor.KIND_RETURN) {
                    Memory.putInt(numbers + (long) count++ * Integer.BYTES, probe);
                }
            }
            long unused = api.toggle(numbers, count, on);
        }
    }

    private Probe describe(int id) {
        long site = site(id);
        long function = Memory.getLongAcquire(site + SiteDescriptor.FUNCTION);
        int file = Memory.getIntAcquire(function + FunctionDescriptor.FILE);
        String image = string(Memory.getInt(site + SiteDescriptor.IMAGE));
        return new Probe(
                id,
                kind(id),
                Memory.getLong(function + FunctionDescriptor.ADDRESS),
                Memory.getLong(site + SiteDescriptor.ADDRESS),
                string(Memory.getInt(function + FunctionDescriptor.NAME)),
                string(Memory.getInt(function + FunctionDescriptor.SYMBOL)),
                image == null ? "" : image,
                string(file),
                file == 0 ? 0 : Memory.getInt(function + FunctionDescriptor.LINE));
    }

    private Probe.Kind kind(int probe) {
        return switch (siteKind(probe)) {
            case SiteDescriptor.KIND_EXIT, SiteDescriptor.KIND_SIBLING_EXIT, SiteDescriptor.KIND_RETURN ->
                Probe.Kind.EXIT;
            default -> Probe.Kind.ENTRY;
        };
    }

    private boolean isImported(int probe) {
        long function = Memory.getLongAcquire(site(probe) + SiteDescriptor.FUNCTION);
        return (Memory.getInt(function + FunctionDescriptor.FLAGS) & FunctionDescriptor.FLAG_IMPORTED) != 0;
    }

    private byte siteKind(int probe) {
        return Memory.getByte(site(probe) + SiteDescriptor.KIND);
    }

    private @Nullable String string(int offset) {
        if (offset == 0) {
            return null;
        }
        long at = header + Integer.toUnsignedLong(offset);
        return new String(Memory.copy(at + Integer.BYTES, Memory.getInt(at)), StandardCharsets.UTF_8);
    }

    private boolean isUnprofiled() {
        return (Memory.getInt(header + HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_UNPROFILED) != 0;
    }

    private long site(int id) {
        return Memory.getLong(header + HeaderDescriptor.SITES) + id * SiteDescriptor.SIZE;
    }

    private void require(int probe) {
        int count = Memory.getIntAcquire(header + HeaderDescriptor.SITE_COUNT);
        if (probe < 0 || probe >= count || Memory.getInt(site(probe) + SiteDescriptor.BODIES) == 0) {
            throw new IllegalArgumentException("no such probe: " + probe);
        }
    }
}
