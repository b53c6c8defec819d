package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeRanges;
import org.mdlagent.arch.elf.CfaRule;
import org.mdlagent.arch.elf.DynamicSection;
import org.mdlagent.arch.elf.EhFrame;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Relocation;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.CodeSearch.HookScan;
import org.mdlagent.arch.site.CodeSearch.HookTargets;
import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.SiteInstruction;

/// Code compiled with `-finstrument-functions` (GCC manual, "Program Instrumentation Options"): calls of
/// `__cyg_profile_func_enter` and `__cyg_profile_func_exit`, through the procedure linkage table, through the
/// GOT, or direct.
///
/// The hooks are the C library's, which do nothing, so their calls may be switched off. Calls of hooks from a
/// program or another library, which do something, are left alone.
public final class InstrumentFunctionsProvider implements ProbeProvider {
    static final String ENTER = "__cyg_profile_func_enter";
    private static final String EXIT = "__cyg_profile_func_exit";
    private static final Set<String> HOOKS = Set.of(ENTER, EXIT);

    private final InstructionSet instructions;
    private final LengthDecoder decoder;
    private final @Nullable String foreignHooks;

    /// @param foreignHooks path of the image whose hooks the dynamic linker chose, null for the C library's
    public InstrumentFunctionsProvider(
            InstructionSet instructions, LengthDecoder decoder, @Nullable String foreignHooks) {
        this.instructions = instructions;
        this.decoder = decoder;
        this.foreignHooks = foreignHooks;
    }

    /// Whether an image exports hooks, which the dynamic linker prefers to those of images loaded later.
    public static boolean exportsHooks(ElfFile elf) throws IOException {
        DynamicSection dynamic = elf.dynamic();
        return dynamic != null && dynamic.definesAny(HOOKS);
    }

    @Override
    public @Nullable ImageProbes discover(
            LoadedImage image, ElfFile elf, StackArguments.Image arguments, List<String> notes) throws IOException {
        HookTargets targets = targets(image, elf, notes);
        if (targets == null) {
            return null;
        }
        EhFrame frames = elf.ehFrame();
        CodeRanges ranges = new LoadedRanges(image, elf);
        List<ImageProbes.Text> texts = new ArrayList<>();
        int unproved = 0;
        int unpatchable = 0;
        for (Segment segment : elf.executableSegments()) {
            long start = image.bias() + segment.address();
            byte[] code = Memory.copy(start, Math.toIntExact(segment.fileSize()));
            HookScan scan = instructions.search().findHooks(code, start, ranges, targets, decoder);
            unproved += scan.unproved();
            unpatchable += scan.unpatchable();
            if (!scan.sites().isEmpty()) {
                texts.add(new ImageProbes.Text(
                        start, start + segment.memorySize(), withKeys(scan.sites(), frames, image.bias())));
            }
        }
        if (unproved > 0) {
            notes.add(
                    image.path() + ": " + unproved + " possible hook calls left alone: not proved to be instructions");
        }
        if (unpatchable > 0) {
            notes.add(image.path() + ": " + unpatchable + " hook calls left alone: conditional or unusual jumps");
        }
        return texts.isEmpty() ? null : new ImageProbes(image, elf, texts);
    }

    private static List<ProbeSite> withKeys(List<SiteInstruction> hooks, @Nullable EhFrame frames, long bias)
            throws IOException {
        long[] addresses = new long[hooks.size()];
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = hooks.get(i).address() - bias;
        }
        CfaRule @Nullable [] rules = frames == null ? null : frames.cfaAt(addresses);
        List<ProbeSite> sites = new ArrayList<>(addresses.length);
        for (int i = 0; i < addresses.length; i++) {
            sites.add(new ProbeSite(hooks.get(i), rules == null ? FrameKey.UNKNOWN : key(rules[i])));
        }
        return sites;
    }

    private static FrameKey key(CfaRule rule) {
        return rule instanceof CfaRule.RegisterOffset known
                ? new FrameKey(known.register(), known.offset())
                : FrameKey.UNKNOWN;
    }

    private @Nullable HookTargets targets(LoadedImage image, ElfFile elf, List<String> notes) throws IOException {
        DynamicSection dynamic = elf.dynamic();
        List<Relocation> slots = dynamic == null ? List.of() : dynamic.slotsOf(HOOKS);
        if (slots.isEmpty()) {
            return ownHooks(image, elf, notes);
        }
        if (foreignHooks != null) {
            notes.add(image.path() + ": left alone, its hooks are those of " + foreignHooks);
            return null;
        }
        HookSymbols entries = HookSymbols.of(instructions, image, elf, slots(slots, ENTER));
        HookSymbols exits = HookSymbols.of(instructions, image, elf, slots(slots, EXIT));
        return new HookTargets(entries.addresses(), exits.addresses(), entries.slots(), exits.slots());
    }

    private static List<Relocation> slots(List<Relocation> relocations, String symbol) {
        return relocations.stream()
                .filter(relocation -> relocation.symbol().equals(symbol))
                .toList();
    }

    /// Hooks that the image defines for itself: their calls are taken over if the hooks do nothing.
    private @Nullable HookTargets ownHooks(LoadedImage image, ElfFile elf, List<String> notes) throws IOException {
        if (!elf.mentions(ENTER)) {
            return null;
        }
        SymbolTable symbols = elf.symbols();
        long enter = 0;
        long exit = 0;
        for (int i = 0; i < symbols.size(); i++) {
            String name = symbols.name(i);
            if (name.equals(ENTER)) {
                enter = image.bias() + symbols.start(i);
            } else if (name.equals(EXIT)) {
                exit = image.bias() + symbols.start(i);
            }
        }
        if (enter == 0 || exit == 0) {
            return null;
        }
        if (!instructions.search().isEmptyFunction(enter)
                || !instructions.search().isEmptyFunction(exit)) {
            notes.add(image.path() + ": left alone, it has hooks of its own that do something");
            return null;
        }
        return new HookTargets(new long[] {enter}, new long[] {exit}, new long[0], new long[0]);
    }
}
