package org.mdlagent.arch.x86.copy;

import java.util.BitSet;

/// The basic blocks of a function.
final class Blocks {
    /// The first instruction of each block, and the number of instructions at the end.
    final int[] first;

    final int count;

    /// Of each instruction.
    final int[] blockOf;

    /// Blocks that computed jumps may lead to.
    final BitSet computed = new BitSet();

    private Blocks(BitSet leaders, int instructions) {
        count = leaders.cardinality();
        first = new int[count + 1];
        blockOf = new int[instructions];
        int block = -1;
        for (int i = 0; i < instructions; i++) {
            if (leaders.get(i)) {
                first[++block] = i;
            }
            blockOf[i] = block;
        }
        first[count] = instructions;
    }

    /// @param targets of computed jumps, as far as they are known
    /// @param pads    where exceptions continue
    static Blocks of(Steps steps, BitSet targets, BitSet pads) {
        BitSet leaders = new BitSet();
        BitSet reached = new BitSet();
        leaders.or(targets);
        leaders.or(pads);
        reached.or(pads);
        for (int i = 0; i < steps.count(); i++) {
            if (i == 0 || steps.pieceOf[i] != steps.pieceOf[i - 1]) {
                leaders.set(i);
            }
            if (steps.endsBlock(i) && i + 1 < steps.count()) {
                leaders.set(i + 1);
            }
            if (steps.isDirectJump(i) && steps.target(i) >= 0) {
                leaders.set(steps.target(i));
                reached.set(steps.target(i));
            }
            if (steps.get(i).fallsThrough() && i + 1 < steps.count()) {
                reached.set(i + 1);
            }
        }
        reached.set(0);
        Blocks blocks = new Blocks(leaders, steps.count());
        for (int block = 0; block < blocks.count; block++) {
            int head = blocks.first[block];
            if (targets.get(head) || !reached.get(head) && !steps.isPadding(head)) {
                blocks.computed.set(block);
            }
        }
        return blocks;
    }

    int last(int block) {
        return first[block + 1] - 1;
    }

    boolean isFirst(int instruction) {
        return first[blockOf[instruction]] == instruction;
    }
}
