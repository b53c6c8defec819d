package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.CfaRule;
import org.mdlagent.arch.elf.EhFrame;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.FrameRule;
import org.mdlagent.arch.elf.Section;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.FunctionShape;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.Refusal;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.StackUse;

/// The functions of an ELF file that nobody prepared for probes, by ascending address of link time, numbered from 0.
///
/// They come from the unwind tables, and from symbols where these have gaps. A range that starts with the return
/// address anywhere but on top of the stack is the cold part of a function. So is one without a name that nothing but
/// jumps of one other function lead to, or conditional jumps of some, and that is not aligned: rather is a function
/// left out that nothing but jumps of another one calls than a probe fires in the middle of a function.
///
/// Linkage stubs, start code, what chooses functions for the dynamic linker, and the functions of
/// [EntrySites#EXCLUDED] are none either.
public final class FunctionEntries {
    private static final CfaRule AT_ENTRY = new CfaRule.RegisterOffset(7, Long.BYTES);
    private static final Set<String> LEFT_OUT = Set.of(".plt", ".plt.got", ".plt.sec", ".init", ".fini");

    private final ElfFile elf;
    private final CodeSearch search;
    private final @Nullable EhFrame frames;
    private final StackArguments.Image arguments;
    private final long[] starts;
    private final long[] lengths;

    /// Whether the unwind tables say that a call leads there.
    private final BitSet described;

    private final int size;
    private final int coldParts;
    private final @Nullable KeyedRuntime runtime;

    /// What [#rules] were read for last: they are asked for twice.
    private int lastFunction = -1;

    private int lastLength;
    private @Nullable List<FrameRule> lastRules;

    private FunctionEntries(ElfFile elf, CodeSearch search, StackArguments.Image arguments, Ranges found, int coldParts)
            throws IOException {
        this.elf = elf;
        this.search = search;
        this.frames = elf.ehFrame();
        this.arguments = arguments;
        this.starts = found.starts;
        this.lengths = found.lengths;
        this.described = found.described;
        this.size = found.size;
        this.coldParts = coldParts;
        this.runtime = KeyedRuntime.of(elf, search);
    }

    /// Finds them; the file must stay open while [#entry] is asked.
    ///
    /// @param arguments of the file
    public static FunctionEntries of(ElfFile elf, CodeSearch search, StackArguments.Image arguments)
            throws IOException {
        Ranges all = ranges(elf);
        BitSet cold = new BitSet(all.size);
        BitSet leftOut = new BitSet(all.size);
        BitSet unnamed = new BitSet(all.size);
        classify(elf, all, cold, leftOut, unnamed);
        if (!unnamed.isEmpty()) {
            cold.or(new ColdParts(elf, search, all.starts, all.lengths, all.size, unnamed).find());
        }
        Ranges entries = new Ranges(all.size);
        for (int i = 0; i < all.size; i++) {
            if (!cold.get(i) && !leftOut.get(i)) {
                entries.add(all.starts[i], all.lengths[i], all.described.get(i));
            }
        }
        return new FunctionEntries(elf, search, arguments, entries, cold.cardinality());
    }

    /// Pieces of code, by ascending address.
    private static final class Ranges {
        final long[] starts;
        final long[] lengths;
        final BitSet described;
        int size;

        Ranges(int capacity) {
            starts = new long[capacity];
            lengths = new long[capacity];
            described = new BitSet(capacity);
        }

        void add(long start, long length, boolean isFunction) {
            boolean repeated = size > 0 && starts[size - 1] == start;
            if (!repeated) {
                starts[size++] = start;
            }
            lengths[size - 1] = length;
            described.set(size - 1, isFunction);
        }

        long end() {
            return size == 0 ? Long.MIN_VALUE : starts[size - 1] + lengths[size - 1];
        }
    }

    /// All that the unwind tables describe, and the symbols between.
    private static Ranges ranges(ElfFile elf) throws IOException {
        EhFrame frames = elf.ehFrame();
        SymbolTable symbols = elf.symbols();
        int frameCount = frames == null ? 0 : frames.size();
        Ranges all = new Ranges(frameCount + symbols.size());
        CfaRule[] rules = frames == null ? new CfaRule[0] : frames.cfaAt(starts(frames));
        int symbol = 0;
        for (int i = 0; i <= frameCount; i++) {
            long start = frames == null || i == frameCount ? Long.MAX_VALUE : frames.start(i);
            for (; symbol < symbols.size() && symbols.start(symbol) <= start; symbol++) {
                long at = symbols.start(symbol);
                if (at < start && at >= all.end() && inCode(elf, at)) {
                    all.add(at, Math.min(symbols.length(symbol), start - at), false);
                }
            }
            if (frames != null && i < frameCount && frames.length(i) > 0 && inCode(elf, start)) {
                all.add(start, frames.length(i), rules[i].equals(AT_ENTRY));
            }
        }
        return all;
    }

    private static long[] starts(EhFrame frames) {
        long[] starts = new long[frames.size()];
        for (int i = 0; i < starts.length; i++) {
            starts[i] = frames.start(i);
        }
        return starts;
    }

    private static boolean inCode(ElfFile elf, long address) {
        for (Segment segment : elf.executableSegments()) {
            if (segment.holds(address)) {
                return true;
            }
        }
        return false;
    }

    /// What names, sections and unwind tables say of each range.
    ///
    /// @param unnamed receives those that have to be looked at
    private static void classify(ElfFile elf, Ranges all, BitSet cold, BitSet leftOut, BitSet unnamed)
            throws IOException {
        SymbolTable symbols = elf.symbols();
        for (int i = 0; i < all.size; i++) {
            long start = all.starts[i];
            int symbol = symbols.at(start);
            if (start == elf.entry() || isLeftOut(elf, start)) {
                leftOut.set(i);
            } else if (symbol >= 0) {
                String name = symbols.name(symbol);
                cold.set(i, isCold(name));
                leftOut.set(i, symbols.resolver(symbol) || EntrySites.EXCLUDED.contains(name));
            } else {
                unnamed.set(i, all.described.get(i));
                cold.set(i, !all.described.get(i));
            }
        }
    }

    private static boolean isLeftOut(ElfFile elf, long address) throws IOException {
        for (Section section : elf.sections()) {
            if (section.address() != 0
                    && Long.compareUnsigned(address - section.address(), section.size()) < 0
                    && LEFT_OUT.contains(section.name())) {
                return true;
            }
        }
        return false;
    }

    /// `f.cold`, and `f.cold.7` of older compilers.
    private static boolean isCold(String name) {
        int suffix = name.lastIndexOf(".cold");
        return suffix > 0 && (suffix + 5 == name.length() || name.charAt(suffix + 5) == '.');
    }

    /// How many functions there are, those that are refused among them.
    public int size() {
        return size;
    }

    /// Virtual address of a function's first byte, at link time.
    public long start(int function) {
        return starts[function];
    }

    /// Bytes of a function; 0 where only a symbol is known that does not say.
    public long length(int function) {
        return lengths[function];
    }

    /// The runtime whose functions these are, that calls are counted only for; null where that is not so.
    public @Nullable KeyedRuntime runtime() {
        return runtime;
    }

    /// How many pieces of code were left out because other functions jump to them.
    public int coldParts() {
        return coldParts;
    }

    /// What a probe at a function's entry needs, by addresses of link time, or why there can be none. Decodes its code
    /// in the file, each time.
    ///
    /// @param covered what becomes of threads that stand at instructions that a jump covers
    public EntryPuns.Fit entry(int function, EntryPuns puns, LengthDecoder decoder, EntryPuns.Covered covered)
            throws IOException {
        Refusal refusal = refusal(function, decoder);
        if (refusal != null) {
            return refusal;
        }
        EntryPuns.Fit fit = puns.fit(decoder, code(function), starts[function], lengths[function], covered);
        if (!(fit instanceof EntryPun pun)) {
            return fit;
        } else if (rules(function, pun.site()) == null) {
            return Refusal.UNUSUAL_UNWIND_TABLE;
        }
        return runtime != null || countedFor(function) != null ? pun.counted() : pun;
    }

    /// Why a function's calls are counted only, where the file does not say so of all; null where they are timed.
    public StackUse.@Nullable Reason countedFor(int function) throws IOException {
        return arguments.reason(starts[function]);
    }

    /// What the file says of a function's first bytes, and of the filling behind it, if there are few.
    byte[] code(int function) throws IOException {
        long start = starts[function];
        long end = function + 1 < size ? starts[function + 1] : start + lengths[function];
        for (Segment segment : elf.executableSegments()) {
            if (segment.holds(start)) {
                end = Math.min(end, segment.address() + segment.fileSize());
            }
        }
        return elf.code(start, Math.min(end - start, EntryPuns.READ_MAX));
    }

    /// How callers are found from a site's instructions, by offset in the site; null where that is said in an unusual
    /// way.
    ///
    /// @param site in one that [#entry] does not refuse
    @Nullable
    List<FrameRule> rules(int function, SiteInstruction site) throws IOException {
        if (function != lastFunction || site.length() != lastLength) {
            lastRules = readRules(function, site);
            lastFunction = function;
            lastLength = site.length();
        }
        return lastRules;
    }

    private @Nullable List<FrameRule> readRules(int function, SiteInstruction site) throws IOException {
        EhFrame table = Objects.requireNonNull(frames);
        int before = Math.toIntExact(site.address() - site.function());
        List<FrameRule> all = table.rulesOfFirst(table.containing(starts[function]), before + site.length());
        if (all == null || before == 0) {
            return all;
        }
        List<FrameRule> own = new ArrayList<>();
        for (FrameRule rule : all) {
            own.add(new FrameRule(Math.max(0, rule.offset() - before), rule.instructions()));
        }
        return own;
    }

    private @Nullable Refusal refusal(int function, LengthDecoder decoder) throws IOException {
        EhFrame table = frames;
        long start = starts[function];
        int range = table == null ? -1 : table.containing(start);
        if (table != null && range >= 0 && table.signalFrame(range)) {
            return Refusal.SIGNAL_FRAME;
        }
        if (table == null || range < 0 || !described.get(function)) {
            return Refusal.NO_UNWIND_TABLE;
        }
        // Few are suspected, so that few are decoded.
        byte[] code = elf.code(start, lengths[function]);
        // Data among the code do no harm: what is behind them is not looked at, and what a jump covers is in front.
        return refusal(search.suspectedShape(code)) == null ? null : refusal(search.shape(code, decoder));
    }

    private static @Nullable Refusal refusal(FunctionShape shape) {
        return shape.loops() ? Refusal.LOOPS_TO_ENTRY : shape.intoEntry() ? Refusal.BRANCH_INTO_ENTRY : null;
    }
}
