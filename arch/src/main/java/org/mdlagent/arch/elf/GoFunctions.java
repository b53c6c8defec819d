package org.mdlagent.arch.elf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The functions of a Go program, from its runtime's function table, which stripped files have too.
///
/// Its header, of Go 1.18 and later (`runtime/symtab.go`, `pcHeader`; offsets count from its start):
///
/// | offset | what |
/// | --- | --- |
/// | 0 | magic: `F0 FF FF FF` or `F1 FF FF FF`, 0, 0, smallest instruction, bytes of a pointer |
/// | 8 | how many functions |
/// | 24 | where the text starts |
/// | 32 | offset of names |
/// | 64 | offset of the functions: pairs of 32-bit offsets, of code in the text, and of what describes it from here |
///
/// The second word of a function's description is the offset of its name. A final entry marks the end of the last
/// function.
final class GoFunctions {
    static final String SECTION = ".gopclntab";

    /// In position-independent programs the table is in the RELRO segment.
    private static final String RELOCATED_SECTION = ".data.rel.ro";

    private static final String BUILD_ID_SECTION = ".note.go.buildid";

    private static final int MAGIC_1_18 = 0xFFFFFFF0;
    private static final int MAGIC_1_20 = 0xFFFFFFF1;

    /// Alignment of the table.
    private static final int ALIGNMENT = 32;

    private static final int HEADER_SIZE = 72;
    private static final int COUNT_AT = 8;
    private static final int TEXT_AT = 24;
    private static final int NAMES_AT = 32;
    private static final int FUNCTIONS_AT = 64;
    private static final int PAIR_SIZE = 8;

    /// A global function in some section.
    private static final int HEAD = 1 << 16 | 1 << 4 | SymbolTable.TYPE_FUNCTION;

    private GoFunctions() {}

    /// Whether a file is a Go program or library.
    static boolean areIn(ElfFile file) throws ElfFormatException {
        return file.section(SECTION) != null
                || file.section(RELOCATED_SECTION + SECTION) != null
                || file.section(BUILD_ID_SECTION) != null;
    }

    /// Null if there is no table of a known version.
    static @Nullable SymbolTable of(ElfFile file) throws ElfFormatException {
        if (!areIn(file)) {
            return null;
        }
        for (String name : List.of(SECTION, RELOCATED_SECTION + SECTION, RELOCATED_SECTION)) {
            Section section = file.section(name);
            if (section != null) {
                Cursor contents = file.contents(section);
                int at = start(contents);
                if (at >= 0) {
                    return read(contents.between(at, contents.limit()), file.executableSegments());
                }
            }
        }
        return null;
    }

    private static int start(Cursor contents) {
        for (int at = 0; at <= contents.limit() - HEADER_SIZE; at += ALIGNMENT) {
            int magic = contents.intAt(at);
            if ((magic == MAGIC_1_18 || magic == MAGIC_1_20)
                    && (contents.intAt(at + 4) & 0xFF00FFFF) == Long.BYTES << 3 * Byte.SIZE) {
                return at;
            }
        }
        return -1;
    }

    /// Turns the functions into symbols for the rest of the reader.
    private static SymbolTable read(Cursor table, List<Segment> executable) throws ElfFormatException {
        long base = table.position();
        long count = word(table, base + COUNT_AT);
        long text = word(table, base + TEXT_AT);
        Cursor names = table.between(base + word(table, base + NAMES_AT), table.limit());
        long functions = base + word(table, base + FUNCTIONS_AT);
        table.position(functions);
        if (count < 0 || count >= table.remaining() / PAIR_SIZE) {
            throw table.bad("as many Go functions as there is room for");
        }
        ByteBuffer symbols = ByteBuffer.allocate(Math.toIntExact(count * SymbolTable.ENTRY_SIZE))
                .order(ByteOrder.LITTLE_ENDIAN);
        for (long at = functions; symbols.hasRemaining(); at += PAIR_SIZE) {
            table.position(at);
            long start = table.u32();
            long described = table.u32();
            long end = table.u32();
            table.position(functions + described + Integer.BYTES);
            if (end < start) {
                throw table.bad("Go functions in ascending order");
            }
            symbols.putInt(table.i32()).putInt(HEAD).putLong(text + start).putLong(end - start);
        }
        return new SymbolTable(
                table.holding(symbols.array(), "the symbols of Go functions"),
                table.holding(names.rest(), "the names of Go functions"),
                executable);
    }

    private static long word(Cursor table, long at) throws ElfFormatException {
        table.position(at);
        long word = table.i64();
        if (word < 0) {
            throw table.bad("a word that is not negative");
        }
        return word;
    }
}
