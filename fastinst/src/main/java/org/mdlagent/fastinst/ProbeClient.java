package org.mdlagent.fastinst;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.KernelEvent;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.session.FunctionRecord;
import org.mdlagent.arch.session.SiteRecord;
import org.mdlagent.arch.session.SiteRecords;
import org.mdlagent.arch.shim.EventCounter;
import org.mdlagent.arch.shim.LiveThreads;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.NativeBuffer;
import org.mdlagent.arch.site.SiteKind;
import org.mdlagent.callpatch.SiteSwitch;

/// The client interface of probes ("Living on the Edge", PLDI 2016, figure 3) for Java, the counterpart of
/// `fastinst.h` for C. A probe has one client, in either language; the last one activated wins.
///
/// A client is machine code with the C calling convention, `void (uint32_t probe, void *function)`, or a
/// [Recorder]. Java itself does not run at a probe. Used by one thread, the agent's.
public final class ProbeClient {
    /// Receives discovered probes.
    @FunctionalInterface
    public interface ProbeListener {
        void discovered(Probe probe);
    }

    /// What the agent's machine code records at a probe.
    public enum Recorder {
        /// Calls, in the threads' blocks: [ProbeClient#calls].
        COUNT,
        /// The calls of a function and their durations, in the session's profile; needs the probes of its entry
        /// and of all its exits. The profiler, if there is one, attaches it itself.
        LATENCY
    }

    private final NativeApi api;
    private final SiteRecords sites;
    private final SiteSwitch siteSwitch;
    private final long header;

    public ProbeClient(NativeApi api) {
        this.api = api;
        header = api.session();
        sites = new SiteRecords(header);
        siteSwitch = new SiteSwitch(api);
    }

    /// Passes every probe from number `first` on to `listener`, except those of imported functions
    /// ([Imports]).
    ///
    /// @return the number to continue with after libraries have been loaded
    public int discover(int first, ProbeListener listener) {
        int count = sites.countAcquire();
        for (int id = first; id < count; id++) {
            SiteRecord site = sites.get(id);
            if (site.bodies() != 0 && !site.functionAcquire().isImported()) {
                listener.discovered(describe(id));
            }
        }
        return count;
    }

    /// Number of functions whose calls only the profiler counts and that accept no client: Go functions.
    public int countedAlone() {
        int found = 0;
        for (int id = sites.countAcquire() - 1; id >= 0; id--) {
            SiteRecord site = sites.get(id);
            boolean isNamed = site.hasFunction() && site.functionAcquire().name() != 0;
            found += site.kind() == SiteKind.COUNT && site.bodies() == 0 && isNamed ? 1 : 0;
        }
        return found;
    }

    /// Activates `function` at each of the probes, in place of their clients: at all of them, or at none if
    /// one does not exist.
    ///
    /// @param function address of code that must stay as long as it is active, and as long as a thread may be
    ///     in it
    /// @throws IllegalArgumentException when there is no such probe, or the function is 0
    /// @throws IllegalStateException when the agent's probes are switched off for good
    public void activate(long function, int... probes) {
        if (function == 0) {
            throw new IllegalArgumentException("no function to attach");
        }
        attach(function, probes);
    }

    /// Activates `recorder` at each of the probes.
    ///
    /// @throws IllegalArgumentException when there is no such probe
    /// @throws IllegalStateException when the agent's probes are switched off for good, or the profiler
    ///     records latencies
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

    /// Deactivates the probes' clients. The profiler, if there is one, is not affected.
    ///
    /// @throws IllegalArgumentException when there is no such probe
    /// @throws IllegalStateException when the agent's probes are switched off for good
    public void deactivate(int... probes) {
        attach(0, probes);
        if (isUnprofiled()) {
            record(false, probes);
        }
    }

    /// Begins to count a kernel event, without probes.
    ///
    /// @param pid process to count, 0 for all processes of the session
    /// @param tid thread to count, 0 for all threads
    /// @throws IllegalArgumentException when that is not possible, with the reason
    public EventCounter count(KernelEvent event, int pid, int tid) {
        return EventCounter.open(api, event, pid, tid);
    }

    /// The session's live processes.
    public List<LiveThreads> processes() {
        return LiveThreads.all(api);
    }

    /// Calls seen by a probe while [Recorder#COUNT] was active, in all threads of the session's processes.
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

    /// Calls of a probe's function so far, as counted or estimated by the profiler; 0 if it does not record.
    ///
    /// @throws IllegalArgumentException when there is no such probe
    public double profiledCalls(int probe) {
        require(probe);
        FunctionRecord function = sites.get(probe).functionAcquire();
        long index = function.index();
        double counted = 0;
        long thread = Memory.getLongAcquire(header + HeaderDescriptor.THREADS);
        for (; thread != 0; thread = Memory.getLong(thread + ThreadDescriptor.NEXT)) {
            long calls = Memory.getLongAcquire(thread + ThreadDescriptor.CALLS);
            counted += calls == 0 ? 0 : Memory.getLong(calls + index * Long.BYTES);
        }
        return Math.max(counted, function.calls());
    }

    private void attach(long function, int... probes) {
        try (NativeBuffer numbers = NativeBuffer.of((long) probes.length * Integer.BYTES)) {
            for (int i = 0; i < probes.length; i++) {
                Memory.putInt(numbers.address() + (long) i * Integer.BYTES, probes[i]);
            }
            long status = api.attach(numbers.address(), probes.length, function);
            if (status == NativeApi.NO_PROBE) {
                throw new IllegalArgumentException("no such probe, or the filters leave it out");
            }
            if (status != 0) {
                throw new IllegalStateException("the probes are switched off");
            }
        }
    }

    private void record(boolean on, int... probes) {
        List<Integer> exits = new ArrayList<>();
        List<Integer> entries = new ArrayList<>();
        for (int probe : probes) {
            require(probe);
            SiteKind kind = sites.get(probe).kind();
            if (kind != SiteKind.RETURN) { // a return has no code of its own
                (kind.isExit() ? exits : entries).add(probe);
            }
        }
        siteSwitch.toggleCalls(exits, entries, on);
    }

    private Probe describe(int id) {
        SiteRecord site = sites.get(id);
        FunctionRecord function = site.functionAcquire();
        int file = function.fileAcquire();
        String image = string(site.image());
        return new Probe(
                id,
                site.kind().isExit() ? Probe.Kind.EXIT : Probe.Kind.ENTRY,
                function.code(),
                site.code(),
                string(function.name()),
                string(function.symbol()),
                image == null ? "" : image,
                string(file),
                file == 0 ? 0 : function.line());
    }

    private @Nullable String string(int offset) {
        if (offset == 0) {
            return null;
        }
        long at = header + Integer.toUnsignedLong(offset);
        return new String(Memory.copy(at + Integer.BYTES, Memory.getInt(at)), StandardCharsets.UTF_8);
    }

    /// Whether `main` runs or has been released: it no longer waits for the agent.
    public boolean mainHasBegun() {
        return Memory.getIntAcquire(header + HeaderDescriptor.STATE) != HeaderDescriptor.STATE_STARTING;
    }

    private boolean isUnprofiled() {
        return (Memory.getInt(header + HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_UNPROFILED) != 0;
    }

    private void require(int probe) {
        if (probe < 0 || probe >= sites.countAcquire() || sites.get(probe).bodies() == 0) {
            throw new IllegalArgumentException("no such probe: " + probe);
        }
    }
}
