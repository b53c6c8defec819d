package org.mdlagent.runtime.options;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.cpu.Calibration;
import org.mdlagent.arch.cpu.CpuIdentity;

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
        for (Path file : files) {
            try {
                Calibration calibration = Calibration.read(file);
                String difference = here.differenceTo(calibration.cpu());
                if (difference == null) {
                    log.add("T_max, " + calibration.tmaxTicks() + " ticks, of " + file + ", measured "
                            + calibration.measured());
                    return new SyncChoice(calibration.tmaxTicks(), log);
                }
                log.add(file + " is ignored: T_max of another " + difference);
            } catch (NoSuchFileException e) {
                // the next one, or none
            } catch (AccessDeniedException e) {
                log.add(file + " is ignored: no permission to read it");
            } catch (IOException e) {
                log.add(file + " is ignored: " + e.getMessage());
            }
        }
        String asked = wanted == AgentOptions.Sync.TMAX ? "sync=tmax is not possible, " : "";
        log.add(asked + "T_max of this machine is not known: using membarrier; run mdl calibrate");
        return new SyncChoice(0, log);
    }
}
