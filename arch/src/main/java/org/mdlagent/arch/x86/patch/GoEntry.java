package org.mdlagent.arch.x86.patch;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.FrameRule;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.x86.bytes.Encoding;

/// The prologue of a Go function: it checks the goroutine's stack for room and makes the frame. The code that
/// enlarges the stack jumps back to the first byte, so calls are counted between the two steps.
///
/// | bytes | instruction |
/// | --- | --- |
/// | `49 3B 66 10` | `cmp 16(%r14),%rsp`; of larger frames, `lea -N(%rsp),%r12` and `cmp 16(%r14),%r12` |
/// | `76 rel8`, `0F 86 rel32` | `jbe` to what enlarges the stack |
/// | `48 83 EC N`, `48 81 EC N`, `48 83 C4 80`, `55` | the frame is made: here is the site |
///
/// Other instructions under the jump must not fault, because Go's runtime turns a fault into a panic and looks up
/// the instruction's function. So they may use only registers and the frame.
final class GoEntry {
    private static final int RSP_BASE = 0x24;
    private static final int NOT_ONE = 0;

    /// Maximum bytes of such instructions.
    private static final int LENGTH_MAX = 8;

    private final byte[] code;

    /// Offset after the check.
    final int site;

    /// Offset after the covered instructions.
    final int end;

    final List<FrameRule> rules;

    private GoEntry(byte[] code, int site, int end, List<FrameRule> rules) {
        this.code = code;
        this.site = site;
        this.end = end;
        this.rules = rules;
    }

    /// Null if the function begins in another way.
    ///
    /// @param code its first bytes
    static @Nullable GoEntry of(byte[] code) {
        int site = behindCheck(code);
        if (site < 0 || frameBytes(code, site) == 0) {
            return null;
        }
        List<FrameRule> rules = new ArrayList<>();
        int frame = Long.BYTES;
        int at = site;
        while (at < site + PunView.JUMP_LENGTH) {
            int length = length(code, at);
            if (length == NOT_ONE) {
                return null;
            }
            rules.add(new FrameRule(at - site, callerAt(frame)));
            frame += frameBytes(code, at);
            at += length;
        }
        return new GoEntry(code, site, at, List.copyOf(rules));
    }

    /// @param function address of the code
    SiteInstruction instructions(long function) {
        return new SiteInstruction(
                function + site,
                SiteInstruction.Form.INSTRUCTIONS,
                end - site,
                SiteInstruction.Role.COUNT_ALONE,
                function);
    }

    /// Heads of covered instructions after the first: a bit for each byte of the displacement.
    int heads() {
        int heads = 0;
        for (int at = site + length(code, site); at < site + PunView.JUMP_LENGTH; at += length(code, at)) {
            heads |= 1 << at - site - 1;
        }
        return heads;
    }

    private static int behindCheck(byte[] code) {
        int at = 0;
        if (has(code, 0, 0x4C, 0x8D, 0x64, RSP_BASE)) {
            at = 5;
        } else if (has(code, 0, 0x4C, 0x8D, 0xA4, RSP_BASE)) {
            at = 8;
        }
        if (!(at == 0 ? has(code, 0, 0x49, 0x3B, 0x66, 0x10) : has(code, at, 0x4D, 0x3B, 0x66, 0x10))) {
            return -1;
        }
        at += 4;
        if (has(code, at, 0x76)) {
            return at + 2;
        }
        return has(code, at, 0x0F, 0x86) ? at + 6 : -1;
    }

    /// The amount that the instruction subtracts from the stack pointer, or 0.
    private static int frameBytes(byte[] code, int at) {
        if (has(code, at, 0x48, 0x83, 0xEC)) {
            return Math.max(0, code[at + 3]);
        } else if (has(code, at, 0x48, 0x81, 0xEC)) {
            return Math.max(0, Encoding.i32(code, at + 3));
        } else if (has(code, at, 0x48, 0x83, 0xC4, 0x80)) {
            return 128;
        }
        return has(code, at, 0x55) ? Long.BYTES : 0;
    }

    /// Length of an instruction that uses only registers and the frame, else [#NOT_ONE].
    private static int length(byte[] code, int at) {
        if (at + LENGTH_MAX > code.length) {
            return NOT_ONE;
        } else if (frameBytes(code, at) > 0) {
            return has(code, at, 0x55) ? 1 : has(code, at, 0x48, 0x81) ? 7 : 4;
        } else if (has(code, at, 0x48, 0x89, 0xE5)) { // mov %rsp,%rbp
            return 3;
        }
        boolean wide = (code[at] & 0xFB) == 0x48; // REX.W, with or without REX.R
        boolean moves = code[at + 1] == (byte) 0x89 || code[at + 1] == (byte) 0x8D; // a store, or an address
        if (!wide || !moves || code[at + 3] != RSP_BASE) {
            return NOT_ONE;
        }
        return switch (code[at + 2] & 0xC7) {
            case 0x04 -> 4;
            case 0x44 -> 5;
            case 0x84 -> 8;
            default -> NOT_ONE;
        };
    }

    private static boolean has(byte[] code, int at, int... bytes) {
        if (at + LENGTH_MAX > code.length) {
            return false;
        }
        for (int i = 0; i < bytes.length; i++) {
            if (code[at + i] != (byte) bytes[i]) {
                return false;
            }
        }
        return true;
    }

    /// `DW_CFA_def_cfa` of the stack pointer.
    private static byte[] callerAt(int offset) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(0x0C);
        out.write(7);
        int rest = offset;
        while (rest >= 0x80) {
            out.write(rest & 0x7F | 0x80);
            rest >>>= 7;
        }
        out.write(rest);
        return out.toByteArray();
    }
}
