package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.mdlagent.arch.elf.SourceLine;
import org.mdlagent.arch.layout.BlockDescriptor;
import org.mdlagent.arch.layout.BlocksDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.file.ThreadBytes;
import org.mdlagent.profiler.report.profile.FunctionBlocks;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// Reads basic blocks and adds up their counts over all threads.
final class BlockReader {
    private static final int LINES_MAX = 1 << 16;

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

        long entered;

        void add(FunctionBlocks.Block block) {
            blocks.merge(
                    block.address(),
                    block,
                    (one, other) -> new FunctionBlocks.Block(
                            one.address(),
                            one.size(),
                            one.instructions(),
                            Math.addExact(one.count(), other.count()),
                            one.lines().isEmpty() ? other.lines() : one.lines()));
        }
    }

    /// In the order of the functions' indices; without functions whose blocks are not counted.
    List<FunctionBlocks> read() throws IOException {
        long pointer = bytes.getLong(HeaderDescriptor.BLOCKS);
        if (pointer == 0) {
            return List.of();
        }
        long header = bytes.offset(pointer, BlocksDescriptor.SIZE, "the table of blocks");
        int count = bytes.count(header + BlocksDescriptor.COUNT, header + BlocksDescriptor.CAPACITY, "blocks");
        long table = bytes.offset(
                bytes.getLong(header + BlocksDescriptor.TABLE), count * BlockDescriptor.SIZE, "the table of blocks");
        bytes.claim(BlocksDescriptor.SIZE + count * BlockDescriptor.SIZE);
        long[] sums = sums(count);
        Map<Integer, Collecting> found = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            long at = table + i * BlockDescriptor.SIZE;
            int function = bytes.getInt(at + BlockDescriptor.FUNCTION);
            if (function < 0) {
                throw bytes.damaged("a block is of function " + function);
            } else if (function >= functions.size()) {
                continue; // of an image that came since
            }
            Collecting own = found.computeIfAbsent(function, unused -> new Collecting());
            if (bytes.getInt(at + BlockDescriptor.KIND) == BlockDescriptor.KIND_ENTERED) {
                own.entered = Math.addExact(own.entered, sums[i]);
            } else {
                own.add(block(at, sums[i]));
            }
        }
        return found.entrySet().stream()
                .map(entry -> new FunctionBlocks(
                        functions.get(entry.getKey()),
                        List.copyOf(entry.getValue().blocks.values()),
                        entry.getValue().entered))
                .toList();
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
