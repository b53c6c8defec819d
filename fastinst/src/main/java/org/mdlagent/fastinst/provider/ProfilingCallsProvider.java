package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.DynamicSection;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.CodeSearch.HookScan;
import org.mdlagent.arch.site.CodeSearch.HookTargets;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.SiteInstruction;

/// Code compiled with `-pg` (GCC manual, "Program Instrumentation Options"): calls of `__fentry__` as the
/// first instruction of each function (`-mfentry`), or of `mcount` after its prologue; or NOPs in their place
/// (`-mnop-mcount`), which are found if `__mcount_loc` lists them (`-mrecord-mcount`).
///
/// A probe at the first instruction sees whole calls. A probe after the prologue sees only that the function
/// was called: the return address is deep in the stack by then, with the saved registers above it.
///
/// A program linked with `-pg` profiles itself with gprof through these calls, which are left alone.
public final class ProfilingCallsProvider implements ProbeProvider {
    static final Set<String> HOOKS = Set.of("__fentry__", "mcount", "_mcount");
    static final String SECTION = "__mcount_loc";

    /// Starts gprof; programs linked with `-pg` call it.
    private static final String GPROF = "__monstartup";

    private static final Set<SiteInstruction.Form> CALLS =
            Set.of(SiteInstruction.Form.CALL, SiteInstruction.Form.CALL_PADDED, SiteInstruction.Form.CALL_INDIRECT);
    private static final Set<SiteInstruction.Form> NOPS = Set.of(SiteInstruction.Form.NOP);

    private final InstructionSet instructions;
    private final LengthDecoder decoder;
    private final @Nullable String foreignHooks;
    private final boolean gprof;

    /// @param foreignHooks path of the image whose hooks the dynamic linker chose, null for the C library's
    /// @param gprof        whether an image [#startsGprof]
    public ProfilingCallsProvider(
            InstructionSet instructions, LengthDecoder decoder, @Nullable String foreignHooks, boolean gprof) {
        this.instructions = instructions;
        this.decoder = decoder;
        this.foreignHooks = foreignHooks;
        this.gprof = gprof;
    }

    /// Whether an image exports hooks, which the dynamic linker prefers to those of images loaded later.
    public static boolean exportsHooks(ElfFile elf) throws IOException {
        DynamicSection dynamic = elf.dynamic();
        return dynamic != null && dynamic.definesAny(HOOKS);
    }

    /// Whether an image makes its process profile itself with gprof.
    public static boolean startsGprof(ElfFile elf) throws IOException {
        DynamicSection dynamic = elf.dynamic();
        return dynamic != null && dynamic.imports(GPROF);
    }

    @Override
    public @Nullable ImageProbes discover(
            LoadedImage image, ElfFile elf, StackArguments.Image arguments, List<String> notes) throws IOException {
        long[] recorded = LoadedSection.addresses(SECTION, image, elf);
        HookSymbols hooks = hooks(image, elf, notes);
        if (recorded.length == 0 && hooks.isEmpty()) {
            return null;
        }
        LoadedRanges ranges = new LoadedRanges(image, elf);
        // Excluded functions as well: such a call costs less when it is switched off.
        EntrySites sites = new EntrySites(image, elf, instructions, address -> true, arguments);
        for (long address : calls(hooks, image, elf, ranges, notes)) {
            add(address, CALLS, ranges, sites);
        }
        for (long address : recorded) {
            add(address, NOPS, ranges, sites);
        }
        return sites.toProbes();
    }

    private void add(long address, Set<SiteInstruction.Form> forms, LoadedRanges ranges, EntrySites sites)
            throws IOException {
        long function = ranges.functionAround(address);
        if (function != 0) {
            boolean first = address == instructions.search().firstInstruction(function);
            sites.add(address, first ? SiteInstruction.Role.FUNCTION : SiteInstruction.Role.COUNT, function, 0, forms);
        }
    }

    /// Addresses of calls that may be switched off.
    private List<Long> calls(HookSymbols hooks, LoadedImage image, ElfFile elf, LoadedRanges ranges, List<String> notes)
            throws IOException {
        List<Long> calls = new ArrayList<>();
        if (hooks.isEmpty()) {
            return calls;
        }
        HookTargets targets = new HookTargets(hooks.addresses(), new long[0], hooks.slots(), new long[0]);
        int unproved = 0;
        for (Segment segment : elf.executableSegments()) {
            long start = image.bias() + segment.address();
            byte[] code = Memory.copy(start, Math.toIntExact(segment.fileSize()));
            HookScan scan = instructions.search().findHooks(code, start, ranges, targets, decoder);
            unproved += scan.unproved();
            for (SiteInstruction site : scan.sites()) {
                calls.add(site.address());
            }
        }
        if (unproved > 0) {
            notes.add(image.path() + ": " + unproved
                    + " possible profiling calls left alone: not proved to be instructions");
        }
        return calls;
    }

    /// Profiling hooks whose calls may be switched off; hooks that a program brings itself do something.
    private HookSymbols hooks(LoadedImage image, ElfFile elf, List<String> notes) throws IOException {
        HookSymbols hooks = HookSymbols.imported(instructions, image, elf, HOOKS);
        if (!hooks.isEmpty() && gprof) {
            notes.add(image.path() + ": profiling calls left alone, the program measures itself with gprof;"
                    + " compile with -pg, but link without");
            return HookSymbols.NONE;
        }
        if (!hooks.isEmpty() && foreignHooks != null) {
            notes.add(image.path() + ": profiling calls left alone, they call functions of " + foreignHooks);
            return HookSymbols.NONE;
        }
        return hooks;
    }
}
