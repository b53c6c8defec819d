package org.mdlagent.arch.x86.find;

import static org.mdlagent.arch.x86.bytes.Encoding.i32;
import static org.mdlagent.arch.x86.bytes.Encoding.u8;

import java.util.BitSet;
import org.mdlagent.arch.site.CodeSearch.FunctionUses;
import org.mdlagent.arch.x86.bytes.Encoding;

/// Finds references to functions without decoding: calls, jumps and address loads end with their displacement. So
/// four bytes that lead from their end to a function's start count as a reference, if the preceding byte fits such
/// an instruction.
///
/// 8-bit jumps are ignored: linkers place a function's parts in separate sections, out of their reach.
final class FunctionReferences {
    /// In the byte before a displacement: the operand is RIP-relative.
    private static final int OPERAND_MASK = 0xC7;

    private static final int OPERAND_RELATIVE = 0x05;
    private static final int OPERAND_OF_TWO = 0x04;

    private FunctionReferences() {}

    static void find(byte[] code, long address, boolean absolute, long base, BitSet starts, FunctionUses uses) {
        int span = starts.length();
        int operand = code.length < Integer.BYTES ? 0 : i32(code, 0);
        for (int at = 1; at + Integer.BYTES <= code.length; at++) {
            operand = operand >>> Byte.SIZE | code[at + Integer.BYTES - 1] << 3 * Byte.SIZE;
            long target = address + at + Integer.BYTES + operand - base;
            if (target >= 0 && target < span && starts.get((int) target)) {
                relative(code, at, address, base + target, uses);
            }
            long word = (operand & 0xFFFF_FFFFL) - base;
            if (absolute && word >= 0 && word < span && starts.get((int) word)) {
                uses.reference(base + word);
            }
        }
    }

    private static void relative(byte[] code, int at, long address, long target, FunctionUses uses) {
        int before = u8(code, at - 1);
        if (before == Encoding.JUMP) {
            uses.jump(address + at, target, false);
        } else if (at >= 2 && (before & 0xF0) == 0x80 && u8(code, at - 2) == 0x0F) {
            uses.jump(address + at, target, true);
        } else if (before == Encoding.CALL || isRelativeOperand(code, at)) {
            uses.reference(target);
        }
    }

    /// The preceding byte may also be the second byte of an operand, which is then an address near 0.
    private static boolean isRelativeOperand(byte[] code, int at) {
        boolean second = at >= 2 && (u8(code, at - 2) & OPERAND_MASK) == OPERAND_OF_TWO;
        return (u8(code, at - 1) & OPERAND_MASK) == OPERAND_RELATIVE && !second;
    }
}
