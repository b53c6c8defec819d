package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.BitSet;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.arch.site.CodeSearch.FunctionUses;

/// Finds parts of functions among pieces of code without a name. A part is not called, no word contains its
/// address, no padding precedes it, and either conditional jumps lead to it or all jumps to it come from one
/// other piece.
final class ColdParts implements FunctionUses {
    /// Bytes read at once.
    private static final int PIECE = 1 << 20;

    /// How far an instruction at the end of one read may extend into the next.
    private static final int OVERLAP = 8;

    private static final int NOBODY = -1;

    /// Minimum alignment of functions.
    private static final int ALIGNMENT = 16;

    private final ElfFile elf;
    private final CodeSearch search;
    private final long[] starts;
    private final long[] lengths;
    private final int all;

    /// One past the last piece without a name.
    private final int size;

    private final BitSet unnamed;

    /// Offsets from the first start.
    private final BitSet sought = new BitSet();

    private final BitSet used = new BitSet();
    private final BitSet cold = new BitSet();

    /// The piece that jumps there.
    private final int[] jumpers;

    /// @param starts  of all pieces, ascending
    /// @param all     number of pieces
    /// @param unnamed pieces that may be parts
    ColdParts(ElfFile elf, CodeSearch search, long[] starts, long[] lengths, int all, BitSet unnamed) {
        this.elf = elf;
        this.search = search;
        this.starts = starts;
        this.lengths = lengths;
        this.all = all;
        this.unnamed = unnamed;
        this.size = unnamed.length();
        this.jumpers = new int[size];
        Arrays.fill(jumpers, NOBODY);
    }

    BitSet find() throws IOException {
        long base = starts[unnamed.nextSetBit(0)];
        if (starts[size - 1] - base >= Integer.MAX_VALUE) {
            return cold; // No linker makes such text.
        }
        for (int i = unnamed.nextSetBit(0); i >= 0; i = unnamed.nextSetBit(i + 1)) {
            sought.set((int) (starts[i] - base));
        }
        for (Segment segment : elf.executableSegments()) {
            for (long at = 0; at < segment.fileSize(); at += PIECE) {
                byte[] code = read(segment, at, OVERLAP);
                search.findReferences(code, segment.address() + at, !elf.positionIndependent(), base, sought, this);
            }
        }
        for (int i = 0; i < size; i++) {
            cold.set(i, (cold.get(i) || jumpers[i] != NOBODY) && !used.get(i));
        }
        if (!cold.isEmpty()) {
            findWords(base);
            cold.andNot(used);
        }
        return cold;
    }

    /// Whether padding aligns it, as compilers do with functions but not with parts.
    private boolean isAligned(int piece) {
        return piece > 0 && starts[piece] % ALIGNMENT == 0 && starts[piece - 1] + lengths[piece - 1] < starts[piece];
    }

    private byte[] read(Segment segment, long at, int more) throws IOException {
        return elf.code(segment.address() + at, Math.min(PIECE + more, segment.fileSize() - at));
    }

    /// Data contains addresses as aligned words: words that the linker filled in, and the tables of words
    /// that the dynamic linker fills in.
    private void findWords(long base) throws IOException {
        for (Segment segment : elf.segments()) {
            if (segment.loaded() && !segment.executable()) {
                for (long at = -segment.address() & 7; at < segment.fileSize(); at += PIECE) {
                    LongBuffer words = ByteBuffer.wrap(read(segment, at, 0))
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .asLongBuffer();
                    while (words.hasRemaining()) {
                        long offset = words.get() - base;
                        if (offset >= 0 && offset < sought.length() && sought.get((int) offset)) {
                            reference(base + offset);
                        }
                    }
                }
            }
        }
    }

    @Override
    public void reference(long function) {
        used.set(Arrays.binarySearch(starts, 0, size, function));
    }

    @Override
    public void jump(long from, long function, boolean conditional) {
        int target = Arrays.binarySearch(starts, 0, size, function);
        int found = Arrays.binarySearch(starts, 0, all, from);
        int source = found >= 0 ? found : -found - 2;
        if (source == target) {
            return; // a loop
        }
        if (conditional) {
            cold.set(target);
        } else if (isAligned(target)) {
            used.set(target);
        } else if (jumpers[target] == NOBODY || jumpers[target] == source) {
            jumpers[target] = source;
        } else {
            used.set(target);
        }
    }
}
