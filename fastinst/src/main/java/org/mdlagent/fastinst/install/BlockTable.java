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
import org.mdlagent.arch.layout.ArcDescriptor;
import org.mdlagent.arch.layout.BlockDescriptor;
import org.mdlagent.arch.layout.BlocksDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// The session's basic blocks and arcs, and the memory that their counters and the tables of computed jumps
/// are addressed in.
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

    private final List<ArcRow> arcs = new ArrayList<>();

    /// Blocks whose lines have not been looked up, by their number.
    private final List<Unresolved> unresolved = new ArrayList<>();

    private long header;
    private long table;
    private long at;
    private long nextTable;
    private long arcTable;
    private int capacity = CAPACITY_MAX;
    private int blockCapacity = Integer.MAX_VALUE;
    private int arcCapacity = Integer.MAX_VALUE;
    private int counters;

    /// Those added, and those in the session.
    private int blockCount;

    private int arcCount;
    private int blocksPublished;
    private int arcsPublished;

    private record Row(long address, int size, int function, int instructions, int last, int counter) {}

    private record ArcRow(int from, int to, int kind, int counter, long target) {}

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

    /// Gives a function's blocks and arcs their counters.
    ///
    /// @param bias what addresses of the copy's blocks are above those of the file
    /// @return number of the first counter, -1 if there is no room
    int add(int function, FunctionCopy copy, long bias) {
        open();
        List<FunctionCopy.Block> blocks = copy.blocks();
        boolean fits = copy.counters() <= capacity - counters
                && blocks.size() <= blockCapacity - blockCount
                && copy.arcs().size() <= arcCapacity - arcCount;
        if (!fits) {
            return -1;
        }
        for (int i = 0; i < blocks.size(); i++) {
            FunctionCopy.Block block = blocks.get(i);
            long[] instructions =
                    Arrays.stream(block.instructions()).map(at -> at - bias).toArray();
            int last = (int) (instructions[instructions.length - 1] - instructions[0]);
            unresolved.add(new Unresolved(blockCount + i, function, instructions));
            rows.add(new Row(
                    instructions[0],
                    block.size(),
                    function,
                    instructions.length,
                    last,
                    from(counters, block.counter())));
        }
        for (FunctionCopy.Arc arc : copy.arcs()) {
            arcs.add(new ArcRow(
                    from(blockCount, arc.from()),
                    from(blockCount, arc.to()),
                    arc.kind().code(),
                    from(counters, arc.counter()),
                    arc.target() == 0 ? 0 : arc.target() - bias));
        }
        int first = counters;
        counters += copy.counters();
        blockCount += blocks.size();
        arcCount += copy.arcs().size();
        return first;
    }

    private static int from(int first, int number) {
        return number == FunctionCopy.NONE ? number : first + number;
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

    /// Writes new blocks and arcs to the session. No copy of theirs has been entered yet.
    void publish() {
        if (rows.isEmpty()) {
            return;
        }
        if (header == 0) {
            capacity = Math.min(CAPACITY_MAX, withLater(counters));
            blockCapacity = withLater(blockCount);
            arcCapacity = withLater(arcCount);
            header = tables.allocate(BlocksDescriptor.SIZE);
            table = tables.allocate(blockCapacity * BlockDescriptor.SIZE);
            arcTable = tables.allocate(arcCapacity * ArcDescriptor.SIZE);
            Memory.putLong(header + BlocksDescriptor.AT, at);
            Memory.putLong(header + BlocksDescriptor.ROOM, RESERVED);
            Memory.putInt(header + BlocksDescriptor.CAPACITY, capacity);
            Memory.putLong(header + BlocksDescriptor.TABLE, table);
            Memory.putInt(header + BlocksDescriptor.BLOCK_CAPACITY, blockCapacity);
            Memory.putLong(header + BlocksDescriptor.ARCS, arcTable);
            Memory.putInt(header + BlocksDescriptor.ARC_CAPACITY, arcCapacity);
        }
        for (Row row : rows) {
            long record = table + blocksPublished++ * BlockDescriptor.SIZE;
            Memory.putLong(record + BlockDescriptor.ADDRESS, row.address);
            Memory.putInt(record + BlockDescriptor.SIZE_AT, row.size);
            Memory.putInt(record + BlockDescriptor.FUNCTION, row.function);
            Memory.putInt(record + BlockDescriptor.INSTRUCTIONS, row.instructions);
            Memory.putInt(record + BlockDescriptor.LAST, row.last);
            Memory.putInt(record + BlockDescriptor.COUNTER, row.counter);
        }
        for (ArcRow arc : arcs) {
            long record = arcTable + arcsPublished++ * ArcDescriptor.SIZE;
            Memory.putInt(record + ArcDescriptor.FROM, arc.from);
            Memory.putInt(record + ArcDescriptor.TO, arc.to);
            Memory.putInt(record + ArcDescriptor.KIND, arc.kind);
            Memory.putInt(record + ArcDescriptor.COUNTER, arc.counter);
            Memory.putInt(record + ArcDescriptor.TARGET, arc.target == (int) arc.target ? (int) arc.target : 0);
        }
        rows.clear();
        arcs.clear();
        Memory.putInt(header + BlocksDescriptor.COUNT, counters);
        Memory.putIntRelease(header + BlocksDescriptor.BLOCK_COUNT, blocksPublished);
        Memory.putIntRelease(header + BlocksDescriptor.ARC_COUNT, arcsPublished);
        Memory.putLongRelease(api.session() + HeaderDescriptor.BLOCKS, header);
    }

    private static int withLater(int count) {
        return count + count / 4 + LATER;
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
