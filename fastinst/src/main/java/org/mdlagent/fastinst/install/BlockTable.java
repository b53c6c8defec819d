package org.mdlagent.fastinst.install;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.FunctionCopy;
import org.mdlagent.arch.elf.DwarfLines;
import org.mdlagent.arch.elf.SourceLine;
import org.mdlagent.arch.layout.BlockDescriptor;
import org.mdlagent.arch.layout.BlocksDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// The session's basic blocks, and the memory that their counters and the tables of computed jumps are
/// addressed in.
public final class BlockTable {
    /// Maximum number of counters, those of images opened later included: for some 10 MB of code.
    private static final int CAPACITY_MAX = 1 << 20;

    private static final long RESERVED = (long) CAPACITY_MAX * Long.BYTES;
    private static final int LATER = 1 << 14;
    private static final long PAGE = 4096;

    /// How far above the counters tables begin, and where they end.
    private static final long TABLES_FROM = 1 << 24;

    private static final long TABLES_END = 1L << 31;

    private final NativeApi api;
    private final SessionTables tables;

    /// Rows that are not in the session yet.
    private final List<Row> rows = new ArrayList<>();

    /// Blocks whose lines have not been looked up, by their number.
    private final List<Unresolved> unresolved = new ArrayList<>();

    private long header;
    private long table;
    private long at;
    private long nextTable;
    private int capacity = CAPACITY_MAX;
    private int count;
    private int published;

    private record Row(long address, int size, int function, int instructions, int kind) {}

    private record Place(long address, int block) {}

    private record Unresolved(int number, int function, long[] instructions) {}

    public BlockTable(NativeApi api, SessionTables tables) {
        this.api = api;
        this.tables = tables;
    }

    /// @throws IllegalStateException if there is no room below 2 GiB
    private void open() {
        if (at == 0) {
            at = api.openBlocks(RESERVED);
            nextTable = at + TABLES_FROM;
        }
    }

    /// Gives a function's blocks their counters.
    ///
    /// @param bias what addresses of the copy's blocks are above those of the file
    /// @return number of the first counter, -1 if there is no room
    int add(int function, FunctionCopy copy, long bias) {
        open();
        if (copy.counters() > capacity - count) {
            return -1;
        }
        int first = count;
        for (FunctionCopy.Block block : copy.blocks()) {
            long[] instructions =
                    Arrays.stream(block.instructions()).map(at -> at - bias).toArray();
            unresolved.add(new Unresolved(count, function, instructions));
            rows.add(new Row(instructions[0], block.size(), function, instructions.length, BlockDescriptor.KIND_CODE));
            count++;
        }
        if (count < first + copy.counters()) {
            rows.add(new Row(rows.getLast().address, 0, function, 0, BlockDescriptor.KIND_ENTERED));
            count++;
        }
        return first;
    }

    /// Where the code addresses a counter.
    long address(int counter) {
        return at + (long) counter * Long.BYTES;
    }

    /// Room for tables of computed jumps.
    ///
    /// @return its address, 0 if nothing is needed
    /// @throws IOException if there is none
    long tables(CodeMemory code, long bytes) throws IOException {
        open();
        long size = bytes + PAGE - 1 & -PAGE;
        for (long place = nextTable; size > 0 && place + size <= TABLES_END; place += TABLES_FROM) {
            if (code.allocateAt(place, place + size)) {
                nextTable = place + size;
                return place;
            }
        }
        if (size > 0) {
            throw new IOException("no room below 2 GiB for tables of " + size + " bytes");
        }
        return 0;
    }

    /// Writes new blocks to the session. No copy has been entered yet.
    void publish() {
        if (rows.isEmpty()) {
            return;
        }
        if (header == 0) {
            capacity = Math.min(CAPACITY_MAX, count + count / 4 + LATER);
            header = tables.allocate(BlocksDescriptor.SIZE);
            table = tables.allocate(capacity * BlockDescriptor.SIZE);
            Memory.putLong(header + BlocksDescriptor.AT, at);
            Memory.putLong(header + BlocksDescriptor.ROOM, RESERVED);
            Memory.putInt(header + BlocksDescriptor.CAPACITY, capacity);
            Memory.putLong(header + BlocksDescriptor.TABLE, table);
        }
        for (Row row : rows) {
            long record = table + published++ * BlockDescriptor.SIZE;
            Memory.putLong(record + BlockDescriptor.ADDRESS, row.address);
            Memory.putInt(record + BlockDescriptor.SIZE_AT, row.size);
            Memory.putInt(record + BlockDescriptor.FUNCTION, row.function);
            Memory.putInt(record + BlockDescriptor.INSTRUCTIONS, row.instructions);
            Memory.putInt(record + BlockDescriptor.KIND, row.kind);
        }
        rows.clear();
        Memory.putIntRelease(header + BlocksDescriptor.COUNT, published);
        Memory.putLongRelease(api.session() + HeaderDescriptor.BLOCKS, header);
    }

    /// Looks up the source lines of the blocks of functions.
    void resolve(int[] functions, DwarfLines lines) throws IOException {
        Set<Integer> wanted = new HashSet<>();
        Arrays.stream(functions).forEach(wanted::add);
        List<Unresolved> own = unresolved.stream()
                .filter(block -> wanted.contains(block.function))
                .toList();
        List<Place> places = new ArrayList<>();
        for (int i = 0; i < own.size(); i++) {
            for (long address : own.get(i).instructions) {
                places.add(new Place(address, i));
            }
        }
        places.sort(Comparator.comparingLong(Place::address));
        @Nullable
        SourceLine[] found = lines.at(places.stream().mapToLong(Place::address).toArray());
        List<Set<SourceLine>> ofBlock = new ArrayList<>();
        own.forEach(block -> ofBlock.add(new HashSet<>()));
        for (int i = 0; i < found.length; i++) {
            SourceLine line = found[i];
            if (line != null) {
                ofBlock.get(places.get(i).block).add(line);
            }
        }
        for (int i = 0; i < own.size(); i++) {
            write(own.get(i).number, ofBlock.get(i));
        }
        unresolved.removeAll(Set.copyOf(own));
    }

    private void write(int number, Set<SourceLine> lines) {
        if (lines.isEmpty()) {
            return;
        }
        long list = tables.allocateIndices(1 + 2 * lines.size());
        Memory.putInt(list, lines.size());
        long at = list;
        for (SourceLine line : lines) {
            Memory.putInt(at + Integer.BYTES, tables.string(line.file()));
            Memory.putInt(at + 2 * Integer.BYTES, line.line());
            at += 2 * Integer.BYTES;
        }
        Memory.putLongRelease(table + number * BlockDescriptor.SIZE + BlockDescriptor.LINES, list);
    }
}
