package org.mdlagent.arch.elf;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The functions of an image's code, and the calls that were inlined into them, from `.debug_info` versions 4 and 5
/// (DWARF 5 sections 3.3.1 and 3.3.8). Units of other versions are skipped.
///
/// Long because each way to store an address, a string or a range is a few lines of its own.
public final class DwarfScopes {
    private static final int TAG_SUBPROGRAM = 0x2e;
    private static final int TAG_INLINED = 0x1d;
    private static final int TAG_UNIT = 0x11;

    private static final int NAME = 0x03;
    private static final int LOW = 0x11;
    private static final int HIGH = 0x12;
    private static final int ORIGIN = 0x31;
    private static final int DECLARED_LINE = 0x3b;
    private static final int SPECIFICATION = 0x47;
    private static final int RANGES = 0x55;
    private static final int CALL_LINE = 0x59;
    private static final int LINKAGE_NAME = 0x6e;
    private static final int STRING_BASE = 0x72;
    private static final int ADDRESS_BASE = 0x73;
    private static final int RANGES_BASE = 0x74;

    private static final int FORM_ADDRESS = 0x01;
    private static final int FORM_REFERENCE_ADDRESS = 0x10;
    private static final int FORM_INDIRECT = 0x16;
    private static final int FORM_STRING_INDEX = 0x1a;
    private static final int FORM_ADDRESS_INDEX = 0x1b;
    private static final int FORM_IMPLICIT_CONST = 0x21;
    private static final int FORM_RANGES_INDEX = 0x23;
    private static final int FORM_STRING_INDEX_1 = 0x25;
    private static final int FORM_STRING_INDEX_4 = 0x28;
    private static final int FORM_ADDRESS_INDEX_1 = 0x29;
    private static final int FORM_ADDRESS_INDEX_4 = 0x2c;

    private static final int UNIT_COMPILE = 1;
    private static final int UNIT_PARTIAL = 3;

    /// Entries that refer to others: a definition to its declaration, an inlined call to its function.
    private static final int REFERENCES_MAX = 8;

    private static final int DEPTH_MAX = 1000;

    private final ElfFile file;
    private final DwarfValue value;
    private final Map<Long, Map<Long, Abbreviation>> abbreviations = new HashMap<>();
    private final Map<Long, Entry> entries = new HashMap<>();

    /// By address.
    private final TreeMap<Long, Range> functions = new TreeMap<>();

    /// A function.
    ///
    /// @param name as in the symbol table
    /// @param line where it is declared, 0 if unknown
    public record Function(String name, int line) {}

    /// A call on the way to an address.
    ///
    /// @param callLine of the call in the function around it, in which it was inlined; 0 for the outermost
    public record Call(Function function, int callLine) {}

    private record Abbreviation(int tag, boolean children, int[] names, int[] forms, long[] constants) {}

    private static final class Entry {
        @Nullable
        String name;

        @Nullable
        String linkageName;

        int line;
        int callLine;
        long reference = -1;
        final List<long[]> ranges = new ArrayList<>();
        final List<Entry> inlined = new ArrayList<>();

        boolean contains(long address) {
            return ranges.stream().anyMatch(range -> range[0] <= address && address < range[1]);
        }
    }

    private record Range(long end, Entry function) {}

    private DwarfScopes(ElfFile file) {
        this.file = file;
        value = new DwarfValue(file);
    }

    /// Reads the scopes of a file.
    ///
    /// @return null if it has no `.debug_info`
    public static @Nullable DwarfScopes of(ElfFile file) throws ElfFormatException {
        SectionParts info = file.parts(".debug_info");
        Section forms = file.section(".debug_abbrev");
        if (info == null || forms == null) {
            return null;
        }
        DwarfScopes scopes = new DwarfScopes(file);
        Cursor abbreviations = file.contents(forms);
        DwarfUnits units = new DwarfUnits(info, Long.MAX_VALUE);
        while (units.next()) {
            scopes.new Unit(units, abbreviations).read();
        }
        return scopes;
    }

    /// The calls that lead to an address, outermost first; empty if no function is known there.
    public List<Call> at(long address) {
        Map.Entry<Long, Range> found = functions.floorEntry(address);
        List<Call> calls = new ArrayList<>();
        if (found != null && address < found.getValue().end) {
            add(found.getValue().function, address, calls);
        }
        return calls;
    }

    private void add(Entry entry, long address, List<Call> calls) {
        calls.add(new Call(function(entry), entry.callLine));
        for (Entry inlined : entry.inlined) {
            if (inlined.contains(address)) {
                add(inlined, address, calls);
                return;
            }
        }
    }

    private Function function(Entry entry) {
        String name = null;
        String linkageName = null;
        int line = 0;
        Entry at = entry;
        for (int i = 0; at != null && i < REFERENCES_MAX; i++) {
            name = name == null ? at.name : name;
            linkageName = linkageName == null ? at.linkageName : linkageName;
            line = line == 0 ? at.line : line;
            at = entries.get(at.reference);
        }
        return new Function(linkageName != null ? linkageName : name != null ? name : "", line);
    }

    /// One unit.
    private final class Unit {
        private final Cursor body;
        private final long start;
        private final int offsetSize;

        /// Offset of the cursor's first byte in the section.
        private final long bodyAt;

        private final Cursor allAbbreviations;
        private int version;
        private long stringBase;
        private long addressBase;
        private long rangesBase;
        private long unitLow;

        Unit(DwarfUnits units, Cursor abbreviations) {
            body = units.body();
            start = units.start();
            offsetSize = units.offsetSize();
            bodyAt = start + (offsetSize == 8 ? 12 : 4) - body.position();
            allAbbreviations = abbreviations;
        }

        void read() throws ElfFormatException {
            if (!body.hasRemaining()) {
                return;
            }
            version = body.u16();
            if (version != 4 && version != 5) {
                return;
            }
            long table;
            if (version == 5) {
                int type = body.u8();
                if (type != UNIT_COMPILE && type != UNIT_PARTIAL) {
                    return;
                }
                body.u8();
                table = DwarfValue.offset(body, offsetSize);
            } else {
                table = DwarfValue.offset(body, offsetSize);
                body.u8();
            }
            stringBase = offsetSize == 8 ? 16 : 8;
            addressBase = 8;
            readEntries(abbreviations(table));
        }

        private Map<Long, Abbreviation> abbreviations(long table) throws ElfFormatException {
            Map<Long, Abbreviation> known = abbreviations.get(table);
            if (known == null) {
                known = parse(table);
                abbreviations.put(table, known);
            }
            return known;
        }

        private Map<Long, Abbreviation> parse(long table) throws ElfFormatException {
            Map<Long, Abbreviation> all = new HashMap<>();
            allAbbreviations.position(table);
            for (long code = allAbbreviations.uleb(); code != 0; code = allAbbreviations.uleb()) {
                int tag = (int) allAbbreviations.uleb();
                boolean children = allAbbreviations.u8() != 0;
                List<long[]> attributes = new ArrayList<>();
                while (true) {
                    long name = allAbbreviations.uleb();
                    long form = allAbbreviations.uleb();
                    long constant = form == FORM_IMPLICIT_CONST ? allAbbreviations.sleb() : 0;
                    if (name == 0 && form == 0) {
                        break;
                    }
                    attributes.add(new long[] {name, form, constant});
                }
                all.put(
                        code,
                        new Abbreviation(
                                tag,
                                children,
                                attributes.stream().mapToInt(a -> (int) a[0]).toArray(),
                                attributes.stream().mapToInt(a -> (int) a[1]).toArray(),
                                attributes.stream().mapToLong(a -> a[2]).toArray()));
            }
            return all;
        }

        private void readEntries(Map<Long, Abbreviation> known) throws ElfFormatException {
            // Around the current entry: functions and inlined calls; null for others.
            List<@Nullable Entry> around = new ArrayList<>();
            do {
                long at = bodyAt + body.position();
                long code = body.uleb();
                if (code == 0) {
                    if (!around.isEmpty()) {
                        around.removeLast();
                    }
                    continue;
                }
                Abbreviation abbreviation = known.get(code);
                if (abbreviation == null || around.size() > DEPTH_MAX) {
                    throw body.bad("an entry of a known form");
                }
                Entry entry = readEntry(abbreviation);
                boolean scope = abbreviation.tag == TAG_SUBPROGRAM || abbreviation.tag == TAG_INLINED;
                if (scope) {
                    place(at, entry, abbreviation.tag, around);
                }
                if (abbreviation.children) {
                    around.add(scope ? entry : null);
                }
            } while (body.hasRemaining() && !around.isEmpty());
        }

        private void place(long at, Entry entry, int tag, List<@Nullable Entry> around) {
            entries.put(at, entry);
            if (tag == TAG_SUBPROGRAM) {
                entry.ranges.forEach(range -> functions.put(range[0], new Range(range[1], entry)));
                return;
            }
            for (Entry outer : around.reversed()) {
                if (outer != null) {
                    outer.inlined.add(entry);
                    return;
                }
            }
        }

        private Entry readEntry(Abbreviation abbreviation) throws ElfFormatException {
            Entry entry = new Entry();
            long low = 0;
            int lowForm = 0;
            long high = 0;
            boolean highIsLength = false;
            long ranges = -1;
            boolean rangesIndexed = false;
            boolean wanted = abbreviation.tag == TAG_SUBPROGRAM
                    || abbreviation.tag == TAG_INLINED
                    || abbreviation.tag == TAG_UNIT;
            for (int i = 0; i < abbreviation.names.length; i++) {
                int form = abbreviation.forms[i];
                if (form == FORM_INDIRECT) {
                    form = (int) body.uleb();
                }
                value.read(form, body, offsetSize);
                if (!wanted) {
                    continue;
                }
                long number = form == FORM_IMPLICIT_CONST ? abbreviation.constants[i] : value.number;
                switch (abbreviation.names[i]) {
                    case NAME -> entry.name = text(form);
                    case LINKAGE_NAME -> entry.linkageName = text(form);
                    case DECLARED_LINE -> entry.line = (int) number;
                    case CALL_LINE -> entry.callLine = (int) number;
                    case ORIGIN, SPECIFICATION ->
                        entry.reference = form == FORM_REFERENCE_ADDRESS ? number : start + number;
                    case LOW -> {
                        // The unit's own entry tells the base of indices behind its address.
                        lowForm = form;
                        low = number;
                    }
                    case HIGH -> {
                        highIsLength = form != FORM_ADDRESS && !isAddressIndex(form);
                        high = address(form, number);
                    }
                    case RANGES -> {
                        ranges = number;
                        rangesIndexed = form == FORM_RANGES_INDEX;
                    }
                    case STRING_BASE -> stringBase = number;
                    case ADDRESS_BASE -> addressBase = number;
                    case RANGES_BASE -> rangesBase = number;
                    default -> {}
                }
            }
            low = address(lowForm, low);
            if (abbreviation.tag == TAG_UNIT) {
                unitLow = low;
            } else if (ranges >= 0) {
                readRanges(ranges, rangesIndexed, entry.ranges);
            } else if (high != 0) {
                entry.ranges.add(new long[] {low, highIsLength ? low + high : high});
            }
            return entry;
        }

        private static boolean isAddressIndex(int form) {
            return form == FORM_ADDRESS_INDEX || form >= FORM_ADDRESS_INDEX_1 && form <= FORM_ADDRESS_INDEX_4;
        }

        private @Nullable String text(int form) throws ElfFormatException {
            if (value.hasText()) {
                return value.textIn().stringAt(value.textAt());
            }
            if (form == FORM_STRING_INDEX || form >= FORM_STRING_INDEX_1 && form <= FORM_STRING_INDEX_4) {
                Cursor offsets = contents(".debug_str_offsets");
                Cursor strings = contents(".debug_str");
                if (offsets != null && strings != null) {
                    offsets.position(stringBase + value.number * offsetSize);
                    return strings.stringAt(DwarfValue.offset(offsets, offsetSize));
                }
            }
            return null;
        }

        private long address(int form, long number) throws ElfFormatException {
            return isAddressIndex(form) ? indexedAddress(number) : number;
        }

        private long indexedAddress(long index) throws ElfFormatException {
            Cursor addresses = contents(".debug_addr");
            if (addresses == null) {
                return 0;
            }
            addresses.position(addressBase + index * Long.BYTES);
            return addresses.i64();
        }

        private void readRanges(long offset, boolean indexed, List<long[]> into) throws ElfFormatException {
            Cursor lists = contents(version == 5 ? ".debug_rnglists" : ".debug_ranges");
            if (lists == null) {
                return;
            }
            if (version == 4) {
                lists.position(offset);
                readOldRanges(lists, into);
                return;
            }
            long at = offset;
            if (indexed) {
                lists.position(rangesBase + offset * offsetSize);
                at = rangesBase + DwarfValue.offset(lists, offsetSize);
            }
            lists.position(at);
            readNewRanges(lists, into);
        }

        private void readOldRanges(Cursor lists, List<long[]> into) throws ElfFormatException {
            long base = unitLow;
            while (true) {
                long begin = lists.i64();
                long end = lists.i64();
                if (begin == 0 && end == 0) {
                    return;
                }
                if (begin == -1) {
                    base = end;
                } else {
                    into.add(new long[] {base + begin, base + end});
                }
            }
        }

        /// DWARF 5 section 7.25.
        private void readNewRanges(Cursor lists, List<long[]> into) throws ElfFormatException {
            long base = unitLow;
            while (true) {
                switch (lists.u8()) {
                    case 0 -> {
                        return;
                    }
                    case 1 -> base = indexedAddress(lists.uleb());
                    case 2 -> {
                        long begin = indexedAddress(lists.uleb());
                        into.add(new long[] {begin, indexedAddress(lists.uleb())});
                    }
                    case 3 -> {
                        long begin = indexedAddress(lists.uleb());
                        into.add(new long[] {begin, begin + lists.uleb()});
                    }
                    case 4 -> {
                        long begin = base + lists.uleb();
                        into.add(new long[] {begin, base + lists.uleb()});
                    }
                    case 5 -> base = lists.i64();
                    case 6 -> {
                        long begin = lists.i64();
                        into.add(new long[] {begin, lists.i64()});
                    }
                    case 7 -> {
                        long begin = lists.i64();
                        into.add(new long[] {begin, begin + lists.uleb()});
                    }
                    default -> throw lists.bad("a known kind of range");
                }
            }
        }
    }

    private final Map<String, Cursor> sections = new HashMap<>();

    private @Nullable Cursor contents(String name) throws ElfFormatException {
        Cursor known = sections.get(name);
        Section section = known == null ? file.section(name) : null;
        if (section != null) {
            known = file.contents(section);
            sections.put(name, known);
        }
        return known;
    }
}
