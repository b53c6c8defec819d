package org.mdlagent.stress.torture;

import java.io.IOException;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.session.SiteRecordWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.fastinst.install.DisplacedEntries;

/// Prepares entries of functions that no compiler has prepared: a copy of their first instructions, as the agent makes
/// it, and what a jump leads to that takes their place.
final class PunInstaller {
    static final int JUMP = 5;

    private static final long PAGE = 4096;
    private static final int PLACES = 64;
    private static final long PLACE_DISTANCE = 16 << 20;

    /// A displacement that traps wherever a thread stands.
    static final int TRAPS = 0xCCCCCCCC;

    /// add $1,%edx; jmp
    private static final String STUB = "83c201" + "e9";

    private static final int STUB_BYTES = STUB.length() / 2 + Integer.BYTES;

    private final Laboratory laboratory;
    private final InstructionSet instructions;
    private final int displacement;
    private final DisplacedEntries displaced;

    /// @param displacement of all jumps
    PunInstaller(Laboratory laboratory, InstructionSet instructions, int displacement) {
        this.laboratory = laboratory;
        this.instructions = instructions;
        this.displacement = displacement;
        displaced = new DisplacedEntries(laboratory.api(), instructions, laboratory.code(), laboratory::traps);
    }

    /// Memory for sites, with memory where their jumps lead.
    static long place(Laboratory laboratory, int displacement, long bytes) throws IOException {
        long near = laboratory
                .code()
                .allocateNear(
                        laboratory.targets().original(), laboratory.targets().other(), PAGE);
        for (int i = 0; i < PLACES; i++) {
            // Sites of the next cell touch these: a page between keeps their stubs apart.
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
            PatchPlan plan = install(sites.list().get(i), stubs[i]);
            new SiteRecordWriter(table + i * SiteDescriptor.SIZE)
                    .setToggle(laboratory.code().alias(plan.toggleAt()), plan);
        }
        return stubs;
    }

    private long stub(Sites.Site site) {
        return site.address() + JUMP + displacement;
    }

    private PatchPlan install(Sites.Site site, long stub) throws IOException {
        EntryPuns puns = instructions.puns();
        long at = site.address();
        int length = site.subject().body().length;
        byte[] code = Memory.copy(at, length + Subject.AFTER.length);
        EntryPun pun = (EntryPun) puns.fit(laboratory.api()::decode, code, at, length);
        SiteInstruction entry = pun.site();
        int size = puns.displaced(laboratory.api(), entry, at).bytes().length;
        long place = laboratory.arena().allocate(at, size);
        displaced.write(entry, place);
        int back = Math.toIntExact(place - (stub + STUB_BYTES));
        Targets.write(laboratory.code(), stub, Subject.relative(STUB, back));
        PatchPlan plan = puns.plan(pun, at + JUMP + TRAPS);
        long on = plan.on() & 0xFF | Integer.toUnsignedLong(displacement) << Byte.SIZE;
        return PatchPlan.asItIs(at, plan.length(), JUMP, on, plan.off());
    }
}
