package org.mdlagent.arch.code;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;

/// An allocator of small pieces of executable memory near the text that jumps to them: for relocated instructions
/// and trampolines. A piece is written through its alias ([CodeMemory#alias]).
///
/// Pieces are cut from blocks of code memory, which are never freed. Best fit in the oldest block within reach;
/// adjacent gaps are merged. Thread-safe.
public final class CodeArena {
    /// Alignment and size granularity of pieces.
    public static final int ALIGNMENT = 16;

    private static final long BLOCK = 64 * 1024;

    private final CodeMemory code;
    private final long limit;
    private final List<Block> blocks = new ArrayList<>();
    private final Map<Long, Piece> pieces = new HashMap<>();
    private final BlockListener listener;
    private long reserved;
    private long used;

    /// Is notified of each new block before it is used.
    public interface BlockListener {
        /// @throws IOException if the block cannot be used
        void added(long start, long length) throws IOException;
    }

    private record Piece(Block block, long size) {}

    /// Memory use.
    ///
    /// @param reserved    bytes in blocks
    /// @param used        bytes of them in pieces
    /// @param largestFree the largest gap in bytes
    public record Usage(long reserved, long used, long largestFree) {
        /// Free bytes.
        public long free() {
            return reserved - used;
        }

        /// External fragmentation: the fraction of free memory, from 0 to 1, outside the largest gap.
        public double fragmentation() {
            return free() == 0 ? 0 : 1 - (double) largestFree / free();
        }
    }

    /// @param limit maximum bytes of all blocks
    public CodeArena(CodeMemory code, long limit) {
        this(code, limit, (start, length) -> {});
    }

    /// @param limit maximum bytes of all blocks
    public CodeArena(CodeMemory code, long limit, BlockListener listener) {
        this.code = code;
        this.limit = limit;
        this.listener = listener;
    }

    /// A piece that direct jumps from and to `near` reach.
    ///
    /// @param size in bytes
    /// @return its address
    /// @throws IOException when the limit is reached, when there is no room within reach, or the kernel refuses
    public long allocate(long near, int size) throws IOException {
        return allocate(near, near, size);
    }

    /// A piece that direct jumps from and to all of `[from, to)` reach.
    ///
    /// @param size in bytes
    /// @return its address
    /// @throws IOException when the limit is reached, when there is no room within reach, or the kernel refuses
    public synchronized long allocate(long from, long to, int size) throws IOException {
        if (size <= 0) {
            throw new IllegalArgumentException("a piece of " + size + " bytes");
        }
        long rounded = roundUp(size, ALIGNMENT);
        for (Block block : blocks) {
            if (block.largestFree() >= rounded
                    && CodeMemory.reaches(from, to, block.start)
                    && CodeMemory.reaches(from, to, block.end)) {
                return take(block, rounded);
            }
        }
        return take(newBlock(from, to, rounded), rounded);
    }

    private Block newBlock(long from, long to, long size) throws IOException {
        long length = roundUp(size, BLOCK);
        if (length > limit - reserved) {
            throw new IOException(
                    "code memory is used up: " + reserved + " of " + limit + " bytes are reserved, and no " + size
                            + " of them are free in one piece within reach of 0x" + Long.toHexString(from));
        }
        long start = code.allocateNear(from, to, length);
        listener.added(start, length);
        Block block = new Block(start, start + length);
        blocks.add(block);
        reserved += length;
        return block;
    }

    private long take(Block block, long size) {
        long address = block.take(size);
        pieces.put(address, new Piece(block, size));
        used += size;
        return address;
    }

    /// Frees a piece. No thread may be in it or able to reach it.
    ///
    /// @throws IllegalArgumentException if there is no piece at `address`
    public synchronized void free(long address) {
        Piece piece = pieces.remove(address);
        if (piece == null) {
            throw new IllegalArgumentException("no piece at 0x" + Long.toHexString(address));
        }
        piece.block.giveBack(address, piece.size);
        used -= piece.size;
    }

    public synchronized Usage usage() {
        long largest = 0;
        for (Block block : blocks) {
            largest = Math.max(largest, block.largestFree());
        }
        return new Usage(reserved, used, largest);
    }

    private static long roundUp(long size, long unit) {
        return size + unit - 1 & -unit;
    }

    /// Contiguous memory, divided into pieces and gaps. Gaps of different blocks are never merged, because their
    /// aliases are not contiguous.
    private static final class Block {
        final long start;
        final long end;
        private final TreeMap<Long, Gap> gaps = new TreeMap<>();
        private final TreeSet<Gap> gapsBySize = new TreeSet<>();

        private record Gap(long address, long size) implements Comparable<Gap> {
            @Override
            public int compareTo(Gap other) {
                int bySize = Long.compare(size, other.size);
                return bySize != 0 ? bySize : Long.compare(address, other.address);
            }
        }

        Block(long start, long end) {
            this.start = start;
            this.end = end;
            add(start, end - start);
        }

        long largestFree() {
            return gaps.isEmpty() ? 0 : gapsBySize.last().size;
        }

        /// @param size at most [#largestFree]
        long take(long size) {
            Gap gap = Objects.requireNonNull(gapsBySize.ceiling(new Gap(0, size)));
            remove(gap);
            if (gap.size > size) {
                add(gap.address + size, gap.size - size);
            }
            return gap.address;
        }

        void giveBack(long address, long size) {
            long from = address;
            long to = address + size;
            Map.Entry<Long, Gap> below = gaps.lowerEntry(address);
            if (below != null && below.getKey() + below.getValue().size == address) {
                from = below.getKey();
                remove(below.getValue());
            }
            Gap above = gaps.get(to);
            if (above != null) {
                to += above.size;
                remove(above);
            }
            add(from, to - from);
        }

        private void add(long address, long size) {
            Gap gap = new Gap(address, size);
            gaps.put(address, gap);
            gapsBySize.add(gap);
        }

        private void remove(Gap gap) {
            gaps.remove(gap.address);
            gapsBySize.remove(gap);
        }
    }
}
