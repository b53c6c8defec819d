package org.mdlagent.stress.torture;

import java.io.IOException;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.code.RelocatedCode;
import org.mdlagent.arch.layout.JumpDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.session.SiteRecordWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.fastinst.install.DisplacedEntries;

/// Prepares entries of functions without compiler support: a copy of their first instructions, as the agent makes
/// it, and the target of the jump that replaces them.
final class PunInstaller {
    static final int JUMP = 5;

    private static final long PAGE = 4096;
    private static final int PLACES = 64;
    private static final long PLACE_DISTANCE = 16 << 20;

    /// A displacement that traps at every byte.
    static final int TRAPS = 0xCCCCCCCC;

    /// add $1,%edx; jmp
    private static final String STUB = "83c201" + "e9";

    private static final int STUB_BYTES = STUB.length() / 2 + Integer.BYTES;

    private final Laboratory laboratory;
    private final InstructionSet instructions;
    private static final int LINE = 64;

    /// Distance from a gate's line: the displacements differ in the lower two bytes.
    private static final int STUB_AT = 0x140;

    private static final int COPY_AT = 0x290;

    private final int displacement;
    private final boolean held;
    private final Breakage breakage;
    private final DisplacedEntries displaced;

    /// @param displacement of all jumps
    /// @param held whether jumps that come in steps stay
    PunInstaller(
            Laboratory laboratory, InstructionSet instructions, int displacement, boolean held, Breakage breakage) {
        this.held = held;
        this.breakage = breakage;
        this.laboratory = laboratory;
        this.instructions = instructions;
        this.displacement = displacement;
        displaced = new DisplacedEntries(laboratory.api(), instructions, laboratory.code(), laboratory::traps);
    }

    /// Memory for sites, with memory at the targets of their jumps.
    static long place(Laboratory laboratory, int displacement, long bytes) throws IOException {
        long near = laboratory
                .code()
                .allocateNear(
                        laboratory.targets().original(), laboratory.targets().other(), PAGE);
        for (int i = 0; i < PLACES; i++) {
            // Sites of the next cell are adjacent: a page in between separates their stubs.
            long start = near - (bytes + 2 * PAGE & -PAGE) - i * PLACE_DISTANCE;
            long first = start + JUMP + displacement;
            if (laboratory.code().allocateAt(first, first + bytes)
                    && laboratory.code().allocateAt(start, start + bytes)) {
                return start;
            }
        }
        throw new IllegalStateException("no room for jumps");
    }

    /// @param table the site table
    /// @return what the jumps lead to
    long[] install(Sites sites, long table) throws IOException {
        long[] stubs = new long[sites.count()];
        for (int i = 0; i < stubs.length; i++) {
            stubs[i] = stub(sites.list().get(i));
            SiteRecordWriter record = new SiteRecordWriter(table + i * SiteDescriptor.SIZE);
            PatchPlan plan = install(sites.list().get(i), stubs[i], record);
            record.setToggle(laboratory.code().alias(plan.toggleAt()), plan);
        }
        return stubs;
    }

    private long stub(Sites.Site site) {
        return site.address() + JUMP + displacement;
    }

    /// @param record receives how the jump comes and goes, where no one store does it
    private PatchPlan install(Sites.Site site, long stub, SiteRecordWriter record) throws IOException {
        EntryPuns puns = instructions.puns();
        long at = site.address();
        int length = site.subject().body().length;
        byte[] code = Memory.copy(at, length + Subject.AFTER.length);
        EntryPun pun = (EntryPun) puns.fit(laboratory.api()::decode, code, at, length, EntryPuns.Covered.TRAPS);
        SiteInstruction entry = pun.site();
        RelocatedCode copy = puns.displaced(laboratory.api(), entry, at);
        int size = copy.bytes().length;
        EntryPun.Cut cut = pun.cut();
        if (cut != null) {
            record.setSteps(steps(at, cut));
            return throughGate(pun, stub, size);
        }
        long place = laboratory.arena().allocate(at, size);
        displaced.write(entry, copy, place, false);
        int back = Math.toIntExact(place - (stub + STUB_BYTES));
        Targets.write(laboratory.code(), stub, Subject.relative(STUB, back));
        PatchPlan plan = puns.plan(pun, at + JUMP + TRAPS);
        long on = plan.on() & 0xFF | Integer.toUnsignedLong(displacement) << Byte.SIZE;
        return PatchPlan.asItIs(at, plan.length(), JUMP, on, plan.off());
    }

    /// A jump that is not there yet.
    private long steps(long at, EntryPun.Cut cut) {
        long steps = laboratory.allocate(JumpDescriptor.SIZE);
        Memory.putLong(steps + JumpDescriptor.AT, laboratory.code().alias(at));
        Memory.putLong(steps + JumpDescriptor.ON, word(Subject.relative("e9", displacement)));
        Memory.putLong(steps + JumpDescriptor.OFF, word(Memory.copy(at, JUMP)));
        Memory.putByte(steps + JumpDescriptor.FRONT, (byte) cut.front());
        Memory.putByte(steps + JumpDescriptor.HEAD, (byte) cut.head());
        Memory.putByte(steps + JumpDescriptor.HELD, (byte) (held ? 1 : 0));
        return steps;
    }

    private static long word(byte[] bytes) {
        long word = 0;
        for (int i = 0; i < JUMP; i++) {
            word |= (bytes[i] & 0xFFL) << Byte.SIZE * i;
        }
        return word;
    }

    /// What a jump in steps leads to: a hop, a gate, and the copy or a stub that goes on there.
    private PatchPlan throughGate(EntryPun pun, long hop, int size) throws IOException {
        long at = pun.site().address();
        long line = laboratory.arena().allocate(at, 2 * LINE + COPY_AT + size) + LINE & -LINE;
        long gate = line + breakage.gateOffset();
        long stub = line + STUB_AT;
        long copy = line + COPY_AT;
        displaced.write(pun.site(), copy, breakage.isEntryPublished());
        Targets.write(laboratory.code(), stub, Subject.relative(STUB, Math.toIntExact(copy - (stub + STUB_BYTES))));
        Targets.write(laboratory.code(), gate, instructions.sites().hop(gate, copy));
        Targets.write(laboratory.code(), hop, instructions.sites().hop(hop, gate));
        // The gate of a broken variant is one that the agent would not plan.
        int on = Math.toIntExact(stub - (gate + JUMP));
        int off = Math.toIntExact(copy - (gate + JUMP));
        return PatchPlan.asItIs(gate + 1, Integer.BYTES, Integer.BYTES, on, off);
    }
}
