package org.mdlagent.profiler;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.cpu.PcSamples;
import org.mdlagent.profiler.records.CallerPlaces;

/// Times every call. Recording code does all the work; this class switches probes on and off, and finds out which
/// functions the calls came from.
public final class ExactProfiler implements Collector {
    /// Interval at which the session's clocks are renewed for readers.
    private static final double RENEWAL_NANOS = 100e6;

    private final NativeApi api;
    private final Probes probes;
    private final CallerPlaces callers;

    private final @Nullable PcSamples samples;

    /// @param samples of call paths, null when not wanted
    public ExactProfiler(NativeApi api, Probes probes, @Nullable PcSamples samples) {
        this.api = api;
        this.probes = probes;
        callers = new CallerPlaces(api.session(), probes.returnSites());
        this.samples = samples;
    }

    @Override
    public void open(List<Integer> functions, boolean whole) {
        probes.activateOpened();
        if (samples != null) {
            samples.grow(probes.functionCount());
        }
    }

    @Override
    public void reopen(List<Integer> functions) {
        record(functions, true);
    }

    /// Switches recording on or off, and marks the counts as interrupted: calls are missing from now on.
    private void record(List<Integer> functions, boolean on) {
        for (int function : functions) {
            if (probes.isLeftOut(function) == on) {
                Memory.putInt(
                        probes.function(function) + FunctionDescriptor.WHOLE, FunctionDescriptor.WHOLE_INTERRUPTED);
            }
        }
        probes.record(functions, on);
    }

    @Override
    public void setTier(List<Integer> functions, Tier tier) {
        throw new IllegalArgumentException("every call of every function is recorded in this session");
    }

    @Override
    public double tick() {
        List<Integer> leftOut = probes.adoptLearnedSites();
        if (!leftOut.isEmpty()) {
            probes.record(leftOut, false);
        }
        callers.resolve();
        api.renewClocks();
        double unused = lookAtWaits();
        return samples == null ? RENEWAL_NANOS : Math.min(RENEWAL_NANOS, samples.look());
    }

    @Override
    public boolean settle() {
        return true;
    }

    @Override
    public double lookAtWaits() {
        return samples != null ? samples.lookAtWaits() : Double.POSITIVE_INFINITY;
    }

    @Override
    public void rest() {
        if (samples != null) {
            samples.rest();
        }
    }

    @Override
    public void close(List<Integer> functions) {
        record(functions, false);
    }
}
