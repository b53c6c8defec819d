package org.mdlagent.arch.x86;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeRanges;
import org.mdlagent.arch.code.CodeStore;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.code.Redirect;
import org.mdlagent.arch.code.TrampolineRange;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.RecordingEntryPoints;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.arch.site.HookScan;
import org.mdlagent.arch.site.HookTargets;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.RecordingCode;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.SnippetPlace;
import org.mdlagent.arch.site.Transfer;
import org.mdlagent.arch.snippet.Optimisation;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.NativeInstructionDecoder;
import org.mdlagent.arch.x86.emit.FunctionStub;
import org.mdlagent.arch.x86.emit.HookStub;
import org.mdlagent.arch.x86.emit.ImportStub;
import org.mdlagent.arch.x86.emit.RecordingAssembler;
import org.mdlagent.arch.x86.emit.SnippetAssembler;
import org.mdlagent.arch.x86.emit.UnwindTable;
import org.mdlagent.arch.x86.find.EntryReader;
import org.mdlagent.arch.x86.find.HookFinder;
import org.mdlagent.arch.x86.find.InlineScopes;
import org.mdlagent.arch.x86.find.TransferFinder;
import org.mdlagent.arch.x86.patch.EntryView;
import org.mdlagent.arch.x86.patch.HookView;
import org.mdlagent.arch.x86.patch.Relocator;

/// x86-64: instruction bytes as they are found, patched and emitted.
public final class X86InstructionSet implements InstructionSet {
    public static final int CALL = 0xE8;
    private static final int CALL_LENGTH = 5;
    public static final int JUMP = 0xE9;
    public static final int RET = 0xC3;
    public static final int ADDRESS_SIZE_PREFIX = 0x67;

    public static final int ENDBR64 = 0xFA1E0FF3;
    private static final int BND_PREFIX = 0xF2;

    /// Bytes looked at for a site.
    private static final int ENTRY_MAX = 64;

    private static final int JUMP_SIZE = 5;

    private final int atomicUnit;

    /// @param atomicUnit bytes within which a store is atomic for fetch; a power of two, at least 8
    public X86InstructionSet(int atomicUnit) {
        this.atomicUnit = atomicUnit;
    }

    @Override
    public int atomicUnit() {
        return atomicUnit;
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
    public NavigableMap<Integer, @Nullable SiteInstruction> inlineScopes(
            byte[] code, Map<Integer, SiteInstruction> hooks, LengthDecoder decoder) {
        // Hooks are being patched, maybe.
        byte[] still = code.clone();
        hooks.forEach((at, hook) ->
                Arrays.fill(still, at, Math.min(at + hook.length(), still.length), (byte) EntryReader.NOP));
        try (Arena arena = Arena.ofConfined()) {
            long copy = arena.allocate(2L * still.length).address();
            Memory.put(copy, still);
            long unused = decoder.decode(copy, still.length, copy + still.length);
            return new InlineScopes(still, Memory.copy(copy + still.length, still.length), hooks).find();
        }
    }

    @Override
    public List<Transfer> transfers(byte[] code, long address, LengthDecoder decoder) {
        try (Arena arena = Arena.ofConfined()) {
            long copy = arena.allocate(2L * code.length).address();
            Memory.put(copy, code);
            long unused = decoder.decode(copy, code.length, copy + code.length);
            return new TransferFinder(code, Memory.copy(copy + code.length, code.length), address).find();
        }
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
    public int directCallLength() {
        return CALL_LENGTH;
    }

    @Override
    public long directCallTarget(byte[] call, long returnAddress) {
        return u8(call, 0) == CALL ? returnAddress + i32(call, 1) : 0;
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
    public HookScan findHooks(
            byte[] code, long address, CodeRanges ranges, HookTargets targets, LengthDecoder decoder) {
        try (Arena arena = Arena.ofConfined()) {
            HookFinder finder = new HookFinder(
                    code,
                    address,
                    targets,
                    decoder,
                    arena.allocate(Math.max(1, code.length)).address());
            return finder.find(ranges);
        }
    }

    @Override
    public long firstInstruction(long function) {
        return function + EntryReader.preamble(Memory.copy(function, Integer.BYTES));
    }

    @Override
    public @Nullable SiteInstruction entrySite(long at, long end, SiteInstruction.Role role, long function, int room) {
        byte[] code = Memory.copy(at, Math.clamp(end - at, 0, ENTRY_MAX));
        SiteInstruction.Form form = EntryReader.form(code);
        if (form == null || form == SiteInstruction.Form.NOP_SHORT && room < JUMP_SIZE) {
            return null;
        }
        SiteInstruction site = new SiteInstruction(at, form, EntryReader.length(form, code), role, function);
        return new EntryView(site, atomicUnit).isPatchable() ? site : null;
    }

    @Override
    public long[] hops(SiteInstruction site) {
        return isEntry(site) ? new EntryView(site, atomicUnit).hops() : new long[0];
    }

    @Override
    public byte[] hop(long at, long target) {
        Assembler out = new Assembler(at);
        out.jump(target);
        return out.toBytes();
    }

    @Override
    public PatchPlan plan(SiteInstruction site, long target, long returnStub) {
        return isEntry(site)
                ? new EntryView(site, atomicUnit).plan(target)
                : new HookView(site).plan(target, returnStub, atomicUnit);
    }

    private static boolean isEntry(SiteInstruction site) {
        return site.role() == SiteInstruction.Role.FUNCTION || site.role() == SiteInstruction.Role.COUNT;
    }

    @Override
    public RecordingCode recordingCode(RecordingEntryPoints shim, long at) {
        return new RecordingAssembler(shim, at).assemble();
    }

    @Override
    public int functionStubSize() {
        return FunctionStub.SIZE;
    }

    @Override
    public byte[] functionStub(long site, long at, long body, long entry, long exit) {
        return FunctionStub.assemble(site, at, body, entry, exit);
    }

    @Override
    public int importStubSize() {
        return ImportStub.SIZE;
    }

    @Override
    public byte[] importStub(long at, long target) {
        return ImportStub.assemble(at, target);
    }

    @Override
    public SiteInstruction importSite(long at) {
        return new SiteInstruction(
                at, SiteInstruction.Form.NOP, ImportStub.SITE_LENGTH, SiteInstruction.Role.FUNCTION, at);
    }

    @Override
    public Set<Long> loaded(byte[] code, long address, Set<Long> words) {
        return ImportStub.loaded(code, address, words);
    }

    @Override
    public int countStubSize() {
        return FunctionStub.COUNT_SIZE;
    }

    @Override
    public byte[] countStub(long site, long at, long count) {
        return FunctionStub.assembleCount(site, at, count);
    }

    @Override
    public byte[] unwindTable(long at, List<TrampolineRange> ranges, RecordingEntryPoints shim, long personality) {
        RecordingAssembler recording = new RecordingAssembler(shim, 0);
        recording.assemble();
        return UnwindTable.build(at, ranges, recording.unwind(), personality);
    }

    @Override
    public byte[] snippets(List<Snippet> chain, SnippetPlace place, long at, Set<Optimisation> optimisations) {
        return SnippetAssembler.assemble(chain, place, at, optimisations);
    }

    @Override
    public int hookStubSize() {
        return HookStub.SIZE;
    }

    @Override
    public byte[] hookStub(SiteInstruction site, FrameKey key, long record, long at, long body) {
        return HookStub.assemble(site, key, record, at, body);
    }

    @Override
    public int displacementAt(Body body) {
        return switch (body) {
            case ENTRY, EXIT -> HookStub.DISPLACEMENT_AT;
            case FUNCTION_ENTRY, COUNT -> FunctionStub.ENTRY_DISPLACEMENT_AT;
            case FUNCTION_EXIT -> FunctionStub.EXIT_DISPLACEMENT_AT;
        };
    }

    @Override
    public CodeStore retarget(long stub, long body) {
        return new HookStub(stub).retarget(body);
    }

    @Override
    public byte[] emptyFunction() {
        return new byte[] {(byte) RET};
    }

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
        // The operand-size prefix makes these something else, or the same, depending on the maker.
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

    /// The displacement that leads from `next`, the address behind an instruction, to `target`.
    ///
    /// @throws IllegalArgumentException when it does not fit in 32 bits
    public static int displacement(long next, long target) {
        long displacement = target - next;
        if (displacement != (int) displacement) {
            throw new IllegalArgumentException(
                    "0x" + Long.toHexString(target) + " is out of reach of 0x" + Long.toHexString(next));
        }
        return (int) displacement;
    }

    public static int u8(byte[] code, int at) {
        return code[at] & 0xFF;
    }

    public static int i32(byte[] code, int at) {
        return u8(code, at) | u8(code, at + 1) << 8 | u8(code, at + 2) << 16 | code[at + 3] << 24;
    }
}
