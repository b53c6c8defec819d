package org.mdlagent.arch.x86.copy;

import org.mdlagent.arch.x86.bytes.Instruction;

/// Which registers and status flags are needed before each instruction. Bits 0 to 15 of a set are
/// registers, the next
/// six are flags: CF, PF, AF, ZF, SF, OF.
///
/// Flags do not pass calls, returns and computed jumps: no calling convention has them.
final class Liveness {
    static final int REGISTERS = 0xFFFF;
    static final int FLAGS = 0x3F0000;

    /// All flags but CF: what `inc` changes.
    static final int CHANGED_BY_INC = 0x3E0000;

    /// What a function that is jumped to may expect: R11 is for linkage code.
    static final int EXPECTED = REGISTERS & ~(1 << 11);

    private final Steps steps;
    private final int[] before;

    /// Needed where computed jumps may lead in the function.
    private int computed;

    Liveness(Steps steps, Blocks blocks) {
        this.steps = steps;
        before = new int[steps.count()];
        boolean changed = true;
        while (changed) {
            changed = false;
            int all = 0;
            for (int block = blocks.computed.nextSetBit(0); block >= 0; block = blocks.computed.nextSetBit(block + 1)) {
                all |= before[blocks.first[block]];
            }
            computed = all;
            for (int i = steps.count() - 1; i >= 0; i--) {
                int needed = transfer(i);
                changed |= blocks.isFirst(i) && needed != before[i];
                before[i] = needed;
            }
        }
    }

    /// Before an instruction.
    int before(int instruction) {
        return before[instruction];
    }

    /// Before any instruction of the function that a computed jump may lead to.
    int atComputed() {
        return computed;
    }

    private int transfer(int number) {
        if (steps.isCall(number)) {
            return REGISTERS;
        }
        long uses = steps.uses[number];
        int reads = (int) (uses & REGISTERS | uses >>> 16 & FLAGS);
        int writes = (int) (uses >>> 16 & REGISTERS | uses >>> 24 & FLAGS);
        return after(number) & ~writes | reads;
    }

    private int after(int number) {
        Instruction instruction = steps.get(number);
        int needed = 0;
        if (steps.isDirectJump(number)) {
            int target = steps.target(number);
            needed |= target >= 0 ? before[target] : REGISTERS;
        } else if (steps.isComputedJump(number)) {
            needed |= computed | EXPECTED;
        } else if (!instruction.fallsThrough()) {
            needed |= REGISTERS;
        }
        if (instruction.fallsThrough()) {
            int next = steps.next(number);
            needed |= next >= 0 ? before[next] : REGISTERS | FLAGS;
        }
        return needed;
    }
}
