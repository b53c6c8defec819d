package org.mdlagent.stress.torture;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.code.RelocatedCode;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.layout.TextDescriptor;
import org.mdlagent.arch.session.SiteRecordWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.Scratch;
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
    private final int gateOffset;
    private final DisplacedEntries displaced;

    /// @param displacement of all jumps
    /// @param gateOffset   of gates, against the end of a line
    PunInstaller(Laboratory laboratory, InstructionSet instructions, int displacement, int gateOffset) {
        this.gateOffset = gateOffset;
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
        List<PatchPlan> plans = new ArrayList<>();
        for (int i = 0; i < stubs.length; i++) {
            stubs[i] = stub(sites.list().get(i));
            PatchPlan plan = install(sites.list().get(i), stubs[i]);
            plans.add(plan);
            new SiteRecordWriter(table + i * SiteDescriptor.SIZE)
                    .setToggle(laboratory.code().alias(plan.toggleAt()), plan);
        }
        show(plans);
        return stubs;
    }

    /// Puts jumps that no single store can make into a copy of the text, which replaces the text while it is
    /// executed.
    private void show(List<PatchPlan> plans) {
        List<PatchPlan> unmade = plans.stream().filter(plan -> !plan.isMade()).toList();
        if (unmade.isEmpty()) {
            return;
        }
        long start = unmade.getFirst().address() & -PAGE;
        long length = (unmade.getLast().address() + JUMP - start + PAGE - 1) & -PAGE;
        long text = Scratch.address();
        Memory.putLong(text + TextDescriptor.START, start);
        Memory.putLong(text + TextDescriptor.LENGTH, length);
        Memory.putLong(text + TextDescriptor.ALIAS, 0);
        long result = laboratory.api().codeCopy(text);
        if (result < 0) {
            throw new IllegalStateException("code cannot be copied: errno " + -result);
        }
        long copy = Memory.getLong(text + TextDescriptor.ALIAS);
        for (PatchPlan plan : unmade) {
            Memory.put(copy + plan.address() - start, plan.rewritten());
        }
        laboratory.library().replace(start, length, copy);
    }

    private long stub(Sites.Site site) {
        return site.address() + JUMP + displacement;
    }

    private PatchPlan install(Sites.Site site, long stub) throws IOException {
        EntryPuns puns = instructions.puns();
        long at = site.address();
        int length = site.subject().body().length;
        byte[] code = Memory.copy(at, length + Subject.AFTER.length);
        EntryPun pun = (EntryPun) puns.fit(laboratory.api()::decode, code, at, length, EntryPuns.Covered.TRAPS);
        SiteInstruction entry = pun.site();
        RelocatedCode copy = puns.displaced(laboratory.api(), entry, at);
        int size = copy.bytes().length;
        if (!pun.inOneUnit()) {
            return throughGate(pun, stub, size);
        }
        long place = laboratory.arena().allocate(at, size);
        displaced.write(entry, copy, place);
        int back = Math.toIntExact(place - (stub + STUB_BYTES));
        Targets.write(laboratory.code(), stub, Subject.relative(STUB, back));
        PatchPlan plan = puns.plan(pun, at + JUMP + TRAPS);
        long on = plan.on() & 0xFF | Integer.toUnsignedLong(displacement) << Byte.SIZE;
        return PatchPlan.asItIs(at, plan.length(), JUMP, on, plan.off());
    }

    /// The target of a permanent jump: a hop, a gate, and the copy or a stub that continues there.
    private PatchPlan throughGate(EntryPun pun, long hop, int size) throws IOException {
        long at = pun.site().address();
        long line = laboratory.arena().allocate(at, 2 * LINE + COPY_AT + size) + LINE & -LINE;
        long gate = line + gateOffset;
        long stub = line + STUB_AT;
        long copy = line + COPY_AT;
        displaced.write(pun.site(), copy);
        Targets.write(laboratory.code(), stub, Subject.relative(STUB, Math.toIntExact(copy - (stub + STUB_BYTES))));
        Targets.write(laboratory.code(), gate, instructions.sites().hop(gate, copy));
        Targets.write(laboratory.code(), hop, instructions.sites().hop(hop, gate));
        // The agent would not plan the gate and jumps of a broken variant.
        PatchPlan plan = instructions.puns().plan(pun, at + JUMP + TRAPS, gate & -Long.BYTES, stub, copy);
        int onto = Math.toIntExact(stub - (gate + JUMP));
        int off = Math.toIntExact(copy - (gate + JUMP));
        byte[] jump = Subject.relative("e9", displacement);
        return new PatchPlan(
                at, plan.length(), gate + 1, 4, off, gate + JUMP, new byte[0], gate + 1, 4, onto, off, jump);
    }
}
