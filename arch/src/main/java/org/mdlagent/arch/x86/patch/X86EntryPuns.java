package org.mdlagent.arch.x86.patch;

import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.code.RelocatedCode;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.x86.bytes.NativeInstructionDecoder;

/// Instruction punning of x86-64 code.
public final class X86EntryPuns implements EntryPuns {
    private final int atomicUnit;

    /// @param atomicUnit bytes within which a store is atomic for fetch; a power of two, at least 8
    public X86EntryPuns(int atomicUnit) {
        this.atomicUnit = atomicUnit;
    }

    @Override
    public EntryPuns.Fit fit(LengthDecoder decoder, byte[] code, long at, long length, Covered covered) {
        return PunView.fit(code, at, length, atomicUnit, decoder, covered);
    }

    @Override
    public @Nullable Checked checked(byte[] code, long at) {
        GoEntry entry = GoEntry.of(code);
        return entry == null ? null : new Checked(PunView.fit(code, entry, at, atomicUnit), entry.rules);
    }

    @Override
    public long behind(SiteInstruction site) {
        return site.address() + PunView.JUMP_LENGTH;
    }

    @Override
    public PatchPlan plan(EntryPun pun, long target) {
        return new PunView(pun).plan(target);
    }

    @Override
    public PatchPlan gate(long gate, long stub, long copy) {
        return PunView.gate(gate, stub, copy);
    }

    @Override
    public RelocatedCode displaced(NativeApi decoder, SiteInstruction site, long at) {
        return new Relocator(new NativeInstructionDecoder(decoder))
                .relocated(Memory.copy(site.address(), site.length()), site.address(), at);
    }
}
