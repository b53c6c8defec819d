package org.mdlagent.profiler;

import java.util.List;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.cpu.EventSamples;

/// Counts an event of the kernel by call path. No function has a probe.
///
/// Used by one thread, the agent's.
public final class EventCollector implements Collector {
    /// Interval between looks: a processor's ring has room for up to 26,000 events (`pc_samples.c`).
    private static final double LOOK_NANOS = 20e6;

    private final NativeApi api;
    private final EventSamples samples;

    public EventCollector(NativeApi api, EventSamples samples) {
        this.api = api;
        this.samples = samples;
    }

    @Override
    public void open(List<Integer> functions, boolean whole) {
        samples.begin();
    }

    @Override
    public void reopen(List<Integer> functions) {
        samples.begin();
    }

    @Override
    public void close(List<Integer> functions) {
        samples.end();
    }

    @Override
    public void setTier(List<Integer> functions, Tier tier) {
        throw new IllegalArgumentException("functions have no probes in this session");
    }

    @Override
    public double tick() {
        api.renewClocks();
        samples.look();
        return LOOK_NANOS;
    }

    /// Whoever wakes the agent may end the process next.
    @Override
    public double urgentNanos() {
        return 0;
    }

    /// Events are not kept by slices of time.
    @Override
    public boolean settle() {
        return false;
    }

    @Override
    public void rest() {
        samples.end();
    }
}
