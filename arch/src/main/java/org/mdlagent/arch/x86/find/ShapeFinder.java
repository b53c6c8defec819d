package org.mdlagent.arch.x86.find;

import static org.mdlagent.arch.x86.bytes.Encoding.i32;
import static org.mdlagent.arch.x86.bytes.Encoding.u8;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.site.FunctionShape;
import org.mdlagent.arch.site.FunctionShape.StackLoad;
import org.mdlagent.arch.x86.bytes.Encoding;

/// Looks in a function's code for what concerns its entry: branches to it, and loads of words in its frame, among them
/// those of its return address.
final class ShapeFinder {
    private static final int ENTRY_LENGTH = 5;

    /// No short branch behind it leads into the entry.
    private static final int SHORT_REACH = ENTRY_LENGTH - Byte.MIN_VALUE;

    private static final int REX_WIDE = 0x48;
    private static final int LOAD = 0x8B;
    private static final int COMPARE = 0x39;

    /// Of the operations with a register that they change, or compare.
    private static final int OPERATION_MASK = 0xC7;

    private static final int OPERATION = 0x03;

    /// Numbers of DWARF.
    private static final int RBP = 6;

    private static final int RSP = 7;

    private final byte[] code;
    private final byte[] lengths;
    private final List<StackLoad> loads = new ArrayList<>(0);
    private boolean loops;
    private boolean intoEntry;

    ShapeFinder(byte[] code, byte[] lengths) {
        this.code = code;
        this.lengths = lengths;
    }

    FunctionShape find() {
        for (int at = 0; at < code.length && lengths[at] != 0; at += lengths[at]) {
            int end = at + lengths[at];
            addTarget(branchTarget(at, end));
            addLoad(at);
        }
        return found();
    }

    /// Offset of the target of a jump or loop, -1 where there is none in front.
    private int branchTarget(int at, int end) {
        int op = InlineScopes.opcode(code, at, end - at);
        int opcode = u8(code, op);
        if (isShortBranch(opcode)) {
            return end + code[end - 1];
        }
        boolean near = opcode == Encoding.JUMP || opcode == 0x0F && op + 1 < end && (u8(code, op + 1) & 0xF0) == 0x80;
        return near ? end + i32(code, end - Integer.BYTES) : -1;
    }

    /// The same as if an instruction began at each byte: what is not in there, is not in the code.
    static FunctionShape suspects(byte[] code) {
        ShapeFinder finder = new ShapeFinder(code, code);
        int operand = 0;
        for (int at = 0; at < code.length; at++) {
            // The displacement comes last, as one byte or as four that end here.
            operand = operand >>> Byte.SIZE | code[at] << 3 * Byte.SIZE;
            int target = at + 1 + operand;
            if (target >= 0 && target < ENTRY_LENGTH) {
                finder.addTarget(target);
            }
            if (at > 0 && at < SHORT_REACH && isShortBranch(u8(code, at - 1))) {
                finder.addTarget(at + 1 + code[at]);
            }
            if ((code[at] & 0xFB) == REX_WIDE) {
                finder.addLoad(at);
            }
        }
        return finder.found();
    }

    private void addTarget(int target) {
        loops |= target == 0;
        intoEntry |= target > 0 && target < ENTRY_LENGTH;
    }

    private FunctionShape found() {
        return new FunctionShape(loops, intoEntry, loads);
    }

    private static boolean isShortBranch(int opcode) {
        return opcode == 0xEB || (opcode & 0xF0) == 0x70 || opcode >= 0xE0 && opcode <= 0xE3;
    }

    /// `mov`, `add`, `cmp` and their like, of eight bytes at a displacement from RSP or RBP.
    private void addLoad(int at) {
        if (at + 4 > code.length || (u8(code, at) & 0xFB) != REX_WIDE) {
            return;
        }
        int opcode = u8(code, at + 1);
        if (opcode != LOAD && opcode != COMPARE && (opcode & OPERATION_MASK) != OPERATION) {
            return;
        }
        int operand = u8(code, at + 2);
        int mode = operand >> 6;
        boolean stack = (operand & 7) == 4 && u8(code, at + 3) == 0x24 && mode != 3;
        boolean frame = (operand & 7) == 5 && (mode == 1 || mode == 2);
        int from = at + (stack ? 4 : 3);
        if ((stack || frame) && from + (mode == 2 ? Integer.BYTES : mode) <= code.length) {
            int displacement = mode == 0 ? 0 : mode == 1 ? code[from] : i32(code, from);
            loads.add(new StackLoad(at, stack ? RSP : RBP, displacement));
        }
    }
}
