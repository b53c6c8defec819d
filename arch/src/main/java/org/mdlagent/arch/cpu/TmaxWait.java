package org.mdlagent.arch.cpu;

import org.mdlagent.arch.shim.NativeApi;

/// Waits for T_max: the time after which a store to code is visible to the instruction fetch of every core
/// ("Living on the Edge", PLDI 2016, section 3). Empirical: as reliable as the calibration of this processor.
/// Disturbs no other thread, and covers all processes that share the code.
public final class TmaxWait implements CoreSync {
    private final NativeApi api;
    private final long tmaxTicks;

    /// @param tmaxTicks T_max in ticks of the time-stamp counter
    public TmaxWait(NativeApi api, long tmaxTicks) {
        this.api = api;
        this.tmaxTicks = tmaxTicks;
    }

    @Override
    public long ticket() {
        return api.tsc() + tmaxTicks;
    }

    @Override
    public boolean isPast(long ticket) {
        return api.tsc() - ticket >= 0;
    }

    @Override
    public void await(long ticket) {
        long unused = api.waitUntil(ticket);
    }
}
