package org.mdlagent.arch.elf;

import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// The unwind tables of an image: code ranges sorted by address, and how to find the caller's frame at each
/// instruction (LSB core, "Exception Frames"; DWARF 5 section 6.4).
///
/// The ranges come from the binary search table of `.eh_frame_hdr`, or, without one, from a scan of `.eh_frame`.
/// Descriptions are read on demand.
public final class EhFrame {
    static final int OMITTED = 0xff;

    private final Cursor frames;
    private final PointerEncoding.Bases bases;
    private final long[] starts;

    /// Positions in `frames` of the descriptions (FDEs).
    private final int[] entries;

    /// Lengths of the ranges read so far; else 0.
    private final int[] lengths;

    private final Map<Integer, Cie> cies = new HashMap<>();
    private @Nullable Cie lastCie;
    private int lastCieAt;

    private EhFrame(Cursor frames, PointerEncoding.Bases bases, long[] starts, int[] entries) {
        this.frames = frames;
        this.bases = bases;
        this.starts = starts;
        this.entries = entries;
        this.lengths = new int[starts.length];
    }

    static @Nullable EhFrame read(ElfFile file) throws ElfFormatException {
        for (int i = 0; i < file.segments().size(); i++) {
            Segment segment = file.segments().get(i);
            if (segment.type() == Segment.GNU_EH_FRAME) {
                Cursor header = file.range(segment.offset(), segment.fileSize(), ".eh_frame_hdr");
                return readIndexed(file, header, segment.address());
            }
        }
        Section section = file.section(".eh_frame");
        if (section == null || section.type() == Section.NO_BITS) {
            return null;
        }
        return walk(file.contents(section), new PointerEncoding.Bases(section.address(), 0));
    }

    private static EhFrame readIndexed(ElfFile file, Cursor header, long address) throws ElfFormatException {
        if (header.u8() != 1) {
            throw header.bad("version 1");
        }
        int framesEncoding = header.u8();
        int countEncoding = header.u8();
        int tableEncoding = header.u8();
        PointerEncoding.Bases here = new PointerEncoding.Bases(address, address);
        long framesAt = PointerEncoding.read(framesEncoding, header, here);
        Cursor frames = file.loadedFrom(framesAt, ".eh_frame");
        PointerEncoding.Bases bases = new PointerEncoding.Bases(framesAt, address);
        if (countEncoding == OMITTED || tableEncoding == OMITTED) {
            return walk(frames, bases);
        }
        long count = PointerEncoding.read(countEncoding, header, here);
        if (count < 0 || count > header.remaining() / 2) {
            throw header.bad("a table as long as its count says");
        }
        long[] starts = new long[(int) count];
        int[] entries = new int[(int) count];
        for (int i = 0; i < count; i++) {
            starts[i] = PointerEncoding.read(tableEncoding, header, here);
            long entry = PointerEncoding.read(tableEncoding, header, here) - framesAt;
            if (entry < 0 || entry >= frames.limit()) {
                throw header.bad("a table that points into .eh_frame");
            }
            if (i > 0 && starts[i - 1] > starts[i]) {
                throw header.bad("a sorted table");
            }
            entries[i] = (int) entry;
        }
        return new EhFrame(frames, bases, starts, entries);
    }

    /// Finds the descriptions without a table.
    private static EhFrame walk(Cursor frames, PointerEncoding.Bases bases) throws ElfFormatException {
        EhFrame reader = new EhFrame(frames, bases, new long[0], new int[0]);
        long[] starts = new long[64];
        int[] entries = new int[64];
        int n = 0;
        Cursor at = frames.copy();
        while (at.remaining() >= 4) {
            int position = at.position();
            long length = at.u32();
            if (length == 0) {
                break;
            }
            Cursor body = at.take(length);
            if (body.i32() == 0) {
                continue;
            }
            if (n == starts.length) {
                starts = Arrays.copyOf(starts, 2 * n);
                entries = Arrays.copyOf(entries, 2 * n);
            }
            starts[n] = reader.new Fde(position).start;
            entries[n] = position;
            n++;
        }
        return sorted(frames, bases, starts, entries, n);
    }

    private static EhFrame sorted(Cursor frames, PointerEncoding.Bases bases, long[] starts, int[] entries, int n) {
        Integer[] order = new Integer[n];
        for (int i = 0; i < n; i++) {
            order[i] = i;
        }
        Arrays.sort(order, Comparator.comparingLong(i -> starts[i]));
        long[] sortedStarts = new long[n];
        int[] sortedEntries = new int[n];
        for (int i = 0; i < n; i++) {
            sortedStarts[i] = starts[order[i]];
            sortedEntries[i] = entries[order[i]];
        }
        return new EhFrame(frames, bases, sortedStarts, sortedEntries);
    }

    /// Number of code ranges; the other methods index them from 0, by ascending address.
    public int size() {
        return starts.length;
    }

    /// Virtual address of a range's first byte.
    public long start(int range) {
        return starts[range];
    }

    /// Bytes of a range.
    public long length(int range) throws ElfFormatException {
        if (lengths[range] == 0) {
            lengths[range] = readLength(entries[range]);
        }
        return lengths[range];
    }

    /// As in [Fde], without allocating one: the lengths of all ranges are requested.
    private int readLength(int position) throws ElfFormatException {
        frames.position(position);
        long rest = lengthOfEntry();
        int idAt = frames.position();
        Cie cie = cieOf(idAt, frames.u32(), frames);
        frames.position(idAt + Integer.BYTES);
        long start = PointerEncoding.read(cie.pointerEncoding, frames, bases);
        long length = PointerEncoding.readSize(cie.pointerEncoding, frames);
        if (frames.position() - idAt > rest) {
            throw frames.bad("a range inside its description");
        }
        requireSound(start, length, frames);
        if (length > Integer.MAX_VALUE) {
            throw frames.bad("a range shorter than 2 GiB");
        }
        return (int) length;
    }

    private static void requireSound(long start, long length, Cursor at) throws ElfFormatException {
        if (length < 0 || start + length < start) {
            throw at.bad("a range that ends behind its start");
        }
    }

    /// Whether a range is a signal trampoline.
    public boolean signalFrame(int range) throws ElfFormatException {
        return new Fde(entries[range]).cie.signalFrame;
    }

    /// Whether, by its description, code of a range saves and restores a register.
    ///
    /// @param register DWARF's number of it, below 64
    public boolean saves(int range, int register) throws ElfFormatException {
        Fde fde = new Fde(entries[range]);
        return new CfaProgram(fde.cie, fde.instructions, fde.start, bases).saves(register);
    }

    /// The range that contains an address, or -1.
    public int containing(long address) throws ElfFormatException {
        int range = lastNotAfter(address);
        return range >= 0 && Long.compareUnsigned(address - starts[range], length(range)) < 0 ? range : -1;
    }

    private int lastNotAfter(long address) {
        int i = Arrays.binarySearch(starts, address);
        return i >= 0 ? i : -i - 2;
    }

    /// The rule in effect before the instruction at an address runs.
    public CfaRule cfaAt(long address) throws ElfFormatException {
        return cfaAt(new long[] {address})[0];
    }

    /// The rules at many addresses, in ascending order: each description is interpreted once.
    public CfaRule[] cfaAt(long[] sortedAddresses) throws ElfFormatException {
        CfaRule[] rules = new CfaRule[sortedAddresses.length];
        int i = 0;
        while (i < rules.length) {
            int range = lastNotAfter(sortedAddresses[i]);
            Fde fde = range < 0 ? null : new Fde(entries[range]);
            if (fde == null || !fde.contains(sortedAddresses[i])) {
                rules[i++] = CfaRule.Undescribed.NO_RANGE;
                continue;
            }
            int end = i + 1;
            while (end < rules.length && fde.contains(sortedAddresses[end])) {
                end++;
            }
            CfaProgram program = new CfaProgram(fde.cie, fde.instructions, fde.start, bases);
            while (i < end) {
                rules[i] = program.advanceTo(sortedAddresses[i]);
                i++;
            }
        }
        return rules;
    }

    /// The rules for the first instructions of a range.
    ///
    /// @param length bytes of these instructions
    /// @return in ascending order of offset; null if the description is unusual
    public @Nullable List<FrameRule> rulesOfFirst(int range, int length) throws ElfFormatException {
        Fde fde = new Fde(entries[range]);
        if (!fde.cie.known || fde.cie.codeAlignment != 1 || fde.cie.dataAlignment != -Long.BYTES) {
            return null;
        }
        return new CfaProgram(fde.cie, fde.instructions, fde.start, bases).rulesUntil(fde.start + length);
    }

    /// Fills in the rows of a range.
    public void rows(int range, CfaRows rows) throws ElfFormatException {
        Fde fde = new Fde(entries[range]);
        rows.clear();
        new CfaProgram(fde.cie, fde.instructions, fde.start, bases).addRows(rows);
    }

    /// Reports the landing pads of a range.
    ///
    /// @param file the image of these tables
    public void landingPads(int range, ElfFile file, LongConsumer pads) throws ElfFormatException {
        Fde fde = new Fde(entries[range]);
        if (fde.exceptionTable != 0) {
            ExceptionTable.landingPads(file, fde.exceptionTable, fde.start, pads);
        }
    }

    /// Whether a range has language-specific data.
    public boolean handlesExceptions(int range) throws ElfFormatException {
        return new Fde(entries[range]).exceptionTable != 0;
    }

    /// Which exceptions the code of a range handles.
    ///
    /// @param file the image of these tables
    /// @return null if it handles none, or the data are unusual
    public @Nullable ExceptionData exceptions(int range, ElfFile file) throws ElfFormatException {
        Fde fde = new Fde(entries[range]);
        return fde.exceptionTable == 0 || fde.cie.personality == 0
                ? null
                : ExceptionTable.read(file, fde.exceptionTable, fde.start, fde.cie);
    }

    /// One range's description (FDE).
    private final class Fde {
        final Cie cie;
        final long start;
        final long length;
        final Cursor instructions;

        /// Address of language-specific data, 0 for none.
        final long exceptionTable;

        Fde(int position) throws ElfFormatException {
            Cursor body = body(position);
            int idAt = body.position();
            this.cie = cieOf(idAt, body.u32(), body);
            this.start = PointerEncoding.read(cie.pointerEncoding, body, bases);
            this.length = PointerEncoding.readSize(cie.pointerEncoding, body);
            requireSound(start, length, body);
            long ownData = 0;
            if (cie.augmented) {
                long length = body.uleb();
                int at = body.position();
                if (cie.dataEncoding != OMITTED && length > 0) {
                    // A null pointer is stored as 0, whatever its base.
                    boolean none = PointerEncoding.readSize(cie.dataEncoding, body.copy()) == 0;
                    ownData = none ? 0 : PointerEncoding.read(cie.dataEncoding, body, bases);
                }
                body.position(at);
                body.skip(length);
            }
            this.exceptionTable = ownData;
            this.instructions = body;
        }

        boolean contains(long address) {
            return Long.compareUnsigned(address - start, length) < 0;
        }
    }

    /// An entry's content after its length.
    private Cursor body(int position) throws ElfFormatException {
        frames.position(position);
        return frames.take(lengthOfEntry());
    }

    private long lengthOfEntry() throws ElfFormatException {
        long length = frames.u32();
        if (length == 0xffff_ffffL) {
            throw frames.bad("32-bit DWARF");
        }
        return length;
    }

    /// The CIE of a description.
    ///
    /// @param idAt     position of the distance to it
    /// @param distance backwards
    private Cie cieOf(int idAt, long distance, Cursor at) throws ElfFormatException {
        if (distance == 0 || distance > idAt) {
            throw at.bad("the distance to a common information entry");
        }
        return cie(idAt - (int) distance);
    }

    /// Most descriptions share their predecessor's CIE.
    private Cie cie(int position) throws ElfFormatException {
        Cie last = lastCie;
        if (last == null || lastCieAt != position) {
            last = findCie(position);
            lastCie = last;
            lastCieAt = position;
        }
        return last;
    }

    private Cie findCie(int position) throws ElfFormatException {
        Cie cie = cies.get(position);
        if (cie == null) {
            Cursor body = body(position);
            if (body.i32() != 0) {
                throw body.bad("a common information entry");
            }
            cie = new Cie(body, bases);
            cies.put(position, cie);
        }
        return cie;
    }
}
