package org.mdlagent.profiler;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.install.Tier;

/// Times every call. The recording code does all of it: here probes are only switched on and off.
public final class ExactProfiler implements Collector {
    /// The session's clocks are renewed so often, for whoever reads it meanwhile.
    private static final double RENEWAL_NANOS = 100e6;

    private final NativeApi api;
    private final Probes probes;

    public ExactProfiler(NativeApi api, Probes probes) {
        this.api = api;
        this.probes = probes;
    }

    @Override
    public void open(List<Integer> functions, boolean whole) {
        probes.activateOpened();
    }

    @Override
    public void reopen(List<Integer> functions) {
        record(functions, true);
    }

    /// Calls are missing from then on.
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
        adoptLearnedSites();
        api.renewClocks();
        return RENEWAL_NANOS;
    }

    /// Sites that were found to be of functions that are left out are on still.
    private void adoptLearnedSites() {
        List<Integer> out = new ArrayList<>();
        for (int function : probes.adoptLearnedSites()) {
            if (probes.isLeftOut(function)) {
                out.add(function);
            }
        }
        if (!out.isEmpty()) {
            probes.record(out, false);
        }
    }

    @Override
    public boolean settle() {
        return true;
    }

    @Override
    public void close(List<Integer> functions) {
        record(functions, false);
    }
}
