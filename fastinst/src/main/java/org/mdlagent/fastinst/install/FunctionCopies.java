package org.mdlagent.fastinst.install;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.CodePiece;
import org.mdlagent.arch.code.FunctionCopy;
import org.mdlagent.arch.code.FunctionCopying;
import org.mdlagent.arch.code.TrampolineRange;
import org.mdlagent.arch.elf.CfaRule;
import org.mdlagent.arch.elf.DynamicSection;
import org.mdlagent.arch.elf.EhFrame;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.FrameRule;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.fastinst.provider.FunctionEntries;
import org.mdlagent.fastinst.provider.ImageProbes;
import org.mdlagent.fastinst.provider.KeyedRuntime;

/// Copies of functions that count their basic blocks and arcs. A function's stub continues in its copy, so its site
/// switches the counters with the probe.
///
/// Copies are never freed: threads may return to them.
public final class FunctionCopies {
    private static final CfaRule AT_ENTRY = new CfaRule.RegisterOffset(7, Long.BYTES);
    private static final int PIECES_MAX = 8;

    /// Functions that find out by their return address which image calls them.
    private static final Set<String> CALLER_MATTERS = Set.of("dlsym", "dlvsym", "dlopen", "dlmopen");

    private static final int NAMES_MAX = 5;

    private final NativeApi api;
    private final InstructionSet instructions;
    private final CodeMemory code;
    private final CodeArena arena;
    private final Trampolines trampolines;
    private final BlockTable blocks;
    private final boolean jumps;
    private final List<String> notes;

    /// @param jumps whether computed jumps are told apart
    /// @param notes receives why functions have no copy
    public FunctionCopies(
            NativeApi api,
            InstructionSet instructions,
            CodeMemory code,
            CodeArena arena,
            Trampolines trampolines,
            BlockTable blocks,
            boolean jumps,
            List<String> notes) {
        this.api = api;
        this.instructions = instructions;
        this.code = code;
        this.arena = arena;
        this.trampolines = trampolines;
        this.blocks = blocks;
        this.jumps = jumps;
        this.notes = notes;
    }

    /// @param entry address of the site
    /// @param rules      of each piece
    /// @param exceptions of each piece
    private record Planned(
            int function,
            long entry,
            FunctionCopy copy,
            List<CodePiece> pieces,
            List<List<FrameRule>> rules,
            List<CopiedExceptions> exceptions) {}

    /// Copies the functions of an image that the filter includes.
    ///
    /// @return address of the copy to enter by address of the site
    /// @throws IOException when code memory is refused
    Map<Long, Long> copy(ProbedImage image, ImageProbes probes) throws IOException {
        OfImage planning = new OfImage(image, probes);
        List<Planned> all = new ArrayList<>();
        Map<String, List<Long>> refused = new TreeMap<>();
        int wanted = 0;
        for (ImageProbes.Text text : probes.texts()) {
            for (var site : text.sites()) {
                SiteInstruction hook = site.hook();
                int function = image.functions().get(hook.function() - planning.bias, -1);
                if (function < 0) {
                    continue;
                }
                wanted++;
                try {
                    all.add(planning.plan(hook, function));
                } catch (IllegalArgumentException e) {
                    refused.computeIfAbsent(String.valueOf(e.getMessage()), reason -> new ArrayList<>())
                            .add(hook.function() - planning.bias);
                }
            }
        }
        if (!refused.isEmpty()) {
            note(probes, wanted, refused);
        }
        Map<Long, Long> entries = new HashMap<>();
        for (ImageProbes.Text text : probes.texts()) {
            write(text, all, planning.bias, probes.image().path(), entries);
        }
        return entries;
    }

    private void note(ImageProbes probes, int wanted, Map<String, List<Long>> refused) throws IOException {
        SymbolTable symbols = probes.elf().symbols();
        List<String> reasons = new ArrayList<>();
        refused.forEach((reason, functions) -> {
            List<String> names = functions.stream()
                    .limit(NAMES_MAX)
                    .map(at -> symbols.at(at) < 0 ? "0x" + Long.toHexString(at) : symbols.name(symbols.at(at)))
                    .toList();
            reasons.add(functions.size() + " for: " + reason + " (" + String.join(", ", names)
                    + (functions.size() > names.size() ? ", ..." : "") + ")");
        });
        notes.add(probes.image().path() + ": of " + wanted + " functions are without block counts: "
                + String.join(", ", reasons));
    }

    private void write(ImageProbes.Text text, List<Planned> all, long bias, String path, Map<Long, Long> entries)
            throws IOException {
        List<Planned> own = all.stream()
                .filter(planned -> planned.entry >= text.start() && planned.entry < text.end())
                .toList();
        if (own.isEmpty()) {
            return;
        }
        int size = 0;
        long tables = 0;
        for (Planned planned : own) {
            size = Math.addExact(size, aligned(planned.copy.size()));
            tables += planned.copy.tableSize();
        }
        long base = arena.allocate(text.start(), text.end(), size);
        long table = blocks.tables(code, tables);
        List<TrampolineRange> ranges = new ArrayList<>();
        long at = base;
        int withoutRoom = 0;
        for (Planned planned : own) {
            FunctionCopy copy = planned.copy;
            int counter = blocks.add(planned.function, copy, bias);
            if (counter < 0) {
                withoutRoom++;
                continue;
            }
            Memory.put(code.alias(at), copy.code(at, blocks.address(counter), table));
            if (copy.tableSize() > 0) {
                Memory.put(code.alias(table), copy.table());
                table += copy.tableSize();
            }
            describe(planned, at, ranges, text);
            entries.put(planned.entry, at + copy.place(planned.entry));
            at += aligned(copy.size());
        }
        if (withoutRoom > 0) {
            notes.add(path + ": of " + own.size() + " functions are without block counts: " + withoutRoom
                    + " for: no room for more counters");
        }
        trampolines.makeKnown(base, size, ranges);
    }

    private void describe(Planned planned, long at, List<TrampolineRange> ranges, ImageProbes.Text text)
            throws IOException {
        int start = 0;
        for (int i = 0; i < planned.pieces.size(); i++) {
            boolean last = i == planned.pieces.size() - 1;
            int end = last ? planned.copy.size() : planned.copy.end(i);
            List<FrameRule> rules = new ArrayList<>();
            for (FrameRule rule : planned.rules.get(i)) {
                int place = planned.copy.place(planned.pieces.get(i).address() + rule.offset());
                rules.add(new FrameRule(place - start, rule.instructions()));
            }
            TrampolineRange range = TrampolineRange.displaced(at + start, end - start, rules);
            CopiedExceptions handled = planned.exceptions.get(i);
            if (!handled.isEmpty()) {
                byte[] data = handled.data(planned.pieces.get(i), planned.copy, at, start, end);
                long place = arena.allocate(text.start(), text.end(), data.length);
                Memory.put(code.alias(place), data);
                range = range.handling(new TrampolineRange.Exceptions(handled.personality(), place));
            }
            ranges.add(range);
            start = end;
        }
    }

    private static int aligned(int size) {
        return size + 15 & -16;
    }

    /// Plans the copies of one image.
    private final class OfImage {
        private final ElfFile elf;
        private final @Nullable EhFrame frames;
        private final SymbolTable symbols;
        private final ProbedImage image;
        private final long bias;

        /// Words that lead to functions to which their caller matters, as offsets.
        private final Set<Long> linkage = new HashSet<>();

        /// Why no function of the image has a copy, null if they may.
        private final @Nullable String refusal;

        OfImage(ProbedImage image, ImageProbes probes) throws IOException {
            this.image = image;
            elf = probes.elf();
            frames = elf.ehFrame();
            symbols = elf.symbols();
            bias = probes.image().bias();
            DynamicSection dynamic = elf.dynamic();
            if (dynamic != null) {
                dynamic.slotsOf(CALLER_MATTERS).forEach(slot -> linkage.add(slot.address()));
            }
            boolean isKeyed = elf.isGo() || KeyedRuntime.of(elf, instructions.search()) != null;
            refusal = isKeyed ? "its runtime looks up return addresses" : null;
        }

        Planned plan(SiteInstruction hook, int function) throws IOException {
            boolean enters = hook.role() == SiteInstruction.Role.FUNCTION || hook.countsByJump();
            if (refusal != null) {
                throw new IllegalArgumentException(refusal);
            } else if (!enters) {
                throw new IllegalArgumentException("its probe does not lead its calls");
            }
            EhFrame table = frames;
            int range = table == null ? -1 : table.containing(hook.address() - bias);
            if (table == null || range < 0 || hook.function() - bias < table.start(range)) {
                throw new IllegalArgumentException("no unwind table");
            }
            List<CodePiece> pieces = new ArrayList<>();
            List<Integer> rangesOfPieces = new ArrayList<>();
            List<CopiedExceptions> exceptions = new ArrayList<>();
            List<Long> pads = new ArrayList<>();
            add(table, range, hook.address(), pieces, rangesOfPieces);
            for (int i = 0; i < pieces.size(); i++) {
                for (FunctionCopying.Reference exit : instructions.copying().references(api, pieces.get(i))) {
                    checkCallees(exit);
                    int part = isJump(exit) ? partAt(table, exit, pieces) : -1;
                    if (part >= 0) {
                        add(table, part, table.start(part) + bias, pieces, rangesOfPieces);
                    }
                }
            }
            for (int own : rangesOfPieces) {
                CopiedExceptions handled = CopiedExceptions.of(table, own, elf, bias);
                exceptions.add(handled);
                pads.addAll(handled.pads());
            }
            FunctionCopy copy =
                    instructions.copying().plan(api, pieces, pads, this::isReadable, !elf.positionIndependent(), jumps);
            List<List<FrameRule>> rules = new ArrayList<>();
            for (int i = 0; i < pieces.size(); i++) {
                rules.add(rules(table, rangesOfPieces.get(i), pieces.get(i), copy));
            }
            for (int i = 0; i < pieces.size(); i++) {
                exceptions.get(i).check(pieces.get(i), copy);
            }
            return new Planned(function, hook.address(), copy, pieces, rules, exceptions);
        }

        private void add(EhFrame table, int range, long from, List<CodePiece> pieces, List<Integer> ranges)
                throws IOException {
            if (pieces.size() == PIECES_MAX) {
                throw new IllegalArgumentException("it is in more than " + PIECES_MAX + " pieces");
            }
            long end = table.start(range) + table.length(range) + bias;
            pieces.add(new CodePiece(from, Memory.copy(from, Math.toIntExact(end - from))));
            ranges.add(range);
        }

        private static boolean isJump(FunctionCopying.Reference exit) {
            return exit.kind() == FunctionCopying.Reference.Kind.JUMP
                    || exit.kind() == FunctionCopying.Reference.Kind.BRANCH;
        }

        private void checkCallees(FunctionCopying.Reference reference) throws IOException {
            long target = reference.target();
            boolean refers = linkage.contains(target - bias);
            if (reference.kind() != FunctionCopying.Reference.Kind.DATA
                    && !linkage.isEmpty()
                    && FunctionEntries.isLeftOut(elf, target - bias)) {
                CodeSearch search = instructions.search();
                byte[] stub = Memory.copy(target, search.linkageStubBytes());
                refers = linkage.contains(search.linkageSlot(stub, target - bias));
            }
            if (refers) {
                throw new IllegalArgumentException("it calls dlsym or dlopen, which look at their caller");
            }
        }

        /// A part of the function elsewhere that a jump leads to, -1 for none: jumps to other functions stay as
        /// they are.
        private int partAt(EhFrame table, FunctionCopying.Reference exit, List<CodePiece> pieces) throws IOException {
            long target = exit.target();
            if (pieces.stream().anyMatch(piece -> piece.holds(target))) {
                return -1;
            }
            int range = table.containing(target - bias);
            if (range < 0 || FunctionEntries.isLeftOut(elf, target - bias)) {
                return -1;
            }
            long start = table.start(range);
            if (start != target - bias) {
                if (image.functions().contains(start)) {
                    throw new IllegalArgumentException("it jumps into another function");
                }
                return range;
            }
            boolean isFunction = image.functions().contains(start);
            boolean isPart = !table.cfaAt(start).equals(AT_ENTRY)
                    || isCold(start)
                    || exit.kind() == FunctionCopying.Reference.Kind.BRANCH;
            return !isFunction && isPart ? range : -1;
        }

        private boolean isCold(long start) {
            int symbol = symbols.at(start);
            return symbol >= 0 && symbols.name(symbol).contains(".cold");
        }

        private List<FrameRule> rules(EhFrame table, int range, CodePiece piece, FunctionCopy copy) throws IOException {
            List<FrameRule> all = table.rulesOfFirst(range, Math.toIntExact(table.length(range)));
            if (all == null) {
                throw new IllegalArgumentException("an unusual unwind table");
            }
            int skipped = Math.toIntExact(piece.address() - bias - table.start(range));
            List<FrameRule> own = new ArrayList<>();
            for (FrameRule rule : all) {
                int offset = Math.max(0, rule.offset() - skipped);
                if (copy.place(piece.address() + offset) < 0) {
                    throw new IllegalArgumentException("an unwind table that does not fit the instructions");
                }
                own.add(new FrameRule(offset, rule.instructions()));
            }
            return own;
        }

        private boolean isReadable(long address) {
            for (Segment segment : elf.segments()) {
                if (segment.loaded()
                        && address - bias >= segment.address()
                        && address - bias + Long.BYTES <= segment.address() + segment.memorySize()) {
                    return true;
                }
            }
            return false;
        }
    }
}
