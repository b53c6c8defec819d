package org.mdlagent.arch.x86.patch;

import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.code.RelocatedCode;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.DisplacementRule;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.x86.bytes.NativeInstructionDecoder;

/// Puns over x86-64 code.
public final class X86EntryPuns implements EntryPuns {
    private final int atomicUnit;

    /// @param atomicUnit bytes within which a store is atomic for fetch; a power of two, at least 8
    public X86EntryPuns(int atomicUnit) {
        this.atomicUnit = atomicUnit;
    }

    @Override
    public @Nullable SiteInstruction site(NativeApi decoder, long at, long end, long next) {
        return PunView.find(at, end, next, atomicUnit, new NativeInstructionDecoder(decoder));
    }

    @Override
    public long behind(SiteInstruction site) {
        return site.address() + PunView.JUMP_LENGTH;
    }

    @Override
    public DisplacementRule rule(NativeApi decoder, SiteInstruction site) {
        return view(decoder, site).rule();
    }

    @Override
    public PatchPlan plan(NativeApi decoder, SiteInstruction site, long target) {
        return view(decoder, site).plan(target);
    }

    private static PunView view(NativeApi decoder, SiteInstruction site) {
        return new PunView(site, new NativeInstructionDecoder(decoder));
    }

    @Override
    public RelocatedCode displaced(NativeApi decoder, SiteInstruction site, long at) {
        return new Relocator(new NativeInstructionDecoder(decoder))
                .relocated(Memory.copy(site.address(), site.length()), site.address(), at);
    }
}
