package org.mdlagent.arch.x86.patch;

import static org.mdlagent.arch.x86.bytes.Encoding.RET;

import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.CodeStore;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.PatchSites;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.x86.bytes.Encoding;
import org.mdlagent.arch.x86.emit.HookStub;
import org.mdlagent.arch.x86.find.EntryReader;

/// Patch sites of x86-64 code.
public final class X86PatchSites implements PatchSites {
    /// Bytes looked at for a site.
    private static final int ENTRY_MAX = 64;

    private static final int JUMP_SIZE = 5;

    private final int atomicUnit;

    /// @param atomicUnit bytes within which a store is atomic for fetch; a power of two, at least 8
    public X86PatchSites(int atomicUnit) {
        this.atomicUnit = atomicUnit;
    }

    @Override
    public @Nullable SiteInstruction entrySite(long at, long end, SiteInstruction.Role role, long function, int room) {
        byte[] code = Memory.copy(at, Math.clamp(end - at, 0, ENTRY_MAX));
        SiteInstruction.Form form = EntryReader.form(code);
        if (form == null || form == SiteInstruction.Form.NOP_SHORT && room < JUMP_SIZE) {
            return null;
        }
        SiteInstruction site = new SiteInstruction(at, form, EntryReader.length(form, code), role, function);
        return new EntryView(site, atomicUnit).isPatchable() ? site : null;
    }

    @Override
    public long[] hops(SiteInstruction site) {
        return isEntry(site) ? new EntryView(site, atomicUnit).hops() : new long[0];
    }

    @Override
    public boolean hasChoice(SiteInstruction site) {
        return isEntry(site) && site.form() == SiteInstruction.Form.NOP_RUN;
    }

    @Override
    public byte[] hop(long at, long target) {
        byte[] jump = new byte[JUMP_SIZE];
        jump[0] = (byte) Encoding.JUMP;
        Encoding.putInt(jump, 1, Encoding.displacement(at + JUMP_SIZE, target));
        return jump;
    }

    @Override
    public PatchPlan plan(SiteInstruction site, long target, long returnStub) {
        return isEntry(site)
                ? new EntryView(site, atomicUnit).plan(target)
                : new HookView(site).plan(target, returnStub, atomicUnit);
    }

    private static boolean isEntry(SiteInstruction site) {
        return site.role() == SiteInstruction.Role.FUNCTION || site.role().counts();
    }

    @Override
    public byte[] emptyFunction() {
        return new byte[] {(byte) RET};
    }

    @Override
    public CodeStore retarget(long stub, long body) {
        return new HookStub(stub).retarget(body);
    }
}
