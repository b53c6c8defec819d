package org.mdlagent.arch.elf;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// An image's imports and exports (gABI chapter 5, "Dynamic Section").
///
/// It is found through the program headers alone, so even a fully stripped file has it.
public final class DynamicSection {
    private static final long NULL = 0;
    private static final long NEEDED = 1;
    private static final long PLT_RELOCATIONS_SIZE = 2;
    private static final long HASH = 4;
    private static final long STRINGS = 5;
    private static final long SYMBOLS = 6;
    private static final long RELOCATIONS = 7;
    private static final long RELOCATIONS_SIZE = 8;
    private static final long RELOCATION_SIZE = 9;
    private static final long STRINGS_SIZE = 10;
    private static final long SYMBOL_SIZE = 11;
    private static final long SONAME = 14;
    private static final long PLT_RELOCATION_KIND = 20;
    private static final long PLT_RELOCATIONS = 23;
    private static final long GNU_HASH = 0x6ffffef5;
    private static final long VERSIONS = 0x6ffffff0;
    private static final long VERSIONS_NEEDED = 0x6ffffffe;

    private static final int ENTRY_SIZE = 24;
    private static final int VERSION_ENTRY_SIZE = 16;

    /// Version bits; the bit above them marks a hidden symbol.
    private static final int VERSION_MASK = 0x7fff;

    private final Machine machine;
    private final Cursor symbols;
    private final int symbolCount;
    private final Cursor strings;
    private final Cursor relocations;
    private final Cursor pltRelocations;
    private final long soname;
    private final List<String> needed;

    private final ElfFile file;

    /// Addresses of the symbols' version numbers, and of the versions' names.
    private final long versionsAt;

    private final long neededVersionsAt;

    /// A symbol that an image imports.
    ///
    /// @param version required version, "" for any
    public record Import(Relocation slot, String version) {}

    DynamicSection(ElfFile file, Cursor entries) throws ElfFormatException {
        this.machine = file.machine();
        long stringsAt = 0;
        long stringsSize = 0;
        long symbolsAt = 0;
        long relocationsAt = 0;
        long relocationsSize = 0;
        long pltRelocationsAt = 0;
        long pltRelocationsSize = 0;
        long hashAt = 0;
        long gnuHashAt = 0;
        long name = 0;
        long symbolVersionsAt = 0;
        long versionNamesAt = 0;
        List<Long> neededAt = new ArrayList<>();
        while (entries.remaining() >= 16) {
            long tag = entries.i64();
            long value = entries.i64();
            if (tag == NULL) {
                break;
            } else if (tag == NEEDED) {
                neededAt.add(value);
            } else if (tag == STRINGS) {
                stringsAt = value;
            } else if (tag == STRINGS_SIZE) {
                stringsSize = value;
            } else if (tag == SYMBOLS) {
                symbolsAt = value;
            } else if (tag == RELOCATIONS) {
                relocationsAt = value;
            } else if (tag == RELOCATIONS_SIZE) {
                relocationsSize = value;
            } else if (tag == PLT_RELOCATIONS) {
                pltRelocationsAt = value;
            } else if (tag == PLT_RELOCATIONS_SIZE) {
                pltRelocationsSize = value;
            } else if (tag == HASH) {
                hashAt = value;
            } else if (tag == GNU_HASH) {
                gnuHashAt = value;
            } else if (tag == VERSIONS) {
                symbolVersionsAt = value;
            } else if (tag == VERSIONS_NEEDED) {
                versionNamesAt = value;
            } else if (tag == SONAME) {
                name = value;
            } else if (tag == RELOCATION_SIZE || tag == SYMBOL_SIZE) {
                check(value == ENTRY_SIZE, "table entries of 24 bytes", entries);
            } else if (tag == PLT_RELOCATION_KIND) {
                check(value == RELOCATIONS, "relocations with addends", entries);
            }
        }
        this.soname = name;
        this.relocations = table(file, relocationsAt, relocationsSize, "the relocations");
        this.pltRelocations = table(file, pltRelocationsAt, pltRelocationsSize, "the relocations of the PLT");
        this.strings = table(file, stringsAt, stringsSize, "the dynamic strings");
        if (symbolsAt == 0) {
            this.symbolCount = 0;
            this.symbols = file.range(0, 0, "no dynamic symbols");
        } else {
            this.symbolCount = countSymbols(file, symbolsAt, hashAt, gnuHashAt);
            this.symbols = file.loaded(symbolsAt, (long) symbolCount * SymbolTable.ENTRY_SIZE, "the dynamic symbols");
        }
        List<String> names = new ArrayList<>(neededAt.size());
        for (int i = 0; i < neededAt.size(); i++) {
            names.add(strings.stringAt(neededAt.get(i)));
        }
        this.needed = List.copyOf(names);
        this.file = file;
        this.versionsAt = symbolVersionsAt;
        this.neededVersionsAt = versionNamesAt;
    }

    private static Cursor table(ElfFile file, long address, long size, String part) throws ElfFormatException {
        return size == 0 ? file.range(0, 0, part) : file.loaded(address, size, part);
    }

    private static void check(boolean sound, String expected, Cursor at) throws ElfFormatException {
        if (!sound) {
            throw at.bad(expected);
        }
    }

    /// The size of the symbol table is not stored. The hash tables bound the symbols used in look-ups; the GNU one
    /// omits imported symbols, but relocations name those.
    private int countSymbols(ElfFile file, long symbolsAt, long hashAt, long gnuHashAt) throws ElfFormatException {
        Section section = file.dynamicSymbols();
        if (section != null && section.address() == symbolsAt) {
            return size(section.size() / SymbolTable.ENTRY_SIZE, symbolsAt, file);
        }
        long count = 0;
        if (hashAt != 0) {
            Cursor hash = file.loaded(hashAt, 8, "the symbol hash table");
            hash.skip(4);
            count = hash.u32();
        } else if (gnuHashAt != 0) {
            count = countHashed(file.loadedFrom(gnuHashAt, "the GNU symbol hash table"));
        }
        count = Math.max(count, 1 + Math.max(lastSymbol(relocations), lastSymbol(pltRelocations)));
        return size(count, symbolsAt, file);
    }

    private static int size(long count, long symbolsAt, ElfFile file) throws ElfFormatException {
        if (count < 0 || count > Integer.MAX_VALUE / SymbolTable.ENTRY_SIZE) {
            throw file.bad("a possible number of dynamic symbols at address 0x" + Long.toHexString(symbolsAt), 0);
        }
        return (int) count;
    }

    private static long countHashed(Cursor hash) throws ElfFormatException {
        long buckets = hash.u32();
        long firstHashed = hash.u32();
        long bloomWords = hash.u32();
        hash.skip(4 + bloomWords * 8);
        long last = 0;
        for (long i = 0; i < buckets; i++) {
            last = Math.max(last, hash.u32());
        }
        if (last < firstHashed || last == 0) {
            return firstHashed;
        }
        hash.skip((last - firstHashed) * 4);
        while ((hash.i32() & 1) == 0) {
            last++;
        }
        return last + 1;
    }

    private static long lastSymbol(Cursor table) {
        long last = -1;
        for (int at = 0; at + ENTRY_SIZE <= table.limit(); at += ENTRY_SIZE) {
            last = Math.max(last, symbolOf(table, at));
        }
        return last;
    }

    private static long symbolOf(Cursor table, int at) {
        return table.longAt(at + 8) >>> 32;
    }

    /// The soname, or null.
    public @Nullable String soname() throws ElfFormatException {
        return soname == 0 ? null : strings.stringAt(soname);
    }

    /// Names of the needed libraries, in order.
    public List<String> needed() {
        return needed;
    }

    /// All relocations: those of the procedure linkage table first, then the others, each in the file's order.
    /// Without compact relative ones (`DT_RELR`), which have no symbol.
    public List<Relocation> relocations() throws ElfFormatException {
        List<Relocation> result = new ArrayList<>((pltRelocations.limit() + relocations.limit()) / ENTRY_SIZE);
        addAll(pltRelocations, result);
        addAll(relocations, result);
        return result;
    }

    private void addAll(Cursor table, List<Relocation> result) throws ElfFormatException {
        for (int at = 0; at + ENTRY_SIZE <= table.limit(); at += ENTRY_SIZE) {
            result.add(relocation(table, at, name(symbolOf(table, at), table)));
        }
    }

    private static Relocation relocation(Cursor table, int at, String symbol) {
        return new Relocation(table.longAt(at), (int) table.longAt(at + 8), symbol, table.longAt(at + 16));
    }

    private String name(long symbol, Cursor table) throws ElfFormatException {
        if (symbol == 0) {
            return "";
        }
        check(symbol < symbolCount, "a symbol's index", table);
        return strings.stringAt(symbols.intAt((int) symbol * SymbolTable.ENTRY_SIZE) & 0xffff_ffffL);
    }

    /// Calls back for words that the dynamic linker fills with an address of this image that is stored only in a
    /// relocation. Without compact relative relocations (`DT_RELR`), whose words contain the addresses.
    public void findRelativeWords(WordReceiver receiver) {
        for (int at = 0; at + ENTRY_SIZE <= relocations.limit(); at += ENTRY_SIZE) {
            if ((int) relocations.longAt(at + 8) == machine.relativeWord()) {
                receiver.accept(relocations.longAt(at), relocations.longAt(at + 16));
            }
        }
    }

    /// Receives a word.
    @FunctionalInterface
    public interface WordReceiver {
        /// @param address of the word, at link time
        /// @param value   its content
        void accept(long address, long value);
    }

    /// The words in which the dynamic linker stores the address of one of these symbols: GOT slots, bound at once
    /// or lazily, and plain pointers. Slots of the procedure linkage table come first.
    public List<Relocation> slotsOf(Set<String> names) throws ElfFormatException {
        List<Relocation> result = new ArrayList<>();
        boolean[] wanted = new boolean[symbolCount];
        boolean any = false;
        for (int i = 1; i < symbolCount; i++) {
            wanted[i] = names.contains(name(i, symbols));
            any |= wanted[i];
        }
        if (any) {
            addSlots(pltRelocations, wanted, result);
            addSlots(relocations, wanted, result);
        }
        return result;
    }

    /// The names of functions by the GOT slots that code calls them through, bound at once or lazily. Without
    /// plain pointers, because the program may change them.
    public Map<Long, String> linkageSlots() throws ElfFormatException {
        Map<Long, String> slots = new HashMap<>();
        for (Relocation relocation : relocations()) {
            boolean linkage = relocation.type() == machine.jumpSlot() || relocation.type() == machine.globalData();
            if (linkage && !relocation.symbol().isEmpty()) {
                slots.put(relocation.address(), relocation.symbol());
            }
        }
        return slots;
    }

    /// The words in which the dynamic linker stores addresses of the image itself, with these addresses.
    public Map<Long, Long> addends() {
        Map<Long, Long> addends = new HashMap<>();
        for (int at = 0; at + ENTRY_SIZE <= relocations.limit(); at += ENTRY_SIZE) {
            if ((int) relocations.longAt(at + 8) == machine.relativeWord()) {
                addends.put(relocations.longAt(at), relocations.longAt(at + 16));
            }
        }
        return addends;
    }

    /// The words in which the dynamic linker stores addresses of imported symbols.
    public List<Import> imports() throws ElfFormatException {
        Cursor numbers = table(file, versionsAt, versionsAt == 0 ? 0 : 2L * symbolCount, "the symbols' versions");
        Map<Integer, String> names = versionNames();
        List<Import> result = new ArrayList<>();
        for (Cursor table : List.of(pltRelocations, relocations)) {
            for (int at = 0; at + ENTRY_SIZE <= table.limit(); at += ENTRY_SIZE) {
                long symbol = symbolOf(table, at);
                check(symbol < symbolCount, "a symbol's index", table);
                if (symbol != 0 && isImported((int) symbol) && machine.storesAddress((int) table.longAt(at + 8))) {
                    int number = numbers.limit() == 0 ? 0 : u16(numbers, (int) symbol * Short.BYTES) & VERSION_MASK;
                    String version = names.getOrDefault(number, "");
                    result.add(new Import(relocation(table, at, name(symbol, table)), version));
                }
            }
        }
        return result;
    }

    /// Versions by number: an `Elf64_Verneed` for each library, with an `Elf64_Vernaux` for each version (Linux
    /// Standard Base, Core, 10.7). Each has the distance to the next, 0 in the last.
    private Map<Integer, String> versionNames() throws ElfFormatException {
        if (neededVersionsAt == 0) {
            return Map.of();
        }
        Map<Integer, String> names = new HashMap<>();
        Cursor table = file.loadedFrom(neededVersionsAt, "the versions needed");
        int library = 0;
        int toLibrary;
        int entries = 0;
        do {
            checkVersion(library, ++entries, table);
            int version = library + table.intAt(library + 8);
            int toVersion;
            do {
                checkVersion(version, ++entries, table);
                names.put(u16(table, version + 6), strings.stringAt(table.intAt(version + 8) & 0xffff_ffffL));
                toVersion = table.intAt(version + 12);
                version += toVersion;
            } while (toVersion != 0);
            toLibrary = table.intAt(library + 12);
            library += toLibrary;
        } while (toLibrary != 0);
        return names;
    }

    /// @param entries so far, to bound the walk by the table's size
    private static void checkVersion(int at, int entries, Cursor table) throws ElfFormatException {
        check(at >= 0 && at <= table.limit() - VERSION_ENTRY_SIZE, "a version", table);
        check(entries <= table.limit() / VERSION_ENTRY_SIZE, "an end of the versions", table);
    }

    private static int u16(Cursor table, int at) {
        return table.byteAt(at) | table.byteAt(at + 1) << Byte.SIZE;
    }

    private boolean isImported(int symbol) {
        return symbols.intAt(symbol * SymbolTable.ENTRY_SIZE + 4) >>> Short.SIZE == 0;
    }

    private void addSlots(Cursor table, boolean[] wanted, List<Relocation> result) throws ElfFormatException {
        for (int at = 0; at + ENTRY_SIZE <= table.limit(); at += ENTRY_SIZE) {
            long symbol = symbolOf(table, at);
            check(symbol < wanted.length || symbol == 0, "a symbol's index", table);
            if (symbol != 0 && wanted[(int) symbol] && machine.storesAddress((int) table.longAt(at + 8))) {
                result.add(relocation(table, at, name(symbol, table)));
            }
        }
    }

    /// Exported functions: addresses by symbol.
    public Map<String, Long> functions() throws ElfFormatException {
        Map<String, Long> functions = new HashMap<>();
        for (int i = 1; i < symbolCount; i++) {
            int at = i * SymbolTable.ENTRY_SIZE;
            int head = symbols.intAt(at + 4);
            boolean defined = head >>> 16 != 0;
            if (defined && (head & 15) == SymbolTable.TYPE_FUNCTION) {
                functions.put(name(i, symbols), symbols.longAt(at + 8));
            }
        }
        return functions;
    }

    /// Whether the image exports this symbol.
    public boolean defines(String symbol) {
        return find(Set.of(symbol), true);
    }

    /// Whether the image exports one of these symbols.
    public boolean definesAny(Set<String> names) {
        return find(names, true);
    }

    /// Whether the image imports this symbol.
    public boolean imports(String symbol) {
        return find(Set.of(symbol), false);
    }

    /// Compares bytes, because decoding the names of thousands of symbols would dominate.
    private boolean find(Set<String> wanted, boolean defined) {
        byte[][] names = new byte[wanted.size()][];
        int count = 0;
        for (String name : wanted) {
            names[count++] = Cursor.terminated(name);
        }
        for (int i = 1; i < symbolCount; i++) {
            int at = i * SymbolTable.ENTRY_SIZE;
            boolean definition = symbols.intAt(at + 4) >>> 16 != 0;
            for (int j = 0; definition == defined && j < names.length; j++) {
                if (strings.holdsAt(symbols.intAt(at) & 0xffff_ffffL, names[j])) {
                    return true;
                }
            }
        }
        return false;
    }

    Cursor symbols() {
        return symbols.copy();
    }

    Cursor strings() {
        return strings.copy();
    }
}
