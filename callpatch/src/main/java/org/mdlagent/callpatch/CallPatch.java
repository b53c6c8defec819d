package org.mdlagent.callpatch;

import java.util.List;
import org.mdlagent.arch.CodeMemory;
import org.mdlagent.arch.NativeApi;
import org.mdlagent.arch.PatchPlan;

/// Turns calls of hooks into sites that one store toggles, while other threads execute them ("Living on the Edge",
/// PLDI 2016, section 6).
///
/// Assumes
///   A1 a store inside one atomic unit is fetched wholly or not at all ([org.mdlagent.arch.InstructionSet];
///      architectural for 8 bytes)
///   A2 a core that has serialised since a store fetches what was stored (architectural; membarrier(2), SYNC_CORE)
///   A3 the off word makes the tail unreachable or without effect ([PatchPlan]; checked when the plan is made)
///   A4 one thread installs; nobody else stores to the bytes of these instructions before they are installed
/// Guarantees
///   G1 a thread at the site executes the old transfer, nothing, or the new transfer, each completely
///   G2 a patcher that stops between any two steps leaves a site of which G1 is true
/// Progress
///   P1 no thread that executes a site waits, traps or is signalled; the patcher waits for two syncs, whatever the
///      number of sites
///
/// | step | patcher | executor |
/// | --- | --- | --- |
/// | 1 | store the neutral word of every site | executes the old transfer, or nothing |
/// | 2 | sync | |
/// | 3 | store the tails | executes nothing; fetches the tail at most as bytes without effect |
/// | 4 | sync | |
/// | 5 | store the on word, the off word, ... ([#toggle]) | executes the new transfer, or nothing |
public final class CallPatch {
    private final NativeApi api;
    private final CodeMemory code;

    public CallPatch(NativeApi api, CodeMemory code) {
        this.api = api;
        this.code = code;
    }

    /// Makes every site toggle by one store and leaves it off. The code must have aliases already.
    public void install(List<PatchPlan> plans) {
        // Step 1.
        for (PatchPlan plan : plans) {
            api.store(code.alias(plan.neutralAt()), plan.neutral(), plan.neutralSize());
        }
        // Step 2.
        api.syncCores();
        // Step 3.
        for (PatchPlan plan : plans) {
            byte[] tail = plan.tail();
            for (int i = 0; i < tail.length; i++) {
                api.store(code.alias(plan.tailAt() + i), tail[i], 1);
            }
        }
        // Step 4.
        api.syncCores();
        // Step 5, for sites whose neutral word is not yet the off word.
        for (PatchPlan plan : plans) {
            api.store(code.alias(plan.toggleAt()), plan.off(), plan.toggleSize());
        }
    }

    /// Switches sites on or off: one store each, no wait. The words come from the session's site table.
    ///
    /// @param sites address of `count` indices (int) of the site table
    /// @return the number of stores made
    public long toggle(long sites, int count, boolean on) {
        return api.toggle(sites, count, on);
    }
}
