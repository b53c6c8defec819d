package org.mdlagent.fastinst.install;

import java.io.IOException;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.callpatch.CallPatch;

/// Makes sites in text that nobody executes yet: the copy of a program's text before it is shown
/// ([CodeMemory#show]), and unreachable stubs. From then on each site is toggled by one store.
///
/// So no probe of the agent is made in running code. [CallPatch] could do that, and `WordPatch` for
/// straddling instructions. The syncs that they wait for ([CoreSync]: T_max or membarrier) are not needed
/// here, because no thread can have fetched the old code. Programs that no compiler prepared are probed in
/// the same way ([DisplacedEntries]): by single stores to running text, or by a jump that is installed and
/// removed in steps, possibly from the start.
public final class PreparedText {
    private final CodeMemory code;
    private final CallPatch callPatch;

    /// @param arena for empty functions, which some sites call when they are off
    public PreparedText(NativeApi api, CodeMemory code, CodeArena arena, CoreSync sync, InstructionSet instructions) {
        this.code = code;
        callPatch = new CallPatch(api, code, arena, sync, instructions);
    }

    /// Plans how `site` will be toggled between nothing and a transfer to `target`.
    ///
    /// @throws IllegalArgumentException when the bytes at the site differ from `site`, or the target is out
    ///     of reach
    /// @throws IOException when there is no memory within reach for an empty function
    PatchPlan plan(SiteInstruction site, long target) throws IOException {
        return callPatch.plan(site, target);
    }

    /// Makes a site and leaves it off. Its text has been copied, or is the agent's own.
    ///
    /// No thread executes it, so the stores of [CallPatch#install] need no waits between them.
    public void install(PatchPlan plan) {
        if (plan.isMade()) {
            return;
        }
        if (plan.rewritten().length > 0) {
            Memory.put(code.alias(plan.address()), plan.rewritten());
        }
        byte[] tail = plan.tail();
        long start = Math.min(plan.tailAt(), Math.min(plan.neutralAt(), plan.toggleAt()));
        long end = Math.max(
                plan.tailAt() + tail.length,
                Math.max(plan.neutralAt() + plan.neutralSize(), plan.toggleAt() + plan.toggleSize()));
        byte[] bytes = Memory.copy(code.alias(start), (int) (end - start));
        put(bytes, plan.neutralAt() - start, plan.neutral(), plan.neutralSize());
        System.arraycopy(tail, 0, bytes, (int) (plan.tailAt() - start), tail.length);
        put(bytes, plan.toggleAt() - start, plan.off(), plan.toggleSize());
        Memory.put(code.alias(start), bytes);
    }

    /// Puts the word there that a site has when it is on, for good or to begin with.
    void store(PatchPlan jump) {
        byte[] bytes = new byte[jump.toggleSize()];
        put(bytes, 0, jump.on(), bytes.length);
        Memory.put(code.alias(jump.toggleAt()), bytes);
    }

    private static void put(byte[] bytes, long at, long value, int size) {
        for (int i = 0; i < size; i++) {
            bytes[(int) at + i] = (byte) (value >> Byte.SIZE * i);
        }
    }
}
