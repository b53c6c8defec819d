package org.mdlagent.arch.x86.find;

import static org.mdlagent.arch.x86.bytes.Encoding.i32;
import static org.mdlagent.arch.x86.bytes.Encoding.u8;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.site.Transfer;
import org.mdlagent.arch.site.Transfer.Kind;
import org.mdlagent.arch.x86.bytes.Encoding;

/// Finds the calls in a piece of code, and the jumps out of it.
public final class TransferFinder {
    /// ModRM of `FF`: its operand is RIP-relative.
    private static final int CALL_RELATIVE = 0x15;

    private static final int JUMP_RELATIVE = 0x25;

    /// Bits 3 to 5 of that byte for a near call.
    private static final int CALL_OPERATION = 2;

    private final byte[] code;
    private final byte[] lengths;
    private final long address;
    private final List<Transfer> found = new ArrayList<>();

    /// @param lengths of the instructions, where they begin
    public TransferFinder(byte[] code, byte[] lengths, long address) {
        this.code = code;
        this.lengths = lengths;
        this.address = address;
    }

    /// In ascending order of address.
    public List<Transfer> find() {
        for (int at = 0; at < code.length; at++) {
            if (lengths[at] != 0 && at + lengths[at] <= code.length) {
                look(at, at + lengths[at]);
            }
        }
        return found;
    }

    private void look(int at, int end) {
        int op = InlineScopes.opcode(code, at, lengths[at]);
        switch (u8(code, op)) {
            case Encoding.CALL -> add(at, end, Kind.CALL, i32(code, op + 1));
            case 0xFF -> {
                int operand = u8(code, op + 1);
                if (operand == CALL_RELATIVE) {
                    add(at, end, Kind.CALL_BY_SLOT, i32(code, op + 2));
                } else if (operand == JUMP_RELATIVE) {
                    add(at, end, Kind.JUMP_BY_SLOT, i32(code, op + 2));
                } else if ((operand >> 3 & 7) == CALL_OPERATION) {
                    found.add(new Transfer(address + at, address + end, Kind.CALL_INDIRECT, 0));
                }
            }
            default -> addJump(at, end, op);
        }
    }

    private void addJump(int at, int end, int op) {
        int opcode = u8(code, op);
        if (opcode == 0xEB || (opcode & 0xF0) == 0x70) {
            addIfLeaving(at, end, code[end - 1]);
        } else if (opcode == Encoding.JUMP || opcode == 0x0F && (u8(code, op + 1) & 0xF0) == 0x80) {
            addIfLeaving(at, end, i32(code, end - Integer.BYTES));
        }
    }

    private void addIfLeaving(int at, int end, int displacement) {
        int target = end + displacement;
        if (target < 0 || target >= code.length) {
            add(at, end, Kind.JUMP, displacement);
        }
    }

    /// @param displacement of the target from the end
    private void add(int at, int end, Kind kind, int displacement) {
        found.add(new Transfer(address + at, address + end, kind, address + end + displacement));
    }
}
