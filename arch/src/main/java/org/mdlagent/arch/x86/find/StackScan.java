package org.mdlagent.arch.x86.find;

import static org.mdlagent.arch.x86.bytes.Encoding.i32;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.CfaRows;
import org.mdlagent.arch.site.StackUse;
import org.mdlagent.arch.site.StackUse.Reason;

/// Proves, from instructions and unwind table, that code does not access memory above its own frame.
///
/// Assumes    A1 the unwind table gives the CFA at every instruction. The scan checks this: each instruction that
///               falls through must change the stack pointer as the table says, each branch must lead to a row
///               with the same rule, and each return must have its address on top
///            A2 an address taken below the CFA is used below it, as languages require of objects
/// Guarantees without a reason: G1 no operand is at the return address or above, relative to the stack pointer, the
///               frame pointer, or a traceable copy; G2 the code leaves only by returns, by the reported jumps, or
///               through tables of addresses in itself
final class StackScan {
    private static final int RSP = 4;
    private static final int RBP = 5;
    private static final int REGISTERS = 16;

    /// Callee-saved registers.
    private static final int[] CALLEES = {0, 1, 2, 6, 7, 8, 9, 10, 11};

    /// The processor's numbers of registers by DWARF's.
    private static final int[] NUMBERS = {0, 2, 1, 3, 6, 7, RBP, RSP, 8, 9, 10, 11, 12, 13, 14, 15};

    private static final int WORD = Long.BYTES;
    private static final int UNKNOWN = Integer.MIN_VALUE;

    private final byte[] code;
    private final byte[] lengths;
    private final long address;
    private final CfaRows rows;
    private final Operands ops;
    private final JumpTables tables;
    private final List<StackUse.Exit> exits = new ArrayList<>(2);

    /// CFA minus each register's value, where known.
    private final int[] depths = new int[REGISTERS];

    /// Minimum distance of RSP below the CFA while another register defines the CFA.
    private int frame = 2 * WORD;

    private boolean inPrologue;

    /// Whether the previous instruction falls through; if not, RSP is known only from the table.
    private boolean flows = true;

    private boolean testsAl;

    /// The rule of the row.
    private int register = UNKNOWN;

    /// DWARF number of the register.
    private int dwarf = CfaRows.NO_REGISTER;

    private int offset;
    private @Nullable Reason reason;
    private int reasonAt;

    StackScan(byte[] code, byte[] lengths, long address, CfaRows rows, StackUse.Constants constants) {
        this.code = code;
        this.lengths = lengths;
        this.address = address;
        this.rows = rows;
        ops = new Operands(code);
        tables = new JumpTables(constants, address, address + code.length);
        Arrays.fill(depths, UNKNOWN);
    }

    StackUse find() {
        int row = -1;
        int at = 0;
        while (at < code.length && reason != Reason.TAKES) {
            if (lengths[at] == 0) {
                found(Reason.UNDECODABLE, at);
                flows = false;
                break;
            }
            while (row + 1 < rows.size() && rows.start(row + 1) <= at) {
                row++;
            }
            int end = at + lengths[at];
            ops.read(at, end);
            enter(row, at);
            look(at, end);
            at = end;
        }
        if (flows && reason != Reason.TAKES) {
            exit(address + code.length, StackUse.Way.FALL);
        }
        return new StackUse(reason, reasonAt, exits);
    }

    /// Certain uses rank above possible ones. A jump to unknown code ranks lowest: it is harmless without stack
    /// arguments to forward.
    private void found(Reason newReason, int at) {
        if (reason == null || reason == Reason.INDIRECT || newReason == Reason.TAKES) {
            reason = newReason;
            reasonAt = at;
        }
    }

    private void exit(long target, StackUse.Way way) {
        exits.add(new StackUse.Exit(target, way, dwarf, offset));
    }

    /// Compares the table with the effect of the previous instruction.
    private void enter(int row, int at) {
        dwarf = rows.register(row);
        if (dwarf < 0 || dwarf >= NUMBERS.length) {
            found(Reason.UNWIND_TABLE, at);
            register = UNKNOWN;
            offset = 0;
            return;
        }
        boolean known = register != UNKNOWN;
        int before = register;
        register = NUMBERS[dwarf];
        offset = rows.offset(row);
        if (flows && known && depths[register] != offset) {
            found(Reason.DIFFERS, at);
        }
        if (register != RSP && before == RSP) {
            inPrologue = flows;
        }
        depths[register] = offset;
        if (!flows && register != RSP) {
            depths[RSP] = UNKNOWN;
        }
        if (inPrologue && register != RSP && depths[RSP] != UNKNOWN) {
            frame = Math.max(frame, depths[RSP]);
        }
        // Padding after a jump is not executed.
        flows |= !isNop();
    }

    private void look(int at, int end) {
        if (ops.hasModRm && ops.mod != 3) {
            lookAtMemory(at);
        }
        if (ops.map == Operands.ONE_BYTE && !ops.vector) {
            lookAtOneByte(at, end);
        } else {
            if (ops.map == Operands.TWO_BYTES && !ops.vector) {
                lookAtTwoBytes(end);
            }
            change(end);
        }
    }

    /// Offset of a memory operand from the CFA; [#UNKNOWN] if its base is not a known stack register.
    private int place() {
        int base = ops.base;
        if (base < 0 || depth(base) == UNKNOWN) {
            base = ops.index >= 0 && ops.scale == 1 ? ops.index : Operands.NONE;
        }
        int depth = base < 0 ? UNKNOWN : depth(base);
        return depth == UNKNOWN ? UNKNOWN : ops.displacement - depth;
    }

    private int depth(int number) {
        return number == RSP && depths[RSP] == UNKNOWN ? frame : depths[number];
    }

    private void lookAtMemory(int at) {
        int place = place();
        boolean loadsAddress = ops.opcode == 0x8D && ops.map == Operands.ONE_BYTE;
        boolean pops = ops.opcode == 0x8F && ops.base == RSP && !ops.vector;
        if (place == UNKNOWN || place + (pops ? WORD : 0) < -WORD || isNop()) {
            return;
        }
        if (!loadsAddress) {
            found(place >= 0 ? Reason.TAKES : Reason.RETURN_ADDRESS, at);
        } else if (ops.reg != RSP) {
            found(testsAl ? Reason.VARIADIC : Reason.ADDRESS, at);
        }
    }

    private boolean isNop() {
        return ops.map == Operands.TWO_BYTES ? ops.opcode == 0x1F : ops.map == Operands.ONE_BYTE && ops.opcode == 0x90;
    }

    private void lookAtOneByte(int at, int end) {
        int opcode = ops.opcode;
        switch (opcode) {
            case 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57 -> {
                copied(ops.inOpcode(), Operands.NONE, at);
                push();
            }
            case 0x68, 0x6A, 0x9C -> push();
            case 0x58, 0x59, 0x5A, 0x5B, 0x5C, 0x5D, 0x5E, 0x5F -> pop(ops.inOpcode(), end, at);
            case 0x8F, 0x9D -> lower(-WORD);
            case 0x89 -> move(ops.reg, ops.rm, at, end);
            case 0x8B -> move(ops.rm, ops.reg, at, end);
            case 0x8D -> loadAddress(end);
            case 0x81, 0x83 -> calculate(at, end);
            case 0x84 -> testsAl |= ops.mod == 3 && ops.reg == 0 && ops.rm == 0;
            case 0xC2, 0xCA -> {
                found(Reason.DROPS, at);
                flows = false;
            }
            case 0xC3, 0xCB, 0xCF -> {
                if (register != RSP || offset != WORD) {
                    found(Reason.DIFFERS, at);
                }
                flows = false;
            }
            case 0xC9 -> {
                depths[RSP] = depths[RBP] == UNKNOWN ? UNKNOWN : depths[RBP] - WORD;
                forget(RBP);
            }
            case 0xC8 -> depths[RSP] = UNKNOWN;
            case 0xCC, 0xF4 -> flows = false;
            case 0xE8 -> call(end);
            case 0xE9 -> {
                branch(end + i32(code, end - Integer.BYTES));
                flows = false;
            }
            case 0xEB -> {
                branch(end + code[end - 1]);
                flows = false;
            }
            case 0xE0, 0xE1, 0xE2, 0xE3 -> branch(end + code[end - 1]);
            case 0xFF -> ofGroup(at, end);
            default -> {
                if ((opcode & 0xF0) == 0x70) {
                    tables.branch(opcode == 0x77);
                    branch(end + code[end - 1]);
                } else {
                    change(end);
                }
            }
        }
    }

    private void lookAtTwoBytes(int end) {
        switch (ops.opcode) {
            case 0x0B -> flows = false;
            case 0xA0, 0xA8 -> push();
            case 0xA1, 0xA9 -> lower(-WORD);
            default -> {
                if ((ops.opcode & 0xF0) == 0x80) {
                    tables.branch(ops.opcode == 0x87);
                    branch(end + i32(code, end - Integer.BYTES));
                }
            }
        }
    }

    /// Any other change of a register.
    private void change(int end) {
        tables.follow(ops, address + end, end);
        int changed = ops.changed();
        if (changed >= 0) {
            depths[changed] = UNKNOWN;
        }
    }

    private void forget(int number) {
        depths[number] = UNKNOWN;
        tables.forget(number);
    }

    private void lower(int bytes) {
        depths[RSP] = depths[RSP] == UNKNOWN || ops.operandSize ? UNKNOWN : depths[RSP] + bytes;
    }

    private void push() {
        lower(WORD);
    }

    private void pop(int number, int end, int at) {
        tables.follow(ops, address + end, end);
        if (number == RSP) {
            found(Reason.CHANGES_STACK, at);
        } else if (number == RBP && register == RBP) {
            depths[RSP] = depths[RBP] - WORD;
            depths[RBP] = UNKNOWN;
        } else {
            depths[number] = UNKNOWN;
            lower(-WORD);
        }
    }

    /// @param to the register that gets the value, or none
    private void copied(int from, int to, int at) {
        if (from == RSP && depths[RSP] == WORD) {
            found(Reason.COPIES_STACK_POINTER, at);
        } else if (from == RBP && register == RBP && to != RSP) {
            found(Reason.COPIES_FRAME_POINTER, at);
        }
    }

    /// A move between registers, or between one and memory.
    private void move(int from, int to, int at, int end) {
        copied(from, to, at);
        tables.follow(ops, address + end, end);
        if (to == Operands.NONE) {
            return;
        }
        int depth = from == Operands.NONE ? UNKNOWN : depths[from];
        if (to == RSP && register == RSP && depth == UNKNOWN) {
            found(Reason.CHANGES_STACK, at);
        }
        depths[to] = depth;
    }

    private void loadAddress(int end) {
        tables.follow(ops, address + end, end);
        boolean plain = ops.base >= 0 && ops.index < 0 && depths[ops.base] != UNKNOWN;
        depths[ops.reg] = plain ? depths[ops.base] - ops.displacement : UNKNOWN;
    }

    /// Arithmetic with an immediate: adjusts known values.
    private void calculate(int at, int end) {
        int operation = ops.reg & 7;
        tables.follow(ops, address + end, end);
        if (ops.mod != 3 || operation == 7) {
            return;
        }
        int depth = depths[ops.rm];
        int number = ops.immediate(end);
        if (operation == 0 || operation == 5) {
            depths[ops.rm] = depth == UNKNOWN ? UNKNOWN : depth - (operation == 0 ? number : -number);
        } else if (operation != 4 || ops.rm != RSP || register == RSP) {
            // An alignment lowers RSP; the amount does not matter if another register defines the CFA.
            depths[ops.rm] = UNKNOWN;
            if (ops.rm == RSP && register == RSP) {
                found(Reason.DIFFERS, at);
            }
        }
    }

    private void call(int end) {
        if (i32(code, end - Integer.BYTES) == 0) {
            push();
        } else {
            called();
        }
    }

    private void called() {
        for (int number : CALLEES) {
            forget(number);
        }
        depths[RSP] = UNKNOWN;
        inPrologue = false;
        // It may not return, so other code may follow.
        flows = false;
    }

    private void branch(int target) {
        inPrologue = false;
        if (target < 0 || target >= code.length) {
            exit(address + target, StackUse.Way.JUMP);
            return;
        }
        int row = rows.at(target);
        if (rows.register(row) != dwarf || rows.offset(row) != offset) {
            found(Reason.DIFFERS, target);
        }
    }

    /// `inc`, `dec`, calls, jumps, `push`.
    private void ofGroup(int at, int end) {
        switch (ops.reg & 7) {
            case 2, 3 -> called();
            case 4 -> {
                jump(at, end);
                flows = false;
            }
            case 5 -> {
                found(Reason.INDIRECT, at);
                flows = false;
            }
            case 6 -> push();
            default -> change(end);
        }
    }

    private void jump(int at, int end) {
        if (ops.relative) {
            exit(address + end + ops.displacement, StackUse.Way.SLOT);
            return;
        }
        boolean inner = tables.jumps(ops, target -> exit(target, StackUse.Way.TABLE));
        // If the frame still exists, the jump is not a sibling call.
        if (!inner && (register == UNKNOWN || register == RSP && offset == WORD)) {
            found(Reason.INDIRECT, at);
        }
    }
}
