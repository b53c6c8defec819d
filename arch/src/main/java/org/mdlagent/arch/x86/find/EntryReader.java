package org.mdlagent.arch.x86.find;

import static org.mdlagent.arch.x86.bytes.Encoding.i32;
import static org.mdlagent.arch.x86.bytes.Encoding.u8;

import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.x86.bytes.Encoding;

/// Recognises a compiler-made site by its bytes.
public final class EntryReader {
    /// The longest instruction (Intel SDM vol. 2, 2.3.11).
    static final int INSTRUCTION_MAX = 15;

    public static final int NOP = 0x90;
    private static final int OPERAND_SIZE_PREFIX = 0x66;
    private static final int CODE_SEGMENT_PREFIX = 0x2E;

    /// A jump with 32 bits of displacement.
    private static final int ROOM = 5;

    /// `jmp` over six bytes, of which `v2` are the first (clang 14, getUBSanFunctionSignature).
    private static final int TYPE_SIGNATURE = 0x327606EB;

    private static final int TYPE_BYTES = 8;

    private EntryReader() {}

    /// The form at the start of `code`; null if it is unknown.
    public static SiteInstruction.@Nullable Form form(byte[] code) {
        if (code.length >= ROOM && u8(code, 0) == Encoding.CALL) {
            return SiteInstruction.Form.CALL;
        }
        if (code.length > ROOM) {
            int head = u8(code, 0) | u8(code, 1) << 8;
            if (head == (Encoding.ADDRESS_SIZE_PREFIX | Encoding.CALL << 8)) {
                return SiteInstruction.Form.CALL_PADDED;
            }
            if (head == 0x15FF) {
                return SiteInstruction.Form.CALL_INDIRECT;
            }
        }
        if (code.length >= ROOM && u8(code, 0) == 0xEB && code[1] >= ROOM - 2) {
            return SiteInstruction.Form.SKIP;
        }
        if (run(code) >= ROOM) {
            return SiteInstruction.Form.NOP_RUN;
        }
        int nop = nop(code);
        if (nop >= ROOM) {
            return SiteInstruction.Form.NOP;
        }
        return run(code) >= 2 || nop == 2 ? SiteInstruction.Form.NOP_SHORT : null;
    }

    /// Length of the site at the start of `code`.
    public static int length(SiteInstruction.Form form, byte[] code) {
        return switch (form) {
            case CALL -> ROOM;
            case CALL_PADDED, CALL_INDIRECT -> ROOM + 1;
            case SKIP -> 2 + code[1];
            case NOP_RUN -> run(code);
            case NOP -> nop(code);
            case NOP_SHORT -> Math.max(run(code), nop(code));
            case JUMP, JUMP_INDIRECT, INSTRUCTIONS -> throw new IllegalArgumentException("no entry: " + form);
        };
    }

    /// Length of a run of one-byte NOPs.
    private static int run(byte[] code) {
        int run = 0;
        while (run < code.length && u8(code, run) == NOP) {
            run++;
        }
        return run;
    }

    /// Length of the instruction if it is a NOP, else 0 (Intel SDM vol. 2B, NOP).
    public static int nop(byte[] code) {
        int at = 0;
        while (at < code.length && (u8(code, at) == OPERAND_SIZE_PREFIX || u8(code, at) == CODE_SEGMENT_PREFIX)) {
            at++;
        }
        if (at < code.length && u8(code, at) == NOP) {
            return at + 1;
        }
        if (at + 3 > code.length || u8(code, at) != 0x0F || u8(code, at + 1) != 0x1F) {
            return 0;
        }
        int modrm = u8(code, at + 2);
        int length = at + 3;
        boolean sib = (modrm & 7) == 4;
        switch (modrm >> 6) {
            case 0 -> {
                if (sib || (modrm & 7) == 5) {
                    return 0; // No compiler emits these.
                }
            }
            case 1 -> length += sib ? 2 : 1;
            case 2 -> length += sib ? 5 : 4;
            default -> {}
        }
        return length <= code.length ? length : 0;
    }

    /// Bytes before the first instruction of a function with these first four bytes: a landing pad for indirect
    /// branches, or [#typeData].
    public static int preamble(byte[] function) {
        return i32(function, 0) == Encoding.ENDBR64 ? Integer.BYTES : typeData(function, 0);
    }

    /// Bytes at the start of a function that are not its instructions: the type data of clang's
    /// `-fsanitize=function`, after a jump over it.
    public static int typeData(byte[] code, int function) {
        return function + Integer.BYTES <= code.length && i32(code, function) == TYPE_SIGNATURE ? TYPE_BYTES : 0;
    }
}
