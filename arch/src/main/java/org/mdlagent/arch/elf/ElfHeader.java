package org.mdlagent.arch.elf;

/// The header of a supported ELF file.
///
/// @param type              [#TYPE_EXECUTABLE] or [#TYPE_SHARED]
/// @param entry             address where a program starts
/// @param programHeaders    offset of the first
/// @param sectionHeaders    offset of the first, 0 when there are none
/// @param sectionNames      index of the section that has the names of sections
record ElfHeader(
        int type,
        Machine machine,
        long entry,
        long programHeaders,
        int programHeaderCount,
        long sectionHeaders,
        int sectionCount,
        int sectionNames) {
    private static final int HEADER_SIZE = 64;
    static final int PROGRAM_HEADER_SIZE = 56;
    static final int SECTION_HEADER_SIZE = 64;
    private static final int MAGIC = 0x464c457f;
    static final int TYPE_EXECUTABLE = 2;
    static final int TYPE_SHARED = 3;

    /// Counts and indices that do not fit in the header's 16 bits are in section header 0.
    private static final int ESCAPE = 0xffff;

    /// @throws ElfFormatException if it is not that of a supported ELF file
    static ElfHeader read(ElfContent content) throws ElfFormatException {
        Cursor header = content.range(0, HEADER_SIZE, "the ELF header");
        if (header.i32() != MAGIC) {
            throw content.bad("the magic number of ELF", 0);
        }
        if (header.u8() != 2) {
            throw content.bad("a 64-bit file", 4);
        }
        if (header.u8() != 1) {
            throw content.bad("a little-endian file", 5);
        }
        if (header.u8() != 1) {
            throw content.bad("version 1", 6);
        }
        header.position(16);
        int type = header.u16();
        if (type != TYPE_EXECUTABLE && type != TYPE_SHARED) {
            throw content.bad("an executable or a shared object", 16);
        }
        Machine known = Machine.of(header.u16());
        if (known == null) {
            throw content.bad("a known machine", 18);
        }
        header.skip(4);
        long entry = header.i64();
        long programHeaders = header.i64();
        long sectionHeaders = header.i64();
        header.skip(6);
        int programHeaderSize = header.u16();
        int programHeaderCount = header.u16();
        int sectionHeaderSize = header.u16();
        int shortSectionCount = header.u16();
        int shortSectionNames = header.u16();
        int sectionCount = 0;
        int sectionNames = 0;
        if (sectionHeaders != 0) {
            if (sectionHeaderSize != SECTION_HEADER_SIZE) {
                throw content.bad("section headers of 64 bytes", 58);
            }
            boolean escaped = programHeaderCount == ESCAPE || shortSectionCount == 0 || shortSectionNames == ESCAPE;
            if (escaped) {
                Cursor first = content.range(sectionHeaders, SECTION_HEADER_SIZE, "section header 0");
                first.position(32);
                long longCount = first.i64();
                int longNames = first.i32();
                int longProgramHeaderCount = first.i32();
                sectionCount = shortSectionCount == 0 ? count(content, longCount, 32) : shortSectionCount;
                sectionNames = shortSectionNames == ESCAPE ? longNames : shortSectionNames;
                programHeaderCount =
                        programHeaderCount == ESCAPE ? count(content, longProgramHeaderCount, 44) : programHeaderCount;
            } else {
                sectionCount = shortSectionCount;
                sectionNames = shortSectionNames;
            }
        }
        if (programHeaderCount != 0 && programHeaderSize != PROGRAM_HEADER_SIZE) {
            throw content.bad("program headers of 56 bytes", 54);
        }
        return new ElfHeader(
                type, known, entry, programHeaders, programHeaderCount, sectionHeaders, sectionCount, sectionNames);
    }

    private static int count(ElfContent content, long count, long at) throws ElfFormatException {
        if (count < 0 || count > content.size() / PROGRAM_HEADER_SIZE) {
            throw content.bad("a count that fits in the file", at);
        }
        return (int) count;
    }
}
