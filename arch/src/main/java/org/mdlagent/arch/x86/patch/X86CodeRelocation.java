package org.mdlagent.arch.x86.patch;

import static org.mdlagent.arch.x86.bytes.Encoding.ADDRESS_SIZE_PREFIX;
import static org.mdlagent.arch.x86.bytes.Encoding.CALL;
import static org.mdlagent.arch.x86.bytes.Encoding.JUMP;
import static org.mdlagent.arch.x86.bytes.Encoding.i32;
import static org.mdlagent.arch.x86.bytes.Encoding.u8;

import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.CodeRelocation;
import org.mdlagent.arch.code.Redirect;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.x86.bytes.NativeInstructionDecoder;

/// Substitutes for x86-64 instructions.
public final class X86CodeRelocation implements CodeRelocation {
    @Override
    public byte trapByte() {
        return (byte) 0xCC; // int3
    }

    @Override
    public @Nullable Redirect redirect(byte[] code, long address) {
        int opcode = 0;
        while (opcode < code.length - 1 && (u8(code, opcode) == 0x66 || u8(code, opcode) == ADDRESS_SIZE_PREFIX)) {
            opcode++;
        }
        long next = address + code.length;
        boolean twoBytes = u8(code, opcode) == 0x0F && opcode + 1 < code.length;
        if (u8(code, opcode) == 0x90 || twoBytes && u8(code, opcode + 1) == 0x1F) { // nop
            return new Redirect.Jump(next);
        }
        // The meaning of the operand-size prefix here differs by vendor.
        boolean plain = opcode == 0 || opcode == 1 && u8(code, 0) == ADDRESS_SIZE_PREFIX;
        if (!plain) {
            return null;
        }
        return switch (u8(code, opcode)) {
            case CALL -> new Redirect.Call(next + i32(code, opcode + 1), code.length);
            case JUMP -> new Redirect.Jump(next + i32(code, opcode + 1));
            case 0xEB -> new Redirect.Jump(next + code[opcode + 1]);
            default -> null;
        };
    }

    @Override
    public byte[] relocate(NativeApi decoder, byte[] code, long address, long at) {
        return new Relocator(new NativeInstructionDecoder(decoder)).relocate(code, address, at);
    }
}
