package org.mdlagent.fastinst.calls;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.DynamicSection;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.session.FunctionRecord;
import org.mdlagent.arch.session.SiteRecord;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.SiteKind;
import org.mdlagent.arch.site.Transfer;
import org.mdlagent.fastinst.install.ProbedImage;
import org.mdlagent.fastinst.install.SiteTable;
import org.mdlagent.fastinst.provider.FunctionRanges;
import org.mdlagent.fastinst.provider.LoadedFile;

/// The callable functions of one image with their probes, and its code as in its file, because code in memory
/// is being patched. Addresses are offsets in the image.
final class CalleeIndex implements AutoCloseable {
    private final SiteTable sites;
    private final ProbedImage image;
    private final ProbedImage.Placement placement;
    private final ElfFile file;
    private final Map<Long, String> slots;
    private final Map<String, Long> offered;
    /// Offsets of its sites.
    private final Set<Long> offsets = new HashSet<>();

    /// Probes of a function's entries, by the piece of code that contains them, and of its returns.
    private final Map<Long, List<Integer>> entries = new HashMap<>();

    private final Map<Integer, List<Integer>> returns = new HashMap<>();

    /// The target of a call.
    ///
    /// @param function index, or [ReturnSite#NONE]
    /// @param entries  at its own first instruction, not where it is inlined
    record Callee(int function, String symbol, List<Integer> entries, List<Integer> returns, boolean inlinedInItself) {
        static final Callee UNKNOWN = new Callee(ReturnSite.NONE, "", List.of(), List.of(), false);

        /// Whether it is known to be a different function.
        boolean isOtherThan(int caller) {
            return function != caller && (function != ReturnSite.NONE || !symbol.isEmpty());
        }

        /// One of several functions with the same name: only the one actually called runs.
        static Callee oneOf(String symbol, List<Callee> callees) {
            return new Callee(
                    callees.size() == 1 ? callees.getFirst().function : ReturnSite.NONE,
                    symbol,
                    callees.stream().flatMap(callee -> callee.entries.stream()).toList(),
                    callees.stream().flatMap(callee -> callee.returns.stream()).toList(),
                    callees.stream().anyMatch(Callee::inlinedInItself));
        }
    }

    /// @throws IOException when its file cannot be read, or has been replaced
    CalleeIndex(SiteTable sites, ProbedImage image, ProbedImage.Placement placement) throws IOException {
        this.sites = sites;
        this.image = image;
        this.placement = placement;
        file = LoadedFile.open(placement.image());
        DynamicSection dynamic = file.dynamic();
        slots = dynamic == null ? Map.of() : dynamic.linkageSlots();
        offered = dynamic == null ? Map.of() : dynamic.functions();
        image.sites().forEach(this::add);
    }

    private void add(long offset, int site) {
        offsets.add(offset);
        SiteRecord record = sites.get(site);
        FunctionRanges.Range range = image.ranges().around(offset);
        boolean open = record.bodies() != 0;
        if (range == null || !open || range.function() == ReturnSite.NONE || range.function() != function(record)) {
            return;
        }
        SiteKind kind = record.kind();
        for (int i = 0; i < kind.records(); i++) {
            if (kind.ofRecord(i).isExit()) {
                addReturn(range.function(), site + i);
            } else {
                addEntry(range.start(), site + i);
            }
        }
    }

    /// Index of a site's function.
    private static int function(SiteRecord record) {
        FunctionRecord function = record.functionAcquire();
        return function.code() == 0 ? ReturnSite.NONE : function.index();
    }

    private void addEntry(long start, int site) {
        entries.computeIfAbsent(start, key -> new ArrayList<>()).add(site);
    }

    private void addReturn(int function, int site) {
        returns.computeIfAbsent(function, key -> new ArrayList<>()).add(site);
    }

    long bias() {
        return placement.bias();
    }

    FunctionRanges ranges() {
        return image.ranges();
    }

    /// The calls in a piece of code and the jumps out of it, except those of hooks.
    List<Transfer> transfers(FunctionRanges.Range range, InstructionSet instructions, LengthDecoder decoder)
            throws IOException {
        byte[] code = file.code(range.start(), range.end() - range.start());
        return instructions.search().transfers(code, range.start(), decoder).stream()
                .filter(transfer -> !offsets.contains(transfer.address()))
                .toList();
    }

    /// The function that begins at an offset, null if none does.
    @Nullable
    Callee at(long offset) throws IOException {
        FunctionRanges.Range range = image.ranges().around(offset);
        if (range == null || range.start() != offset) {
            return null;
        }
        SymbolTable symbols = file.symbols();
        int symbol = symbols.at(offset);
        List<Integer> begins = entries.getOrDefault(offset, List.of());
        return new Callee(
                range.function(),
                symbol < 0 ? "" : symbols.name(symbol),
                begins,
                returns.getOrDefault(range.function(), List.of()),
                begins.size() > 1);
    }

    /// The function that the image exports under a symbol, null if there is none.
    @Nullable
    Callee offered(String symbol) throws IOException {
        Long offset = offered.get(symbol);
        return offset == null ? null : at(offset);
    }

    /// The symbol whose address the dynamic linker stores in the word at an offset, null if it stores none.
    @Nullable
    String symbolOfSlot(long offset) {
        return slots.get(offset);
    }

    /// The word that the linkage stub at an offset jumps through, 0 if there is no stub.
    long linkageSlot(long offset, InstructionSet instructions) {
        try {
            CodeSearch search = instructions.search();
            return search.linkageSlot(file.code(offset, search.linkageStubBytes()), offset);
        } catch (IOException e) {
            return 0; // there is no code
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
