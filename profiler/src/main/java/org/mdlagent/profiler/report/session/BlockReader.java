package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.FunctionCopy;
import org.mdlagent.arch.elf.SourceLine;
import org.mdlagent.arch.layout.ArcDescriptor;
import org.mdlagent.arch.layout.BlockDescriptor;
import org.mdlagent.arch.layout.BlocksDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.file.ThreadBytes;
import org.mdlagent.profiler.report.profile.FunctionBlocks;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// Reads basic blocks and arcs, and adds up their counts over all threads.
final class BlockReader {
    private static final int LINES_MAX = 1 << 16;
    private static final int NONE = FunctionCopy.NONE;

    private final SessionBytes bytes;
    private final List<FunctionProfile> functions;

    /// @param functions of the session, by their index
    BlockReader(SessionBytes bytes, List<FunctionProfile> functions) {
        this.bytes = bytes;
        this.functions = functions;
    }

    private static final class Collecting {
        /// By address: an image that was closed and opened elsewhere has new counters.
        final Map<Long, FunctionBlocks.Block> blocks = new LinkedHashMap<>();

        final Map<FunctionBlocks.Way, Long> arcs = new LinkedHashMap<>();
        long unforeseen;

        void add(FunctionBlocks.Block block) {
            blocks.merge(
                    block.address(),
                    block,
                    (one, other) -> new FunctionBlocks.Block(
                            one.address(),
                            one.size(),
                            one.last(),
                            one.instructions(),
                            Math.addExact(one.count(), other.count()),
                            one.lines().isEmpty() ? other.lines() : one.lines()));
        }

        FunctionBlocks of(FunctionProfile function) {
            List<FunctionBlocks.Arc> all = new ArrayList<>();
            arcs.forEach((way, count) -> all.add(new FunctionBlocks.Arc(way, count)));
            return new FunctionBlocks(function, List.copyOf(blocks.values()), all, unforeseen);
        }
    }

    /// In the order of the functions' indices; without functions whose blocks are not counted.
    List<FunctionBlocks> read() throws IOException {
        long pointer = bytes.getLong(HeaderDescriptor.BLOCKS);
        if (pointer == 0) {
            return List.of();
        }
        long header = bytes.offset(pointer, BlocksDescriptor.SIZE, "the table of blocks");
        // Arcs first: their blocks are complete.
        int arcCount = bytes.count(header + BlocksDescriptor.ARC_COUNT, header + BlocksDescriptor.ARC_CAPACITY, "arcs");
        int count =
                bytes.count(header + BlocksDescriptor.BLOCK_COUNT, header + BlocksDescriptor.BLOCK_CAPACITY, "blocks");
        int counters = bytes.count(header + BlocksDescriptor.COUNT, header + BlocksDescriptor.CAPACITY, "counters");
        long table = table(header + BlocksDescriptor.TABLE, count * BlockDescriptor.SIZE);
        long arcs = table(header + BlocksDescriptor.ARCS, arcCount * ArcDescriptor.SIZE);
        long[] counts = counts(table, count, arcs, arcCount, sums(counters));
        Map<Integer, Collecting> found = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            long at = table + i * BlockDescriptor.SIZE;
            Collecting own = of(at, found);
            if (own != null) {
                own.add(block(at, counts[i]));
            }
        }
        for (int i = 0; i < arcCount; i++) {
            long at = arcs + i * ArcDescriptor.SIZE;
            int from = bytes.getInt(at + ArcDescriptor.FROM);
            int to = bytes.getInt(at + ArcDescriptor.TO);
            Collecting own = of(table + Math.max(from, to) * BlockDescriptor.SIZE, found);
            if (own != null && kind(at) == FunctionCopy.Arc.Kind.UNFORESEEN) {
                own.unforeseen = Math.addExact(own.unforeseen, counts[count + i]);
            } else if (own != null) {
                own.arcs.merge(way(at, table, from, to), counts[count + i], Math::addExact);
            }
        }
        return found.entrySet().stream()
                .map(entry -> entry.getValue().of(functions.get(entry.getKey())))
                .toList();
    }

    private long table(long pointerAt, long size) throws IOException {
        bytes.claim(size);
        return size == 0 ? 0 : bytes.offset(bytes.getLong(pointerAt), size, "the table of blocks");
    }

    /// What is known of the function of a block; null if it is of an image that came since.
    private @Nullable Collecting of(long block, Map<Integer, Collecting> found) throws IOException {
        int function = bytes.getInt(block + BlockDescriptor.FUNCTION);
        if (function < 0) {
            throw bytes.damaged("a block is of function " + function);
        }
        return function < functions.size() ? found.computeIfAbsent(function, unused -> new Collecting()) : null;
    }

    /// The counts of blocks, then those of arcs.
    private long[] counts(long table, int blocks, long arcs, int arcCount, long[] sums) throws IOException {
        FlowSolver flow = new FlowSolver(1 + 2 * blocks, blocks + arcCount);
        for (int i = 0; i < blocks; i++) {
            edge(
                    flow,
                    i,
                    1 + 2 * i,
                    2 + 2 * i,
                    bytes.getInt(table + i * BlockDescriptor.SIZE + BlockDescriptor.COUNTER),
                    sums);
        }
        for (int i = 0; i < arcCount; i++) {
            long at = arcs + i * ArcDescriptor.SIZE;
            int from = bytes.getInt(at + ArcDescriptor.FROM);
            int to = bytes.getInt(at + ArcDescriptor.TO);
            if (from < NONE || from >= blocks || to < NONE || to >= blocks || from == NONE && to == NONE) {
                throw bytes.damaged("an arc leads from block " + from + " to block " + to);
            }
            boolean isArc = kind(at) != FunctionCopy.Arc.Kind.UNFORESEEN;
            edge(
                    flow,
                    blocks + i,
                    isArc && from >= 0 ? 2 + 2 * from : 0,
                    isArc && to >= 0 ? 1 + 2 * to : 0,
                    bytes.getInt(at + ArcDescriptor.COUNTER),
                    sums);
        }
        long[] counts = flow.solve();
        for (int i = 0; i < counts.length; i++) {
            counts[i] = Math.max(0, counts[i]);
        }
        return counts;
    }

    private void edge(FlowSolver flow, int edge, int from, int to, int counter, long[] sums) throws IOException {
        if (counter == NONE) {
            flow.unknown(edge, from, to);
        } else if (counter < 0) {
            throw bytes.damaged("a block has counter " + counter);
        } else {
            flow.known(edge, from, to, counter < sums.length ? sums[counter] : 0);
        }
    }

    private FunctionCopy.Arc.Kind kind(long arc) throws IOException {
        int code = bytes.getInt(arc + ArcDescriptor.KIND);
        FunctionCopy.Arc.Kind kind = FunctionCopy.Arc.Kind.of(code);
        if (kind == null) {
            throw bytes.damaged("an arc is of kind " + code);
        }
        return kind;
    }

    private FunctionBlocks.Way way(long arc, long table, int from, int to) throws IOException {
        return new FunctionBlocks.Way(
                kind(arc),
                place(table, from, true),
                place(table, to, false),
                Integer.toUnsignedLong(bytes.getInt(arc + ArcDescriptor.TARGET)));
    }

    private long place(long table, int block, boolean last) throws IOException {
        if (block == NONE) {
            return FunctionBlocks.OUTSIDE;
        }
        long at = table + block * BlockDescriptor.SIZE;
        return bytes.getLong(at + BlockDescriptor.ADDRESS) + (last ? bytes.getInt(at + BlockDescriptor.LAST) : 0);
    }

    private long[] sums(int count) throws IOException {
        long[] sums = new long[count];
        long[] row = new long[count];
        for (ThreadBytes thread : ThreadBytes.all(bytes)) {
            long pointer = bytes.getLong(thread.at() + ThreadDescriptor.BLOCK_COUNTS);
            if (pointer != 0) {
                long size = (long) count * Long.BYTES;
                long at = bytes.offset(pointer, size, "the counts of blocks");
                bytes.claim(size);
                bytes.getLongs(at, row);
                for (int i = 0; i < count; i++) {
                    sums[i] = bytes.counted(sums[i] + bytes.counted(row[i]));
                }
            }
        }
        return sums;
    }

    private FunctionBlocks.Block block(long at, long count) throws IOException {
        return new FunctionBlocks.Block(
                bytes.getLong(at + BlockDescriptor.ADDRESS),
                bytes.getInt(at + BlockDescriptor.SIZE_AT),
                bytes.getInt(at + BlockDescriptor.LAST),
                bytes.getInt(at + BlockDescriptor.INSTRUCTIONS),
                count,
                lines(bytes.getLong(at + BlockDescriptor.LINES)));
    }

    private List<SourceLine> lines(long pointer) throws IOException {
        if (pointer == 0) {
            return List.of();
        }
        int count = bytes.checkedCount(
                bytes.getInt(bytes.offset(pointer, Integer.BYTES, "lines")), LINES_MAX, "lines of a block");
        long size = Integer.BYTES + 2L * Integer.BYTES * count;
        long at = bytes.offset(pointer, size, "lines") + Integer.BYTES;
        bytes.claim(size);
        List<SourceLine> lines = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            lines.add(new SourceLine(bytes.string(bytes.getInt(at)), bytes.getInt(at + Integer.BYTES)));
            at += 2L * Integer.BYTES;
        }
        return lines;
    }
}
