package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.CfaRule;
import org.mdlagent.arch.elf.EhFrame;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.FrameRule;
import org.mdlagent.arch.elf.Section;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.arch.site.CodeSearch.FunctionShape;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.Refusal;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.StackUse;

/// The unprepared functions of an ELF file, by ascending link-time address, numbered from 0.
///
/// They come from the unwind tables, and from symbols where the tables have gaps. A range is the cold part of
/// a function if it starts with the return address anywhere but at the top of the stack. It is also a cold
/// part if it has no name, is not aligned, and is reached only by jumps of one other function, or by
/// conditional jumps. This may exclude a function that is called only by tail jumps of one other function,
/// but a probe never fires in the middle of a function.
///
/// Linkage stubs, start code, ifunc resolvers and the functions of [EntrySites#EXCLUDED] are excluded.
public final class FunctionEntries {
    private static final CfaRule AT_ENTRY = new CfaRule.RegisterOffset(7, Long.BYTES);
    private static final Set<String> LEFT_OUT = Set.of(".plt", ".plt.got", ".plt.sec", ".init", ".fini");

    /// Shapes in [ImageFacts]: this, or above it an index of the list.
    private static final int SOUND = 1;

    private static final List<Refusal> SHAPES = List.of(Refusal.LOOPS_TO_ENTRY, Refusal.BRANCH_INTO_ENTRY);

    private final ElfFile elf;
    private final CodeSearch search;
    private final @Nullable EhFrame frames;
    private final StackArguments.Image arguments;
    private final long[] starts;
    private final long[] lengths;

    /// Whether the unwind tables describe it as the target of a call.
    private final BitSet described;

    private final int size;
    private final int coldParts;
    private final @Nullable KeyedRuntime runtime;

    /// The last function [#rules] were read for: they are requested twice.
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
        this.runtime = KeyedRuntime.of(elf, search, arguments.facts());
    }

    /// Finds them; the file must stay open while [#entry] is used.
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
            cold.or(coldParts(elf, search, all, unnamed, arguments.facts()));
        }
        Ranges entries = new Ranges(all.size);
        for (int i = 0; i < all.size; i++) {
            if (!cold.get(i) && !leftOut.get(i)) {
                entries.add(all.starts[i], all.lengths[i], all.described.get(i));
            }
        }
        return new FunctionEntries(elf, search, arguments, entries, cold.cardinality());
    }

    /// [ColdParts], which needs the file's content, and which pieces have no name.
    private static BitSet coldParts(
            ElfFile elf, CodeSearch search, Ranges all, BitSet unnamed, @Nullable ImageFacts facts) throws IOException {
        long question = facts == null ? 0 : question(all, unnamed);
        BitSet known = facts == null ? null : facts.coldParts(question);
        if (known != null) {
            return known;
        }
        BitSet found = new ColdParts(elf, search, all.starts, all.lengths, all.size, unnamed).find();
        if (facts != null) {
            facts.setColdParts(question, found);
        }
        return found;
    }

    /// A number of what is asked about a file.
    private static long question(Ranges all, BitSet unnamed) {
        CRC32 pieces = new CRC32();
        ByteBuffer words = ByteBuffer.allocate(2 * Long.BYTES * all.size);
        for (int i = 0; i < all.size; i++) {
            words.putLong(all.starts[i]).putLong(all.lengths[i]);
        }
        pieces.update(words.flip());
        CRC32 names = new CRC32();
        names.update(unnamed.toByteArray());
        return pieces.getValue() << Integer.SIZE | names.getValue();
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

    /// All ranges of the unwind tables, and the symbols between them.
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

    /// Classifies each range by names, sections and unwind tables.
    ///
    /// @param unnamed receives the ranges whose uses must be examined
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

    /// Whether an address is in code that is no function: linkage stubs, start code.
    public static boolean isLeftOut(ElfFile elf, long address) throws IOException {
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

    /// Number of functions, refused ones included.
    public int size() {
        return size;
    }

    /// Link-time address of a function's first byte.
    public long start(int function) {
        return starts[function];
    }

    /// Bytes of a function; 0 if it is known only from a symbol without a size.
    public long length(int function) {
        return lengths[function];
    }

    /// The runtime of these functions that allows only counting; null for none.
    public @Nullable KeyedRuntime runtime() {
        return runtime;
    }

    /// Number of pieces of code that were left out because other functions jump to them.
    public int coldParts() {
        return coldParts;
    }

    /// What a probe at a function's entry needs, by link-time address, or why there can be none. Decodes its
    /// code in the file each time.
    ///
    /// @param covered what happens to threads stopped at instructions that a jump covers
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

    /// Why a function's calls are only counted, if that is not so for the whole file; null if they are timed.
    public StackUse.@Nullable Reason countedFor(int function) throws IOException {
        return arguments.reason(starts[function]);
    }

    /// A function's first bytes in the file, with the padding after it if they are few.
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

    /// How callers are found from a site's instructions, by offset in the site; null if the unwind table is
    /// unusual.
    ///
    /// @param site in a function that [#entry] does not refuse
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
        ImageFacts facts =
                start == table.start(range) && lengths[function] == table.length(range) ? arguments.facts() : null;
        int shape = facts == null ? 0 : facts.shape(range);
        if (shape == 0) {
            Refusal found = refusalOfShape(function, decoder);
            if (facts != null) {
                facts.shape(range, found == null ? SOUND : SOUND + 1 + SHAPES.indexOf(found));
            }
            return found;
        }
        return shape == SOUND ? null : SHAPES.get(Math.min(shape - SOUND - 1, SHAPES.size() - 1));
    }

    private @Nullable Refusal refusalOfShape(int function, LengthDecoder decoder) throws IOException {
        // Only the few suspects are decoded.
        byte[] code = elf.code(starts[function], lengths[function]);
        // Data among the code does no harm: the code after it is not examined, and the bytes that a jump
        // covers are before it.
        return refusal(search.suspectedShape(code)) == null ? null : refusal(search.shape(code, decoder));
    }

    private static @Nullable Refusal refusal(FunctionShape shape) {
        return shape.loops() ? Refusal.LOOPS_TO_ENTRY : shape.intoEntry() ? Refusal.BRANCH_INTO_ENTRY : null;
    }
}
