package org.mdlagent.arch.x86.find;

import static org.mdlagent.arch.x86.bytes.Encoding.BND_PREFIX;
import static org.mdlagent.arch.x86.bytes.Encoding.CALL;
import static org.mdlagent.arch.x86.bytes.Encoding.CALL_LENGTH;
import static org.mdlagent.arch.x86.bytes.Encoding.ENDBR64;
import static org.mdlagent.arch.x86.bytes.Encoding.RET;
import static org.mdlagent.arch.x86.bytes.Encoding.i32;
import static org.mdlagent.arch.x86.bytes.Encoding.u8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.CodeRanges;
import org.mdlagent.arch.elf.CfaRows;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeBuffer;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.arch.site.CodeSearch.FunctionShape;
import org.mdlagent.arch.site.CodeSearch.FunctionUses;
import org.mdlagent.arch.site.CodeSearch.HookScan;
import org.mdlagent.arch.site.CodeSearch.HookTargets;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.StackUse;
import org.mdlagent.arch.site.Transfer;

/// Searches x86-64 code.
public final class X86CodeSearch implements CodeSearch {
    /// `endbr64`, and a `bnd jmp` through memory.
    private static final int LINKAGE_STUB_BYTES = 11;

    private static final int CALL_INDIRECT = 0xFF;

    /// Opcode, ModRM, SIB and a displacement, without prefixes.
    private static final int CALL_THROUGH_MEMORY_MAX = 7;

    @Override
    public HookScan findHooks(
            byte[] code, long address, CodeRanges ranges, HookTargets targets, LengthDecoder decoder) {
        try (NativeBuffer lengths = NativeBuffer.of(code.length)) {
            HookFinder finder = new HookFinder(code, address, targets, decoder, lengths.address());
            return finder.find(ranges);
        }
    }

    @Override
    public boolean isEmptyFunction(long address) {
        // [endbr64] [push %rbp; mov %rsp,%rbp; {mov %rdi,d8(%rbp); mov %rsi,d8(%rbp)} nop; pop %rbp] ret
        byte[] code = Memory.copy(address, 24);
        int at = i32(code, 0) == ENDBR64 ? 4 : 0;
        if (u8(code, at) == 0x55 && (i32(code, at) >>> 8) == 0xE58948) {
            at += 4;
            while (i32(code, at) << 8 >>> 8 == 0x7D8948 || i32(code, at) << 8 >>> 8 == 0x758948) {
                at += 4;
            }
            if (u8(code, at) == 0x90) {
                at++;
            }
            if (u8(code, at) != 0x5D) {
                return false;
            }
            at++;
        }
        return u8(code, at) == RET || u8(code, at) == 0xF3 && u8(code, at + 1) == RET;
    }

    @Override
    public NavigableMap<Integer, @Nullable SiteInstruction> inlineScopes(
            byte[] code, Map<Integer, SiteInstruction> hooks, LengthDecoder decoder) {
        // The hooks may be being patched.
        byte[] still = code.clone();
        hooks.forEach((at, hook) ->
                Arrays.fill(still, at, Math.min(at + hook.length(), still.length), (byte) EntryReader.NOP));
        return new InlineScopes(still, InstructionLengths.of(still, decoder), hooks).find();
    }

    @Override
    public List<Transfer> transfers(byte[] code, long address, LengthDecoder decoder) {
        return new TransferFinder(code, InstructionLengths.of(code, decoder), address).find();
    }

    @Override
    public void findReferences(
            byte[] code, long address, boolean absolute, long base, BitSet starts, FunctionUses uses) {
        FunctionReferences.find(code, address, absolute, base, starts, uses);
    }

    @Override
    public FunctionShape shape(byte[] code, LengthDecoder decoder) {
        return new ShapeFinder(code, InstructionLengths.of(code, decoder)).find();
    }

    @Override
    public FunctionShape suspectedShape(byte[] code) {
        return ShapeFinder.suspects(code);
    }

    @Override
    public List<Long> linkageStubs(byte[] code, long address, long slot) {
        List<Long> stubs = new ArrayList<>();
        for (int i = 0; i + 6 <= code.length; i++) {
            if (u8(code, i) == 0xFF && u8(code, i + 1) == 0x25 && address + i + 6 + i32(code, i + 2) == slot) {
                int start = i;
                if (start >= 1 && u8(code, start - 1) == BND_PREFIX) {
                    start--;
                }
                if (start >= 4 && i32(code, start - 4) == ENDBR64) {
                    start -= 4;
                }
                stubs.add(address + start);
            }
        }
        return stubs;
    }

    @Override
    public int linkageStubBytes() {
        return LINKAGE_STUB_BYTES;
    }

    @Override
    public long linkageSlot(byte[] stub, long address) {
        int at = stub.length >= Integer.BYTES && i32(stub, 0) == ENDBR64 ? Integer.BYTES : 0;
        if (at < stub.length && u8(stub, at) == BND_PREFIX) {
            at++;
        }
        boolean jumps = at + 6 <= stub.length && u8(stub, at) == 0xFF && u8(stub, at + 1) == 0x25;
        return jumps ? address + at + 6 + i32(stub, at + 2) : 0;
    }

    @Override
    public Set<Long> loaded(byte[] code, long address, Set<Long> words) {
        return LoadedWords.find(code, address, words);
    }

    @Override
    public StackUse stackUse(
            byte[] code, long address, CfaRows rows, StackUse.Constants constants, LengthDecoder decoder) {
        return new StackScan(code, InstructionLengths.of(code, decoder), address, rows, constants).find();
    }

    @Override
    public int directCallLength() {
        return CALL_LENGTH;
    }

    @Override
    public long directCallTarget(byte[] call, long returnAddress) {
        return u8(call, 0) == CALL ? returnAddress + i32(call, 1) : 0;
    }

    @Override
    public int callLengthMax() {
        return CALL_THROUGH_MEMORY_MAX;
    }

    @Override
    public boolean endsWithCall(byte[] before) {
        int end = before.length;
        if (end >= CALL_LENGTH && u8(before, end - CALL_LENGTH) == CALL) {
            return true;
        }
        for (int length = 2; length <= Math.min(CALL_THROUGH_MEMORY_MAX, end); length++) {
            int at = end - length;
            if (u8(before, at) == CALL_INDIRECT && length == 2 + operandBytes(before, at + 1)) {
                return true;
            }
        }
        return false;
    }

    /// Bytes after the ModRM byte of a call (`FF /2`); -1 if it is not a call.
    private static int operandBytes(byte[] code, int at) {
        int modrm = u8(code, at);
        int mode = modrm >> 6;
        int base = modrm & 7;
        if ((modrm >> 3 & 7) != 2) {
            return -1;
        } else if (mode == 3) {
            return 0;
        }
        boolean indexed = base == 4;
        int displacement = mode == 1 ? Byte.BYTES : mode == 2 || base == 5 ? Integer.BYTES : 0;
        if (indexed && mode == 0 && at + 1 < code.length && (u8(code, at + 1) & 7) == 5) {
            displacement = Integer.BYTES;
        }
        return displacement + (indexed ? 1 : 0);
    }

    @Override
    public long firstInstruction(long function) {
        return function + EntryReader.preamble(Memory.copy(function, Integer.BYTES));
    }
}
