package org.mdlagent.arch.x86.find;

import static org.mdlagent.arch.x86.bytes.Encoding.i32;
import static org.mdlagent.arch.x86.bytes.Encoding.u8;

import org.mdlagent.arch.site.CodeSearch.FunctionShape;
import org.mdlagent.arch.x86.bytes.Encoding;

/// Searches a function's code for branches to its entry.
final class ShapeFinder {
    private static final int ENTRY_LENGTH = 5;

    /// Short branches beyond this offset cannot reach the entry.
    private static final int SHORT_REACH = ENTRY_LENGTH - Byte.MIN_VALUE;

    private final byte[] code;
    private final byte[] lengths;
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
        }
        return found();
    }

    /// Offset of the target of a jump or loop, or -1 if it is before the code.
    private int branchTarget(int at, int end) {
        int op = InlineScopes.opcode(code, at, end - at);
        int opcode = u8(code, op);
        if (isShortBranch(opcode)) {
            return end + code[end - 1];
        }
        boolean near = opcode == Encoding.JUMP || opcode == 0x0F && op + 1 < end && (u8(code, op + 1) & 0xF0) == 0x80;
        return near ? end + i32(code, end - Integer.BYTES) : -1;
    }

    /// The same, assuming that an instruction begins at each byte: no false negatives.
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
        }
        return finder.found();
    }

    private void addTarget(int target) {
        loops |= target == 0;
        intoEntry |= target > 0 && target < ENTRY_LENGTH;
    }

    private FunctionShape found() {
        return new FunctionShape(loops, intoEntry);
    }

    private static boolean isShortBranch(int opcode) {
        return opcode == 0xEB || (opcode & 0xF0) == 0x70 || opcode >= 0xE0 && opcode <= 0xE3;
    }
}
