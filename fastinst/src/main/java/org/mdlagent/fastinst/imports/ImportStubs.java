package org.mdlagent.fastinst.imports;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.TrampolineRange;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.callpatch.CallPatch;
import org.mdlagent.fastinst.install.FunctionTable;
import org.mdlagent.fastinst.install.SessionTables;
import org.mdlagent.fastinst.install.SiteTable;
import org.mdlagent.fastinst.install.StubBodies;
import org.mdlagent.fastinst.install.Trampolines;
import org.mdlagent.fastinst.provider.ImageProbes;
import org.mdlagent.fastinst.provider.ProbeSite;

/// Makes the stubs of imported functions, with sites and trampolines: in batches, from which functions take
/// one each.
public final class ImportStubs {
    private static final int BLOCK = 64;

    private final FunctionTable functions;
    private final SiteTable sites;
    private final CodeMemory code;
    private final CodeArena arena;
    private final InstructionSet instructions;
    private final CallPatch callPatch;
    private final Trampolines trampolines;
    private final SessionTables tables;
    private final List<Free> free = new ArrayList<>();

    /// @param record index of the site's record
    private record Free(Trampolines.Site site, int record, StubBodies bodies) {}

    /// @param probe number of the site
    record Stub(long address, int probe) {}

    public ImportStubs(
            FunctionTable functions,
            SiteTable sites,
            CodeMemory code,
            CodeArena arena,
            InstructionSet instructions,
            CallPatch callPatch,
            Trampolines trampolines,
            SessionTables tables) {
        this.functions = functions;
        this.sites = sites;
        this.code = code;
        this.arena = arena;
        this.instructions = instructions;
        this.callPatch = callPatch;
        this.trampolines = trampolines;
        this.tables = tables;
    }

    /// @param image  path of the library
    /// @param target address of the function there
    /// @throws IllegalStateException when there is no room in the session
    /// @throws IOException when code memory is refused
    Stub make(String symbol, String image, long target) throws IOException {
        if (free.isEmpty()) {
            addBlock(target);
        }
        Free taken = free.removeLast();
        long at = taken.site.hook().address();
        // No thread has been here yet. The site is not changed.
        byte[] stub = instructions.stubs().importStub(at, target);
        for (int i = taken.site.hook().length(); i < stub.length; i++) {
            Memory.putByte(code.alias(at + i), stub[i]);
        }
        long function = functions.addImported(symbol, image, at);
        sites.assignImported(taken.record, image, function, taken.bodies);
        return new Stub(at, taken.record);
    }

    private void addBlock(long near) throws IOException {
        int size = instructions.stubs().importStubSize();
        int first = sites.add(2 * BLOCK, functions.excluded());
        long start = arena.allocate(near, near, (BLOCK + 1) * size) + size - 1 & -size;
        List<ProbeSite> made = new ArrayList<>();
        for (int i = 0; i < BLOCK; i++) {
            long at = start + (long) i * size;
            Memory.put(code.alias(at), instructions.stubs().importStub(at, 0));
            made.add(new ProbeSite(instructions.stubs().importSite(at), FrameKey.UNKNOWN));
        }
        Trampolines.OfText text =
                trampolines.plan(new ImageProbes.Text(start, start + (long) BLOCK * size, List.copyOf(made)));
        for (int i = 0; i < text.sites().size(); i++) {
            Trampolines.Site site = text.sites().get(i);
            int record = first + 2 * i;
            text.write(site, sites.get(record).address());
            sites.describe(record, site);
            callPatch.prepare(site.plan());
            free.add(new Free(site, record, text.bodies(tables)));
        }
        text.makeKnown();
        trampolines.makeLeavesKnown(new TrampolineRange(start, (long) BLOCK * size, TrampolineRange.Kind.LEAF));
    }
}
