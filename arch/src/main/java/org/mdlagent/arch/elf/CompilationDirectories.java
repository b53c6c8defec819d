package org.mdlagent.arch.elf;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Compilation directories, from the units of `.debug_info`: line tables before version 5 lack them (DWARF 5
/// sections 3.1.1 and 7.5).
final class CompilationDirectories {
    private static final int UNIT_COMPILE = 1;
    private static final int UNIT_PARTIAL = 3;
    private static final int UNIT_SKELETON = 4;

    private static final long ATTRIBUTE_STATEMENTS = 0x10;
    private static final long ATTRIBUTE_DIRECTORY = 0x1b;
    private static final long FORM_INDIRECT = 0x16;
    private static final long FORM_IMPLICIT_CONST = 0x21;

    /// Size limit: a unit's own entry is near the start of its abbreviations.
    private static final int ABBREVIATIONS_MAX = 4096;

    /// Size limit of the header and the unit's own entry, which has a few strings at most.
    private static final long UNIT_HEAD_MAX = 1 << 16;

    private final Map<Long, String> directories = new HashMap<>();
    private final DwarfValue value;

    CompilationDirectories(ElfFile file, Runnable afterUnit) throws ElfFormatException {
        this.value = new DwarfValue(file);
        SectionParts info = file.parts(".debug_info");
        Section abbreviations = file.section(".debug_abbrev");
        if (info != null && abbreviations != null) {
            Cursor forms = file.contents(abbreviations);
            DwarfUnits units = new DwarfUnits(info, UNIT_HEAD_MAX);
            while (units.next()) {
                if (units.body().hasRemaining()) {
                    readUnit(units.body(), units.offsetSize(), forms);
                }
                afterUnit.run();
            }
        }
    }

    /// The directory of the unit whose line table is at an offset of `.debug_line`, or null if unknown.
    @Nullable
    String of(long lineTable) {
        return directories.get(lineTable);
    }

    private void readUnit(Cursor unit, int offsetSize, Cursor abbreviations) throws ElfFormatException {
        int version = unit.u16();
        if (version < 2 || version > 5) {
            return;
        }
        if (version == 5) {
            int type = unit.u8();
            if (type != UNIT_COMPILE && type != UNIT_PARTIAL && type != UNIT_SKELETON) {
                return;
            }
            unit.u8();
            abbreviations.position(DwarfValue.offset(unit, offsetSize));
            unit.skip(type == UNIT_SKELETON ? 8 : 0);
        } else {
            abbreviations.position(DwarfValue.offset(unit, offsetSize));
            unit.u8();
        }
        if (find(unit.uleb(), abbreviations)) {
            readEntry(unit, offsetSize, abbreviations);
        }
    }

    /// Moves to the attributes of an abbreviation.
    private static boolean find(long code, Cursor abbreviations) throws ElfFormatException {
        for (int i = 0; i < ABBREVIATIONS_MAX; i++) {
            long found = abbreviations.uleb();
            if (found == 0) {
                return false;
            }
            abbreviations.uleb();
            abbreviations.u8();
            if (found == code) {
                return true;
            }
            long attribute;
            do {
                attribute = abbreviations.uleb();
                if (abbreviations.uleb() == FORM_IMPLICIT_CONST) {
                    abbreviations.sleb();
                }
            } while (attribute != 0);
        }
        return false;
    }

    private void readEntry(Cursor unit, int offsetSize, Cursor abbreviations) throws ElfFormatException {
        long statements = -1;
        String directory = null;
        while (true) {
            long attribute = abbreviations.uleb();
            long form = abbreviations.uleb();
            if (attribute == 0) {
                break;
            }
            if (form == FORM_INDIRECT) {
                form = unit.uleb();
            }
            if (form == FORM_IMPLICIT_CONST) {
                abbreviations.sleb();
            }
            value.read((int) form, unit, offsetSize);
            if (attribute == ATTRIBUTE_STATEMENTS) {
                statements = value.number;
            } else if (attribute == ATTRIBUTE_DIRECTORY && value.hasText()) {
                directory = value.textIn().stringAt(value.textAt());
            }
        }
        if (statements >= 0 && directory != null) {
            directories.put(statements, directory);
        }
    }
}
