package org.mdlagent.arch.x86.emit;

import static org.mdlagent.arch.x86.bytes.Condition.BELOW_OR_EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.NOT_EQUAL;
import static org.mdlagent.arch.x86.bytes.Register.RAX;
import static org.mdlagent.arch.x86.bytes.Register.RCX;

import org.mdlagent.arch.layout.RowBuckets;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Assembler.Label;
import org.mdlagent.arch.x86.bytes.Condition;
import org.mdlagent.arch.x86.bytes.Register;

/// Emits accesses of recording code to a function's row. All of them change the flags.
final class RowAssembler {
    private RowAssembler() {}

    /// Loads `total - nested` of the row (`rows.h`).
    static void loadInside(Assembler out, Register to, Register row) {
        out.load(to, row, (int) RowDescriptor.TOTAL);
        out.sub(to, row, (int) RowDescriptor.NESTED);
    }

    /// Adds the time of nested calls of the same function to a row, and jumps to `done`. Changes `within`.
    ///
    /// @param ticks the call's duration, an upper bound: stacks may have been switched meanwhile
    static void addNested(Assembler out, Register row, Register ticks, Register within, Label done) {
        Label fits = new Label();
        out.cmp(within, ticks);
        out.jump(BELOW_OR_EQUAL, fits);
        out.mov(within, ticks);
        out.bind(fits);
        out.addTo(row, (int) RowDescriptor.NESTED, within);
        out.jump(done);
    }

    /// Counts a call of RAX ticks in the row and in its histogram. Jumps to `noChunk`, before it has counted
    /// anything, if that part of the histogram has no memory yet. Changes RCX and `slot`.
    ///
    /// @param samples whether to count the call in the row's samples, too
    static void count(Assembler out, Register row, Register slot, boolean samples, Label noChunk) {
        // RowBuckets.index; chunk = index / 128, slot = index % 128.
        out.mov(RCX, RAX);
        out.or(RCX, RowBuckets.SUB_BUCKET_MASK);
        out.bitScanReverse(RCX, RCX);
        out.sub(RCX, RowBuckets.SUB_BUCKET_HALF_BITS);
        out.mov(slot, RAX);
        out.shiftRightByCl(slot);
        out.shiftLeft(RCX, RowBuckets.SUB_BUCKET_HALF_BITS);
        out.add(slot, RCX);
        out.mov(RCX, slot);
        out.shiftRight(RCX, RowBuckets.SUB_BUCKET_HALF_BITS);
        out.loadIndexed(RCX, row, RCX, (int) RowDescriptor.CHUNKS_AT);
        out.test(RCX);
        out.jump(EQUAL, noChunk);
        out.and(slot, RowDescriptor.CHUNK_SLOTS - 1);
        out.incrementIndexed(RCX, slot);
        out.increment(row, (int) RowDescriptor.COUNT);
        if (samples) {
            out.increment(row, (int) RowDescriptor.SAMPLES);
        }
    }

    /// Replaces the row's word at `displacement` by RCX unless the comparison of RCX with it is `unless`: then
    /// jumps to `done`. Changes RAX.
    static void replace(Assembler out, Register row, int displacement, Condition unless, Label done) {
        Label retry = new Label();
        out.load(RAX, row, displacement);
        out.bind(retry);
        out.cmp(RCX, RAX);
        out.jump(unless, done);
        out.compareExchange(row, displacement, RCX);
        out.jump(NOT_EQUAL, retry);
    }
}
