package org.mdlagent.runtime.options;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.cpu.Calibration;
import org.mdlagent.arch.cpu.CpuIdentity;
import org.mdlagent.arch.cpu.KnownCalibration;

/// Chooses how the agent waits until every core sees new code: T_max if this very processor has been calibrated,
/// else membarrier.
///
/// @param tmaxTicks to wait, 0 for membarrier
/// @param log       the choice and its reason, a sentence each
public record SyncChoice(long tmaxTicks, List<String> log) {
    /// @param here  the processor of this process
    /// @param files possible calibration files, the preferred one first
    public static SyncChoice of(AgentOptions.Sync wanted, CpuIdentity here, List<Path> files) {
        if (wanted == AgentOptions.Sync.MEMBARRIER || wanted == AgentOptions.Sync.STRICT) {
            return new SyncChoice(0, List.of("membarrier, as asked for"));
        }
        List<String> log = new ArrayList<>();
        if (!here.tscInvariant()) {
            return new SyncChoice(
                    0,
                    List.of("using membarrier: T_max counts ticks, and the time-stamp counter may not be invariant"));
        }
        KnownCalibration known = KnownCalibration.find(here, files, log::add);
        if (known != null) {
            Calibration calibration = known.calibration();
            log.add("T_max, " + calibration.tmaxTicks() + " ticks, of " + known.file() + ", measured "
                    + calibration.measured());
            return new SyncChoice(calibration.tmaxTicks(), log);
        }
        String asked = wanted == AgentOptions.Sync.TMAX ? "sync=tmax is not possible, " : "";
        log.add(asked + "T_max of this machine is not known: using membarrier; run mdl calibrate");
        return new SyncChoice(0, log);
    }
}
