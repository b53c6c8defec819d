package org.mdlagent.arch.elf;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/// A 64-bit little-endian ELF executable, shared object or separate debug file (System V gABI, chapters 4 and 5).
///
/// Opening reads the file header and the program headers. Every other part is read and checked on first use, so
/// unused parts cost nothing and may be damaged. Parts are read, not mapped: a file truncated meanwhile is then
/// ordinary bad input, whereas a mapping would fault. Parts already obtained remain usable after the file is
/// closed.
///
/// All addresses are link-time addresses: add the image's load bias for the process. Not thread-safe.
public final class ElfFile implements AutoCloseable {

    private final ElfContent content;
    private final ElfHeader header;
    private final List<Segment> segments;

    private @Nullable List<Section> sections;
    private @Nullable DynamicSection dynamic;
    private @Nullable SymbolTable symbols;
    private @Nullable SymbolTable exportedSymbols;

    /// The string table of `.symtab`.
    private @Nullable Cursor symbolNames;

    private @Nullable EhFrame ehFrame;
    private @Nullable ElfFile debugFile;
    private boolean debugFileKnown;

    private ElfFile(ElfContent content) throws ElfFormatException {
        this.content = content;
        header = ElfHeader.read(content);
        this.segments = readSegments(header.programHeaders(), header.programHeaderCount());
    }

    /// Opens a file.
    ///
    /// @throws ElfFormatException if it is not a supported ELF file
    /// @throws IOException if it cannot be read
    public static ElfFile open(Path path) throws IOException {
        ElfContent content = ElfContent.open(path);
        try {
            return new ElfFile(content);
        } catch (IOException | RuntimeException e) {
            content.close();
            throw e;
        }
    }

    /// Reads from memory; the array must not change.
    ///
    /// @param name used in messages
    /// @throws ElfFormatException if it is not a supported ELF file
    public static ElfFile of(String name, byte[] bytes) throws ElfFormatException {
        return new ElfFile(ElfContent.of(name, bytes));
    }

    private List<Segment> readSegments(long at, int count) throws ElfFormatException {
        Cursor headers = range(at, (long) count * ElfHeader.PROGRAM_HEADER_SIZE, "the program headers");
        List<Segment> result = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int segmentType = headers.i32();
            int flags = headers.i32();
            long offset = headers.i64();
            long address = headers.i64();
            headers.skip(8);
            long fileSize = headers.i64();
            long memorySize = headers.i64();
            headers.skip(8);
            boolean overflows = offset < 0
                    || fileSize < 0
                    || memorySize < 0
                    || offset + fileSize < 0
                    || (memorySize != 0 && Long.compareUnsigned(address + memorySize - 1, address) < 0);
            if (overflows || (segmentType == Segment.LOAD && fileSize > memorySize)) {
                throw bad("a segment with sound sizes", at + (long) i * ElfHeader.PROGRAM_HEADER_SIZE);
            }
            result.add(new Segment(segmentType, flags, offset, address, fileSize, memorySize));
        }
        return List.copyOf(result);
    }

    /// The path or the given name.
    public String name() {
        return content.name();
    }

    /// The instruction set.
    public Machine machine() {
        return header.machine();
    }

    /// Whether the image is position-independent (`ET_DYN`): a shared object or a PIE.
    public boolean positionIndependent() {
        return header.type() == ElfHeader.TYPE_SHARED;
    }

    /// Virtual address of the first instruction, 0 for none.
    public long entry() {
        return header.entry();
    }

    /// All program headers, in the file's order.
    public List<Segment> segments() {
        return segments;
    }

    /// The loaded segments that hold code, in the file's order.
    public List<Segment> executableSegments() {
        List<Segment> result = new ArrayList<>(2);
        for (Segment segment : segments) {
            if (segment.executable()) {
                result.add(segment);
            }
        }
        return result;
    }

    /// All section headers, in the file's order, with the null section; empty if they were stripped.
    public List<Section> sections() throws ElfFormatException {
        List<Section> result = sections;
        if (result == null) {
            result = readSections();
            sections = result;
        }
        return result;
    }

    private List<Section> readSections() throws ElfFormatException {
        Cursor headers = range(
                header.sectionHeaders(),
                (long) header.sectionCount() * ElfHeader.SECTION_HEADER_SIZE,
                "the section headers");
        Cursor names = null;
        if (header.sectionCount() > 0 && header.sectionNames() != 0) {
            if (header.sectionNames() < 0 || header.sectionNames() >= header.sectionCount()) {
                throw bad("the index of the section name table", 62);
            }
            Cursor nameTable = headers.copy();
            nameTable.skip((long) header.sectionNames() * ElfHeader.SECTION_HEADER_SIZE + 24);
            names = range(nameTable.i64(), nameTable.i64(), "the section name table");
        }
        List<Section> result = new ArrayList<>(header.sectionCount());
        for (int i = 0; i < header.sectionCount(); i++) {
            long nameAt = headers.u32();
            int sectionType = headers.i32();
            long flags = headers.i64();
            long address = headers.i64();
            long offset = headers.i64();
            long size = headers.i64();
            int link = headers.i32();
            headers.skip(12);
            long entrySize = headers.i64();
            String sectionName = i == 0 || names == null ? "" : names.stringAt(nameAt);
            result.add(new Section(sectionName, sectionType, flags, address, offset, size, link, entrySize));
        }
        return List.copyOf(result);
    }

    /// The first section with a name, or null.
    public @Nullable Section section(String sectionName) throws ElfFormatException {
        List<Section> all = sections();
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).name().equals(sectionName)) {
                return all.get(i);
            }
        }
        return null;
    }

    private @Nullable Section section(int sectionType) throws ElfFormatException {
        List<Section> all = sections();
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).type() == sectionType) {
                return all.get(i);
            }
        }
        return null;
    }

    /// The build id in lower-case hexadecimal, or null.
    public @Nullable String buildId() throws ElfFormatException {
        for (int i = 0; i < segments.size(); i++) {
            Segment segment = segments.get(i);
            if (segment.type() == Segment.NOTE) {
                String id = BuildId.of(range(segment.offset(), segment.fileSize(), "the notes"));
                if (id != null) {
                    return id;
                }
            }
        }
        List<Section> all = sections();
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).type() == Section.NOTE) {
                String id = BuildId.of(contents(all.get(i)));
                if (id != null) {
                    return id;
                }
            }
        }
        return null;
    }

    /// A checksum of what is loaded, and of the section headers. Differs for files that differ in these by accident.
    public long checksum() throws ElfFormatException {
        CRC32 loaded = new CRC32();
        for (int i = 0; i < segments.size(); i++) {
            Segment segment = segments.get(i);
            if (segment.type() == Segment.LOAD) {
                content.check(loaded, segment.offset(), segment.fileSize(), "a segment");
            }
        }
        CRC32 headers = new CRC32();
        content.check(
                headers,
                header.sectionHeaders(),
                (long) header.sectionCount() * ElfHeader.SECTION_HEADER_SIZE,
                "the section headers");
        return loaded.getValue() << Integer.SIZE | headers.getValue();
    }

    /// An image in memory.
    public interface Image {
        /// Its program headers, as stored in memory.
        byte[] programHeaders(int length);

        /// Bytes at a link-time address.
        byte[] bytes(long address, int length);
    }

    /// Whether the file has the same program headers and notes, including the build id, as an image.
    public boolean isFileOf(Image image) throws ElfFormatException {
        byte[] headers = range(
                        header.programHeaders(),
                        (long) header.programHeaderCount() * ElfHeader.PROGRAM_HEADER_SIZE,
                        "the program headers")
                .rest();
        if (!Arrays.equals(headers, image.programHeaders(headers.length))) {
            return false;
        }
        for (int i = 0; i < segments.size(); i++) {
            Segment segment = segments.get(i);
            if (segment.type() == Segment.NOTE) {
                byte[] notes =
                        range(segment.offset(), segment.fileSize(), "the notes").rest();
                if (!Arrays.equals(notes, image.bytes(segment.address(), notes.length))) {
                    return false;
                }
            }
        }
        return true;
    }

    /// The separate debug file ([DebugFile]), or null. It is closed with this one.
    public @Nullable ElfFile debugFile() throws ElfFormatException {
        if (!debugFileKnown) {
            debugFileKnown = true;
            debugFile = DebugFile.of(this);
        }
        return debugFile;
    }

    /// The dynamic section, or null for a statically linked image.
    public @Nullable DynamicSection dynamic() throws ElfFormatException {
        if (dynamic == null) {
            for (int i = 0; i < segments.size(); i++) {
                Segment segment = segments.get(i);
                if (segment.type() == Segment.DYNAMIC) {
                    dynamic = new DynamicSection(
                            this, range(segment.offset(), segment.fileSize(), "the dynamic section"));
                    break;
                }
            }
        }
        return dynamic;
    }

    /// The functions of `.symtab`, here or in the [#debugFile]; else those in Go's runtime tables, or else those
    /// in the dynamic symbol table.
    public SymbolTable symbols() throws ElfFormatException {
        SymbolTable result = symbols;
        if (result == null) {
            result = readSymbols();
            symbols = result;
        }
        return result;
    }

    /// Whether this file itself may have a function of this name. Does not read its symbols, because most images
    /// lack the name.
    public boolean mentions(String function) throws ElfFormatException {
        Section table = section(Section.SYMBOL_TABLE);
        if (table != null) {
            return symbolNames(table).holds(Cursor.terminated(function));
        }
        DynamicSection linking = dynamic();
        return linking != null && linking.definesAny(Set.of(function));
    }

    /// Whether this file itself defines or imports a symbol of this name.
    public boolean names(String symbol) throws ElfFormatException {
        DynamicSection linking = dynamic();
        return mentions(symbol) || linking != null && linking.imports(symbol);
    }

    /// Whether a section contains the bytes of a text.
    public boolean holds(String sectionName, String text) throws ElfFormatException {
        Section found = section(sectionName);
        return found != null
                && found.type() != Section.NO_BITS
                && contents(found).holds(text.getBytes(StandardCharsets.UTF_8));
    }

    private Cursor symbolNames(Section table) throws ElfFormatException {
        Cursor result = symbolNames;
        if (result == null) {
            result = contents(linked(table));
            symbolNames = result;
        }
        return result;
    }

    private SymbolTable readSymbols() throws ElfFormatException {
        Section table = section(Section.SYMBOL_TABLE);
        if (table != null) {
            if (table.entrySize() != SymbolTable.ENTRY_SIZE || table.size() % SymbolTable.ENTRY_SIZE != 0) {
                throw bad("symbols of 24 bytes", table.offset());
            }
            return new SymbolTable(contents(table), symbolNames(table), executableSegments());
        }
        ElfFile apart = debugFile();
        if (apart != null && apart.section(Section.SYMBOL_TABLE) != null) {
            return apart.symbols();
        }
        SymbolTable ofGo = goFunctions();
        return ofGo != null ? ofGo : exportedSymbols();
    }

    /// Whether Go's compiler produced it.
    public boolean isGo() throws ElfFormatException {
        return GoFunctions.areIn(this);
    }

    /// The functions in Go's runtime tables; null if it is not a Go program, or from a version before 1.18.
    public @Nullable SymbolTable goFunctions() throws ElfFormatException {
        return GoFunctions.of(this);
    }

    /// The exported functions.
    public SymbolTable exportedSymbols() throws ElfFormatException {
        SymbolTable result = exportedSymbols;
        if (result == null) {
            result = readExportedSymbols();
            exportedSymbols = result;
        }
        return result;
    }

    private SymbolTable readExportedSymbols() throws ElfFormatException {
        DynamicSection linking = dynamic();
        if (linking != null) {
            return new SymbolTable(linking.symbols(), linking.strings(), executableSegments());
        }
        Cursor none = range(0, 0, "no symbols");
        return new SymbolTable(none, none.copy(), List.of());
    }

    /// The dynamic symbol table by section headers; null without them.
    @Nullable
    Section dynamicSymbols() throws ElfFormatException {
        return section(Section.DYNAMIC_SYMBOLS);
    }

    private Section linked(Section section) throws ElfFormatException {
        List<Section> all = sections();
        if (section.link() <= 0
                || section.link() >= all.size()
                || all.get(section.link()).type() != Section.STRING_TABLE) {
            throw bad("a string table for the symbols", section.offset());
        }
        return all.get(section.link());
    }

    /// The unwind tables, or null if the image has none.
    public @Nullable EhFrame ehFrame() throws ElfFormatException {
        if (ehFrame == null) {
            ehFrame = EhFrame.read(this);
        }
        return ehFrame;
    }

    /// The source lines, here or in the [#debugFile], or null.
    public @Nullable DwarfLines lines() throws ElfFormatException {
        return lines(() -> {});
    }

    /// The source lines, or null if the image has no line tables.
    ///
    /// @param afterUnit runs after each unit; there may be gigabytes of them
    public @Nullable DwarfLines lines(Runnable afterUnit) throws ElfFormatException {
        ElfFile file = parts(".debug_line") == null ? debugFile() : this;
        SectionParts lines = file == null ? null : file.parts(".debug_line");
        return file == null || lines == null ? null : new DwarfLines(file, lines, afterUnit);
    }

    /// Functions and inlined calls, from this file or its debug file; null if neither has debug information.
    public @Nullable DwarfScopes scopes() throws ElfFormatException {
        ElfFile file = parts(".debug_info") == null ? debugFile() : this;
        return file == null ? null : DwarfScopes.of(file);
    }

    /// The contents of a section, read in parts; null if it is missing or empty.
    @Nullable
    SectionParts parts(String sectionName) throws ElfFormatException {
        Section found = section(sectionName);
        return found == null || found.type() == Section.NO_BITS ? null : new SectionParts(this, found);
    }

    /// The bytes of a section, decompressed if necessary; null if it is missing or empty.
    public byte @Nullable [] sectionBytes(String sectionName) throws ElfFormatException {
        Section found = section(sectionName);
        return found == null || found.type() == Section.NO_BITS
                ? null
                : contents(found).rest();
    }

    /// The contents of a section, decompressed if necessary (gABI chapter 4, "Section Compression").
    Cursor contents(Section section) throws ElfFormatException {
        if (section.type() == Section.NO_BITS) {
            throw bad("contents of section " + section.name(), section.offset());
        }
        Cursor raw = range(section.offset(), section.size(), section.name());
        return section.compressed() ? content.expand(section, raw) : raw;
    }

    /// A part of the file.
    Cursor range(long offset, long length, String part) throws ElfFormatException {
        return content.range(offset, length, part);
    }

    /// The part of the file that is loaded at an address.
    Cursor loaded(long address, long length, String part) throws ElfFormatException {
        Segment segment = loadedAt(address, part);
        long into = address - segment.address();
        if (length < 0 || length > segment.fileSize() - into) {
            throw bad(part + " inside one segment", segment.offset() + into);
        }
        return range(segment.offset() + into, length, part);
    }

    /// Code as the file has it.
    ///
    /// @param address virtual address, at link time
    public byte[] code(long address, long length) throws ElfFormatException {
        return loaded(address, length, "the code").rest();
    }

    /// The part of the file that is loaded at an address, to the end of its segment.
    Cursor loadedFrom(long address, String part) throws ElfFormatException {
        Segment segment = loadedAt(address, part);
        long into = address - segment.address();
        return range(segment.offset() + into, segment.fileSize() - into, part);
    }

    private Segment loadedAt(long address, String part) throws ElfFormatException {
        for (int i = 0; i < segments.size(); i++) {
            Segment segment = segments.get(i);
            if (segment.type() == Segment.LOAD && segment.holds(address)) {
                return segment;
            }
        }
        throw bad(part + " at address 0x" + Long.toHexString(address), 0);
    }

    ElfFormatException bad(String expected, long offset) {
        return content.bad(expected, offset);
    }

    @Override
    public void close() throws IOException {
        content.close();
        if (debugFile != null) {
            debugFile.close();
        }
    }
}
