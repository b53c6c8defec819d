package org.mdlagent.profiler;

import java.util.List;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.install.Tier;

/// Collects nothing: for sessions whose probes serve only clients and metrics.
public final class NoProfiler implements Collector {
    /// There is no periodic work except the session's clock, which native code keeps.
    private static final double LOOK_NANOS = 500e6;

    private final ExactProfiler probes;

    public NoProfiler(NativeApi api, Probes probes) {
        this.probes = new ExactProfiler(api, probes, null);
    }

    @Override
    public void open(List<Integer> functions, boolean whole) {
        // Their probes stay off.
    }

    @Override
    public void reopen(List<Integer> functions) {
        throw off();
    }

    @Override
    public void setTier(List<Integer> functions, Tier tier) {
        throw off();
    }

    /// Clients record every call.
    @Override
    public double tick() {
        probes.tick();
        return LOOK_NANOS;
    }

    @Override
    public boolean settle() {
        return false; // Nothing to write.
    }

    @Override
    public void close(List<Integer> functions) {
        throw off();
    }

    private static IllegalArgumentException off() {
        return new IllegalArgumentException("the profiler is off in this session");
    }
}
