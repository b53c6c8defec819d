package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.CfaRows;
import org.mdlagent.arch.elf.DynamicSection;
import org.mdlagent.arch.elf.EhFrame;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.arch.site.CodeSearch.FunctionUses;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.StackUse;
import org.mdlagent.arch.site.StackUse.Reason;

/// How the pieces of one image's code use the stack above their frames, and what they lead to, for
/// [StackArguments]. A piece is a range of the unwind tables; each is decoded once.
final class StackUses {
    private static final int[] NO_RANGES = {};

    /// Maximum alignment of functions.
    private static final int FILLING_MAX = 64;

    /// Suffix that GCC adds to the local name of an exported function.
    private static final String ALIAS = ".localalias";

    private static final CfaAtEntry AT_ENTRY = new CfaAtEntry(7, Long.BYTES);

    private final ElfFile elf;
    private final CodeSearch search;
    private final LengthDecoder decoder;
    private final UnaryOperator<String> demangler;
    private final @Nullable EhFrame frames;
    private final FileConstants constants;
    private final CfaRows rows = new CfaRows();

    /// CFA rows of the piece that an exit last led to.
    private final CfaRows targetRows = new CfaRows();

    private int targetRange = -1;

    private final @Nullable ImageFacts facts;

    private final BitSet looked = new BitSet();
    private final BitSet proved = new BitSet();
    private final @Nullable Reason[] reasons;
    private final BitSet asked = new BitSet();
    private final BitSet inRegisters = new BitSet();
    private final Map<Integer, int[]> siblings = new HashMap<>();
    private final Map<Integer, List<String>> imports = new HashMap<>();

    private @Nullable Map<Long, String> slots;
    private @Nullable Map<String, long[]> exported;
    private @Nullable BitSet starts;

    /// How the CFA is computed at a function's first instruction.
    private record CfaAtEntry(int register, int offset) {}

    /// @param kept null: nothing is kept of what it finds
    StackUses(
            ElfFile elf,
            CodeSearch search,
            LengthDecoder decoder,
            UnaryOperator<String> demangler,
            ImageFacts.@Nullable Source kept)
            throws IOException {
        this.elf = elf;
        this.search = search;
        this.decoder = decoder;
        this.demangler = demangler;
        this.frames = elf.ehFrame();
        this.constants = new FileConstants(elf);
        this.reasons = new Reason[frames == null ? 0 : frames.size()];
        this.facts = kept == null ? null : kept.of(elf, reasons.length);
    }

    /// The range that contains an address, -1 for none.
    int range(long address) throws IOException {
        return frames == null ? -1 : frames.containing(address);
    }

    boolean isProved(int range) {
        return proved.get(range);
    }

    void prove(int range) {
        proved.set(range);
    }

    void refute(int range, Reason reason) {
        reasons[range] = reason;
    }

    /// Why a piece is not proved by its own code; null if that is harmless.
    @Nullable
    Reason reason(int range) throws IOException {
        if (!looked.get(range)) {
            looked.set(range);
            ImageFacts known = facts;
            if (known != null && known.hasLook(range)) {
                recall(known, range);
            } else {
                reasons[range] = look(range);
                if (known != null) {
                    known.look(range, reasons[range], siblings(range), imports(range));
                }
            }
        }
        return reasons[range];
    }

    private void recall(ImageFacts known, int range) {
        reasons[range] = known.reason(range);
        int[] own = known.siblings(range);
        if (own.length > 0) {
            siblings.put(range, own);
        }
        List<String> leaving = known.imports(range);
        if (!leaving.isEmpty()) {
            imports.put(range, leaving);
        }
    }

    /// What was found out about the file; null if nothing is kept.
    @Nullable
    ImageFacts facts() {
        return facts;
    }

    /// Whether a piece is a function all of whose names say that it has no parameter on the stack. One of
    /// them must be exported, because compilers change the parameters of other functions and keep their
    /// names. Local names count as well: a linker that folds identical code (`--icf=all`) gives one piece the
    /// names of several functions.
    boolean hasParametersInRegisters(int range) throws IOException {
        EhFrame table = frames;
        if (table != null && !asked.get(range)) {
            asked.set(range);
            long start = table.start(range);
            int exported = elf.exportedSymbols().at(start);
            inRegisters.set(
                    range,
                    exported >= 0
                            && nameRegisters(elf.exportedSymbols(), start)
                            && nameRegisters(elf.symbols(), start));
        }
        return inRegisters.get(range);
    }

    private boolean nameRegisters(SymbolTable symbols, long start) {
        int symbol = symbols.at(start);
        return symbol < 0 || symbols.names(symbol).stream().allMatch(this::namesRegisters);
    }

    private boolean namesRegisters(String symbol) {
        String name = symbol.endsWith(ALIAS) ? symbol.substring(0, symbol.length() - ALIAS.length()) : symbol;
        return name.startsWith("_Z") && name.indexOf('.') < 0 && NamedParameters.inRegisters(demangler.apply(name));
    }

    /// The pieces of this image that a piece leads to, after [#reason] has been called for it.
    int[] siblings(int range) {
        return siblings.getOrDefault(range, NO_RANGES);
    }

    /// Whether a piece leaves only by returns, after [#reason] has been called for it.
    boolean leadsNowhere(int range) {
        return !siblings.containsKey(range) && !imports.containsKey(range);
    }

    /// Names of the functions that a piece leaves to through words filled by the dynamic linker.
    List<String> imports(int range) {
        return imports.getOrDefault(range, List.of());
    }

    /// The functions that the image exports under a name: none, one, or all that a resolver may choose from.
    long[] named(String name) throws IOException {
        Map<String, long[]> known = exported;
        if (known == null) {
            known = new HashMap<>();
            SymbolTable symbols = elf.exportedSymbols();
            for (int i = 0; i < symbols.size(); i++) {
                long start = symbols.start(i);
                long[] functions = symbols.resolver(i) ? choice(start) : new long[] {start};
                for (String own : symbols.names(i)) {
                    known.put(own, functions);
                }
            }
            exported = known;
        }
        return known.getOrDefault(name, new long[0]);
    }

    /// The functions that a resolver may choose from: those whose addresses its code takes.
    private long[] choice(long resolver) throws IOException {
        EhFrame table = frames;
        int range = range(resolver);
        if (table == null || range < 0) {
            return new long[0];
        }
        Set<Long> found = new HashSet<>();
        search.findReferences(
                elf.code(resolver, table.length(range)),
                resolver,
                false,
                table.start(0),
                starts(table),
                new FunctionUses() {
                    @Override
                    public void reference(long function) {
                        found.add(function);
                    }

                    @Override
                    public void jump(long from, long function, boolean conditional) {
                        found.add(function);
                    }
                });
        return found.stream().mapToLong(Long::longValue).toArray();
    }

    /// Offsets from the first start.
    private BitSet starts(EhFrame table) {
        BitSet known = starts;
        if (known == null) {
            known = new BitSet();
            for (int i = 0; i < table.size(); i++) {
                long start = table.start(i) - table.start(0);
                if (start <= Integer.MAX_VALUE) {
                    known.set((int) start);
                }
            }
            starts = known;
        }
        return known;
    }

    private @Nullable Reason look(int range) throws IOException {
        EhFrame table = frames;
        if (table == null) {
            return Reason.UNWIND_TABLE;
        }
        long start = table.start(range);
        if (!isCode(start) || table.signalFrame(range)) {
            return Reason.UNWIND_TABLE;
        }
        table.rows(range, rows);
        byte[] code = elf.code(start, table.length(range));
        StackUse use = search.stackUse(code, start, rows, constants, decoder);
        Reason reason = use.reason();
        Set<Integer> led = new HashSet<>();
        for (StackUse.Exit exit : new LinkedHashSet<>(use.exits())) {
            Reason strange = follow(table, range, exit, led);
            reason = reason == null || reason == Reason.INDIRECT && strange != null ? strange : reason;
        }
        table.landingPads(range, elf, pad -> led.add(unchecked(table, pad)));
        led.remove(range);
        if (led.remove(-1)) {
            reason = reason == null || reason == Reason.INDIRECT ? Reason.STRANGE_JUMP : reason;
        }
        if (!led.isEmpty()) {
            siblings.put(range, led.stream().mapToInt(Integer::intValue).toArray());
        }
        return reason;
    }

    private static int unchecked(EhFrame table, long address) {
        try {
            return table.containing(address);
        } catch (IOException e) {
            return -1;
        }
    }

    private @Nullable Reason follow(EhFrame table, int range, StackUse.Exit exit, Set<Integer> led) throws IOException {
        long target = exit.target();
        if (exit.way() == StackUse.Way.TABLE) {
            int part = table.containing(target);
            if (part >= 0 && isSame(table, part, exit)) {
                led.add(part);
            }
            return null;
        }
        boolean asAtEntry = exit.register() == AT_ENTRY.register && exit.offset() == AT_ENTRY.offset;
        long slot = exit.way() == StackUse.Way.SLOT ? target : isCode(target) ? slotOfStub(target) : 0;
        String name = slot == 0 ? null : slots().get(slot);
        if (name != null) {
            imports.computeIfAbsent(range, unused -> new ArrayList<>(1)).add(name);
            return asAtEntry ? null : Reason.DIFFERS;
        } else if (slot != 0) {
            target = constants.relocated(slot);
            if (target == StackUse.Constants.UNKNOWN) {
                return Reason.INDIRECT;
            }
        }
        int piece = table.containing(target);
        if (piece < 0) {
            int next = behindFilling(table, target);
            if (next >= 0 && asAtEntry) {
                led.add(next);
            }
            // With a frame, this is where compilers send unreachable cases.
            return next >= 0 ? null : Reason.STRANGE_JUMP;
        }
        led.add(piece);
        return isSame(table, piece, new StackUse.Exit(target, exit.way(), exit.register(), exit.offset()))
                ? null
                : Reason.DIFFERS;
    }

    private boolean isSame(EhFrame table, int range, StackUse.Exit exit) throws IOException {
        if (targetRange != range) {
            table.rows(range, targetRows);
            targetRange = range;
        }
        int row = targetRows.at((int) (exit.target() - table.start(range)));
        return targetRows.register(row) == exit.register() && targetRows.offset(row) == exit.offset();
    }

    /// The piece that begins after the padding at an address, where another one ends; -1 for none.
    private static int behindFilling(EhFrame table, long address) throws IOException {
        int before = table.containing(address - 1);
        boolean ends =
                before >= 0 && table.start(before) + table.length(before) == address && before + 1 < table.size();
        return ends && table.start(before + 1) - address < FILLING_MAX ? before + 1 : -1;
    }

    private long slotOfStub(long address) throws IOException {
        for (Segment segment : elf.executableSegments()) {
            if (segment.holds(address)) {
                long there = segment.address() + segment.fileSize() - address;
                return search.linkageSlot(elf.code(address, Math.min(search.linkageStubBytes(), there)), address);
            }
        }
        return 0;
    }

    private Map<Long, String> slots() throws IOException {
        Map<Long, String> known = slots;
        if (known == null) {
            DynamicSection dynamic = elf.dynamic();
            known = dynamic == null ? Map.of() : dynamic.linkageSlots();
            slots = known;
        }
        return known;
    }

    private boolean isCode(long address) {
        for (Segment segment : elf.executableSegments()) {
            if (segment.holds(address)) {
                return true;
            }
        }
        return false;
    }
}
