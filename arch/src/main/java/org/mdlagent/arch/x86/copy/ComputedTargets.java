package org.mdlagent.arch.x86.copy;

import java.util.BitSet;
import java.util.function.LongPredicate;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.x86.bytes.Encoding;
import org.mdlagent.arch.x86.bytes.Instruction;

/// Instructions that computed jumps of the function may lead to: those in tables that the function
/// refers to. A table has
/// distances of four bytes from itself, or addresses. An instruction that is no target does no harm
/// here: its block has
/// a counter of its own without need.
final class ComputedTargets {
    /// In bytes. Compilers align tables.
    private static final int TABLE_MAX = 1 << 16;

    private final Steps steps;
    private final LongPredicate readable;
    private final boolean fixed;
    private final BitSet targets = new BitSet();

    ComputedTargets(Steps steps, LongPredicate readable, boolean fixed) {
        this.steps = steps;
        this.readable = readable;
        this.fixed = fixed;
    }

    BitSet find() {
        boolean any = false;
        for (int i = 0; i < steps.count() && !any; i++) {
            any = steps.isComputedJump(i);
        }
        for (int i = 0; any && i < steps.count(); i++) {
            Instruction instruction = steps.get(i);
            if (instruction.kind() == Instruction.Kind.RIP_RELATIVE) {
                table(instruction.target());
                label(instruction.target());
            } else if (fixed && instruction.kind() == Instruction.Kind.PLAIN) {
                constants(steps.code(i));
            }
        }
        return targets;
    }

    private void constants(byte[] code) {
        for (int at = 1; at + Integer.BYTES <= code.length; at++) {
            long constant = Encoding.i32(code, at);
            table(constant);
            label(constant);
        }
    }

    private void label(long address) {
        int number = steps.at(address);
        if (number >= 0) {
            targets.set(number);
        }
    }

    private void table(long address) {
        long entry = address % Integer.BYTES == 0 ? address : 0;
        while (readable.test(entry) && entry - address < TABLE_MAX && add(address + Memory.getInt(entry))) {
            entry += Integer.BYTES;
        }
        entry = address % Long.BYTES == 0 ? address : 0;
        while (readable.test(entry) && entry - address < TABLE_MAX && add(Memory.getLong(entry))) {
            entry += Long.BYTES;
        }
    }

    private boolean add(long target) {
        int number = steps.at(target);
        if (number >= 0) {
            targets.set(number);
        }
        return number >= 0;
    }
}
