package org.mdlagent.arch.elf;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The source lines of an image's code, from `.debug_line` versions 2 to 5 (DWARF 5 section 6.2).
///
/// Line tables have no index, so each query scans all of them: ask for many addresses at once. Units of other
/// versions, and sequences of code that the linker has dropped, are skipped.
public final class DwarfLines {
    private final ElfFile file;
    private final SectionParts lines;
    private final List<Segment> executable;
    private final DwarfValue value;
    private final Runnable afterUnit;

    /// The same path occurs in many units: share one string.
    private final Map<String, String> paths = new HashMap<>();

    private @Nullable CompilationDirectories directories;

    DwarfLines(ElfFile file, SectionParts lines, Runnable afterUnit) {
        this.file = file;
        this.lines = lines;
        this.afterUnit = afterUnit;
        this.executable = file.executableSegments();
        this.value = new DwarfValue(file);
    }

    /// The source lines at addresses, which must ascend; null where unknown.
    ///
    /// If an instruction has several rows, as a function's first instruction often has, the first one counts: it
    /// is the function's head.
    public @Nullable SourceLine[] at(long[] sortedAddresses) throws ElfFormatException {
        Search search = new Search(sortedAddresses);
        DwarfUnits units = new DwarfUnits(lines, Long.MAX_VALUE);
        while (units.next()) {
            Cursor body = units.body();
            int version = body.remaining() < 2 ? 0 : body.u16();
            if (version >= 2 && version <= 5) {
                new Unit(body, units.start(), version, units.offsetSize()).run(search);
            }
            afterUnit.run();
        }
        return search.found;
    }

    private boolean executable(long address) {
        for (int i = 0; i < executable.size(); i++) {
            if (executable.get(i).contains(address)) {
                return true;
            }
        }
        return false;
    }

    /// The compilation directory of a line table's unit, or null if unknown.
    @Nullable
    String compilationDirectory(long lineTable) throws ElfFormatException {
        CompilationDirectories known = directories;
        if (known == null) {
            known = new CompilationDirectories(file, afterUnit);
            directories = known;
        }
        return known.of(lineTable);
    }

    DwarfValue value() {
        return value;
    }

    String shared(String path) {
        String known = paths.putIfAbsent(path, path);
        return known == null ? path : known;
    }

    /// Matches rows with the requested addresses as they are produced.
    private final class Search {
        private final long[] addresses;
        final @Nullable SourceLine[] found;

        /// The first requested address that this sequence has not passed.
        private int next;

        private boolean open;
        private long from;
        private long firstFile;
        private int firstLine;
        private long lastFile;
        private int lastLine;

        Search(long[] addresses) {
            this.addresses = addresses;
            this.found = new @Nullable SourceLine[addresses.length];
        }

        void row(Unit unit, long address, long sourceFile, int line) throws ElfFormatException {
            passTo(address, unit);
            if (!open || address != from) {
                firstFile = sourceFile;
                firstLine = line;
            }
            open = true;
            from = address;
            lastFile = sourceFile;
            lastLine = line;
        }

        void end(Unit unit, long address) throws ElfFormatException {
            passTo(address, unit);
            open = false;
        }

        private void passTo(long address, Unit unit) throws ElfFormatException {
            if (!open || address < from) {
                // A dropped sequence keeps its rows, at an address without code.
                next = executable(address) ? lowerBound(address) : addresses.length;
                open = false;
                return;
            }
            while (next < addresses.length && addresses[next] < address) {
                boolean first = addresses[next] == from;
                int line = first ? firstLine : lastLine;
                if (found[next] == null && line > 0) {
                    String path = unit.path(first ? firstFile : lastFile);
                    found[next] = path == null ? null : new SourceLine(path, line);
                }
                next++;
            }
        }

        private int lowerBound(long address) {
            int low = 0;
            int high = addresses.length;
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (addresses[middle] < address) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low;
        }
    }

    /// One line table.
    private final class Unit {
        private final long start;
        private final int version;
        private final int offsetSize;
        private final Cursor tables;
        private final Cursor program;
        private final int instructionMin;
        private final int operationsMax;
        private final int lineBase;
        private final int lineRange;
        private final int[] operandCounts;
        private @Nullable LineFileTable files;
        private long address;
        private int operation;

        Unit(Cursor body, long start, int version, int offsetSize) throws ElfFormatException {
            this.start = start;
            this.version = version;
            this.offsetSize = offsetSize;
            if (version >= 5) {
                body.skip(2);
            }
            Cursor header = body.take(DwarfValue.offset(body, offsetSize));
            this.program = body;
            this.instructionMin = header.u8();
            this.operationsMax = version >= 4 ? header.u8() : 1;
            header.u8();
            this.lineBase = header.s8();
            this.lineRange = header.u8();
            if (lineRange == 0 || operationsMax == 0) {
                throw header.bad("a line range and a number of operations above 0");
            }
            int opcodeBase = header.u8();
            this.operandCounts = new int[Math.max(opcodeBase, 1)];
            for (int i = 1; i < opcodeBase; i++) {
                operandCounts[i] = header.u8();
            }
            this.tables = header;
        }

        @Nullable
        String path(long number) throws ElfFormatException {
            LineFileTable table = files;
            if (table == null) {
                table = new LineFileTable(DwarfLines.this, tables, start, version, offsetSize);
                files = table;
            }
            return table.path(number);
        }

        void run(Search search) throws ElfFormatException {
            Cursor in = program;
            int opcodeBase = operandCounts.length;
            long sourceFile = 1;
            int line = 1;
            address = 0;
            operation = 0;
            while (in.hasRemaining()) {
                int opcode = in.u8();
                if (opcode >= opcodeBase) {
                    int adjusted = opcode - opcodeBase;
                    advance(adjusted / lineRange);
                    line += lineBase + adjusted % lineRange;
                    search.row(this, address, sourceFile, line);
                    continue;
                }
                switch (opcode) {
                    case 0 -> {
                        Cursor extended = in.take(in.uleb());
                        int kind = extended.hasRemaining() ? extended.u8() : 0;
                        if (kind == 1 /* end_sequence */) {
                            search.end(this, address);
                            sourceFile = 1;
                            line = 1;
                            address = 0;
                            operation = 0;
                        } else if (kind == 2 /* set_address */) {
                            address = extended.remaining() == 4 ? extended.u32() : extended.i64();
                            operation = 0;
                        }
                    }
                    case 1 /* copy */ -> search.row(this, address, sourceFile, line);
                    case 2 /* advance_pc */ -> advance(in.uleb());
                    case 3 /* advance_line */ -> line += (int) in.sleb();
                    case 4 /* set_file */ -> sourceFile = in.uleb();
                    case 6 /* negate_stmt */, 7 /* basic_block */, 10 /* prologue_end */, 11 /* epilogue_begin */ -> {}
                    case 8 /* const_add_pc */ -> advance((255 - opcodeBase) / lineRange);
                    case 9 /* fixed_advance_pc */ -> {
                        address += in.u16();
                        operation = 0;
                    }
                    default -> {
                        for (int i = 0; i < operandCounts[opcode]; i++) {
                            in.uleb();
                        }
                    }
                }
            }
        }

        private void advance(long operations) {
            if (operationsMax == 1) {
                address += operations * instructionMin;
            } else {
                address += instructionMin * ((operation + operations) / operationsMax);
                operation = (int) ((operation + operations) % operationsMax);
            }
        }
    }
}
