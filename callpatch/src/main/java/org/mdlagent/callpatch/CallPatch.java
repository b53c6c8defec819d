package org.mdlagent.callpatch;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.CodeStore;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.shim.CodeWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.SiteInstruction;

/// Turns calls of hooks into sites that one store toggles or redirects, while other threads execute them
/// ("Living on the Edge", PLDI 2016, section 6).
///
/// Assumes
///   A1 a store inside one atomic unit is fetched wholly or not at all ([InstructionSet]; architectural for 8 bytes)
///   A2 what was stored before a [CoreSync]'s ticket is fetched when the ticket is past (architectural or
///      empirical: its implementations say which)
///   A3 the off word makes the tail unreachable or without effect ([PatchPlan]; checked when the plan is made)
///   A4 one thread plans and installs; nobody else stores to the bytes of these instructions before they are installed
/// Guarantees
///   G1 a thread at the site executes the old transfer, nothing, or the new transfer, each completely
///   G2 a patcher that stops between any two steps leaves a site with G1
/// Progress
///   P1 no thread that executes a site waits, traps or is signalled
///   P2 to install takes two syncs, whatever the number of sites; to toggle and to retarget take none, and any number
///      of threads may do so at once: of stores to one site the last one stands
///
/// | step | patcher | executor |
/// | --- | --- | --- |
/// | 1 | store the neutral word of every site | executes the old transfer, or nothing |
/// | 2 | sync | |
/// | 3 | store the tails | executes nothing; fetches the tail at most as bytes without effect |
/// | 4 | sync | |
/// | 5 | store the off word, the on word, ... ([SiteSwitch]) | executes the new transfer, or nothing |
/// | 6 | store where its stub goes on ([#retarget]), any time | goes on in the old target, or in the new one |
public final class CallPatch {
    private final CodeWriter writer;
    private final CodeMemory code;
    private final CodeArena arena;
    private final CoreSync sync;
    private final InstructionSet instructions;
    private final List<Long> emptyFunctions = new ArrayList<>();

    /// @param arena for empty functions, which some sites call when they are off
    public CallPatch(CodeWriter writer, CodeMemory code, CodeArena arena, CoreSync sync, InstructionSet instructions) {
        this.writer = writer;
        this.code = code;
        this.arena = arena;
        this.sync = sync;
        this.instructions = instructions;
    }

    /// Plans how `site` will be toggled between nothing and a transfer to `stub`.
    ///
    /// @throws IllegalArgumentException when the bytes at the site differ from `site`, or the stub is out of
    ///     reach
    /// @throws IOException when there is no memory within reach for an empty function
    public PatchPlan plan(SiteInstruction site, long stub) throws IOException {
        return instructions.sites().plan(site, stub, emptyFunctionNear(site.address()));
    }

    private long emptyFunctionNear(long address) throws IOException {
        for (long function : emptyFunctions) {
            if (CodeMemory.reaches(address, address, function)) {
                return function;
            }
        }
        byte[] bytes = instructions.sites().emptyFunction();
        long function = arena.allocate(address, bytes.length);
        Memory.put(code.alias(function), bytes);
        emptyFunctions.add(function);
        return function;
    }

    /// Makes every site toggle by one store and leaves it off, in text that threads execute. Waits for two
    /// syncs. The code must have aliases already. A run prepares all its sites before they are executed
    /// ([#prepare]).
    public void install(List<PatchPlan> plans) {
        // Step 1.
        for (PatchPlan plan : plans) {
            writer.store(code.alias(plan.neutralAt()), plan.neutral(), plan.neutralSize());
        }
        // Step 2.
        sync.await(sync.ticket());
        // Step 3.
        for (PatchPlan plan : plans) {
            byte[] tail = plan.tail();
            for (int i = 0; i < tail.length; i++) {
                writer.store(code.alias(plan.tailAt() + i), tail[i], 1);
            }
        }
        // Step 4.
        sync.await(sync.ticket());
        // Step 5, for sites whose neutral word is not yet the off word.
        for (PatchPlan plan : plans) {
            writer.store(code.alias(plan.toggleAt()), plan.off(), plan.toggleSize());
        }
    }

    /// Makes a site in text that no thread executes, and leaves it off: the stores of [#install], without
    /// waits. The text is a copy that is not shown yet ([CodeMemory#show]), or a stub that nothing leads to.
    /// A site that is made already stays as it is.
    public void prepare(PatchPlan plan) {
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

    /// Puts the word there that a site has when it is on, in text that no thread executes.
    public void prepareOn(PatchPlan plan) {
        byte[] bytes = new byte[plan.toggleSize()];
        put(bytes, 0, plan.on(), bytes.length);
        Memory.put(code.alias(plan.toggleAt()), bytes);
    }

    private static void put(byte[] bytes, long at, long value, int size) {
        for (int i = 0; i < size; i++) {
            bytes[(int) at + i] = (byte) (value >> Byte.SIZE * i);
        }
    }

    /// Step 6: redirects the hook stub at `stub` to `body`, from one call to the next. One store, no wait;
    /// threads may still be in the old body afterwards, or on the way to it.
    ///
    /// @throws IllegalArgumentException when there is no hook stub, or `body` is out of reach
    public void retarget(long stub, long body) {
        CodeStore store = instructions.sites().retarget(stub, body);
        writer.store(code.alias(store.address()), store.word(), store.size());
    }
}
