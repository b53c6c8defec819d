package org.mdlagent.arch.x86.patch;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.DisplacementRule;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.Refusal;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.x86.bytes.Encoding;
import org.mdlagent.arch.x86.bytes.InstructionDecoder;
import org.mdlagent.arch.x86.find.EntryReader;
import org.mdlagent.arch.x86.find.InstructionLengths;

/// A view of the entry of an unprepared function. One store of five bytes toggles the entry between the function's
/// own instructions and a jump ("Instruction Punning", PLDI 2017). When the site is off, the text is that of the
/// file.
///
/// | | bytes | a thread that reaches the entry | a thread already at the instruction at offset `k` |
/// | --- | --- | --- | --- |
/// | off | the function's own | executes them | executes them |
/// | on | `E9 d0 d1 d2 d3` | jumps to the hop | fetches `d(k-1)`, which traps, and continues in the copy |
///
/// If an atomic unit ends within the five bytes ([EntryPun.Cut]), no single store can write the jump. It is
/// installed and removed in steps, with two waits (protocol: `code/entry_jumps.c`); meanwhile threads also trap at
/// the entry. Its hop leads to a gate: an aligned jump that one store redirects to the stub or the copy, for
/// threads that cannot wait. If threads must not trap and bytes on both sides of the boundary change, the jump is
/// permanent: it is part of the copy of the text that replaces the text by one `mmap`
/// ([org.mdlagent.arch.code.CodeMemory#show]).
///
/// The jump covers several instructions, and a thread may be at any of them when the jump is stored: it has
/// executed the previous instruction, was interrupted there, or returns there. So the displacement has a trapping
/// byte ([#TRAPS_ALOFT]) over the first byte (the head) of each covered instruction, and the trap table leads from
/// there to the copy of the instructions. Code that branches there takes the same way, at the cost of a trap.
///
/// | byte | meaning in 64-bit mode | signal | target range, as the highest byte |
/// | --- | --- | --- | --- |
/// | `CC` | `int3` | SIGTRAP, one byte further | -832 MiB: unused below a position-independent program |
/// | `60`, `61` | none (`pusha`, `popa`) | SIGILL, at the byte | 1.5 GiB: above the heap of a fixed-address program |
///
/// If threads must not trap ([EntryPuns.Covered#STAYS]: they may have blocked the signals, or the program handles
/// them itself), the displacement keeps the original bytes from the first head on. A thread at a head then
/// executes its instruction in place. Only the bytes of the first instruction remain free: 65,536 targets if it
/// has three bytes, one target if it has one byte.
///
/// More bytes are invalid today (06, 07, 0E, 16, 17, 1E, 1F, 27, 2F, 37, 3F, CE, D6). Vendors have given such
/// bytes a meaning later (62, C4, C5, D5), so no more are used than needed.
///
/// Assumes
///   A1 a store inside one atomic unit is fetched wholly or not at all ([org.mdlagent.arch.InstructionSet])
///   A2 control enters the function at its first byte or at the head of an instruction, as decoded from there
///   A3 the trap table's rows of the heads are published before the jump is first stored; rows and copies stay
///      forever, because a thread may have fetched a trapping byte just before its removal
///   A4 threads that execute the site have not blocked SIGTRAP or SIGILL (ensured by the shim's masks)
///   A5 the flags are dead at the entry, and the five bytes are not data
/// Guarantees
///   G1 a thread at the entry executes the function's own instructions or the jump, completely; a thread at
///      another displaced instruction executes that instruction, in place or as its copy, with unchanged registers
///   G2 G1 holds for any number of toggles of the site or its gate by any number of threads; bytes after the five
///      are not changed
/// Progress
///   P1 no thread waits; a thread on a displaced instruction when the jump appears takes one trap
public final class PunView {
    /// `int3`.
    private static final int TRAP = 0xCC;

    /// `int3` in each byte of a displacement.
    private static final int TRAPS = 0xCCCCCCCC;

    /// Bytes that trap and may be the highest byte of a displacement.
    private static final int[] TRAPS_ALOFT = {TRAP, 0x60, 0x61};

    private static final int HIGHEST = 3 * Byte.SIZE;

    /// Rules by the set of displacement bytes that must trap, a bit for each byte.
    private static final List<List<DisplacementRule>> RULES = IntStream.range(0, 1 << Integer.BYTES)
            .mapToObj(PunView::bytes)
            .map(PunView::rulesOf)
            .toList();

    static final int JUMP_LENGTH = 5;

    private final SiteInstruction site;
    private final List<DisplacementRule> rules;

    /// @param pun result of [#fit]
    PunView(EntryPun pun) {
        site = pun.site();
        rules = pun.rules();
    }

    /// The requirements of a jump at a function's entry, or the reason why it is impossible.
    ///
    /// @param code     bytes from the function's start to the next function, or to the end of the text
    /// @param function address of the first byte
    /// @param length   of the function; the part of `code` after it must be padding as far as the jump covers it
    static EntryPuns.Fit fit(
            byte[] code, long function, long length, int atomicUnit, LengthDecoder decoder, EntryPuns.Covered covered) {
        int start = EntryReader.typeData(code, 0);
        int own = (int) Math.min(Math.min(length, code.length) - start, JUMP_LENGTH + InstructionDecoder.LENGTH_MAX);
        if (own <= 0) {
            return Refusal.UNKNOWN_INSTRUCTION;
        }
        long at = function + start;
        if (!isPadding(code, start + own, start + JUMP_LENGTH)) {
            return Refusal.TOO_SHORT;
        }
        byte[] lengths = InstructionLengths.of(Arrays.copyOfRange(code, start, start + own), decoder);
        int jump = Math.min(JUMP_LENGTH, own);
        int heads = 0;
        int behind = 0;
        while (behind < jump) {
            int head = behind;
            behind += lengths[head];
            if (lengths[head] == 0) {
                return Refusal.UNKNOWN_INSTRUCTION;
            } else if (isTrap(code, start + head)) {
                return Refusal.TRAP;
            } else if (behind < jump && isCall(code, start + head, start + behind)) {
                return Refusal.CALL_WITHIN;
            } else if (head > 0) {
                heads |= 1 << head - 1;
            }
        }
        return new EntryPun(
                new SiteInstruction(
                        at, SiteInstruction.Form.INSTRUCTIONS, behind, SiteInstruction.Role.FUNCTION, function),
                covered == EntryPuns.Covered.TRAPS ? RULES.get(heads) : List.of(kept(code, start, jump, heads)),
                cut(at, heads, atomicUnit, covered == EntryPuns.Covered.TRAPS));
    }

    /// The same for a Go function, where no thread may trap: Go's runtime blocks signals itself.
    static EntryPun fit(byte[] code, GoEntry entry, long function, int atomicUnit) {
        SiteInstruction site = entry.instructions(function);
        return new EntryPun(
                site,
                List.of(kept(code, entry.site, JUMP_LENGTH, entry.heads())),
                cut(site.address(), entry.heads(), atomicUnit, false));
    }

    /// @param heads a bit for each byte of the displacement
    private static EntryPun.@Nullable Cut cut(long at, int heads, int atomicUnit, boolean traps) {
        int front = (int) (atomicUnit - at % atomicUnit);
        if (front >= JUMP_LENGTH) {
            return null;
        }
        boolean whole = (heads >> front - 1 & 1) != 0;
        int before = heads & (1 << front - 1) - 1;
        int head = Integer.SIZE - Integer.numberOfLeadingZeros(before);
        return new EntryPun.Cut(front, whole ? EntryPun.Cut.NO_HEAD : head, traps);
    }

    /// @param heads the bytes of the displacement that must trap
    private static List<DisplacementRule> rulesOf(int heads) {
        if (heads >>> HIGHEST == 0) {
            return List.of(new DisplacementRule(heads, heads & TRAPS));
        }
        int below = heads & TRAPS & (1 << HIGHEST) - 1;
        return Arrays.stream(TRAPS_ALOFT)
                .mapToObj(highest -> new DisplacementRule(heads, below | highest << HIGHEST))
                .toList();
    }

    /// A displacement that keeps the code's bytes from the first head on.
    ///
    /// @param end   end of the function's covered bytes
    /// @param heads a bit for each byte of the displacement
    private static DisplacementRule kept(byte[] code, int start, int end, int heads) {
        int mask = 0;
        int value = 0;
        for (int at = 1 + Integer.numberOfTrailingZeros(heads); at < end; at++) {
            int shift = Byte.SIZE * (at - 1);
            mask |= 0xFF << shift;
            value |= (code[start + at] & 0xFF) << shift;
        }
        return new DisplacementRule(mask, value);
    }

    /// A whole byte for each bit.
    private static int bytes(int bits) {
        int bytes = 0;
        for (int i = 0; i < Integer.BYTES; i++) {
            bytes |= (bits >> i & 1) * 0xFF << Byte.SIZE * i;
        }
        return bytes;
    }

    /// Whether an instruction raises the signals that the agent uses: `int3`, or an undefined one such as `ud2`.
    private static boolean isTrap(byte[] code, int at) {
        int opcode = code[at] & 0xFF;
        int second = at + 1 < code.length ? code[at + 1] & 0xFF : 0;
        return opcode == TRAP || opcode == 0x0F && (second == 0x0B || second == 0xB9 || second == 0xFF);
    }

    /// A call of less than five bytes: through a register, or a word at a register's address.
    private static boolean isCall(byte[] code, int from, int to) {
        int opcode = (code[from] & 0xF0) == 0x40 ? from + 1 : from;
        return opcode + 1 < to && (code[opcode] & 0xFF) == 0xFF && (code[opcode + 1] >> 3 & 7) == 2;
    }

    /// Whether the bytes from `from` to `to` are padding: traps and NOPs only. Tables are not enough, because
    /// functions that the linker adds, such as `_fini`, are in no table.
    private static boolean isPadding(byte[] code, int from, int to) {
        int at = from;
        while (at < to) {
            byte[] rest = Arrays.copyOfRange(code, at, Math.min(at + InstructionDecoder.LENGTH_MAX, code.length));
            int length = rest.length > 0 && (rest[0] & 0xFF) == TRAP ? 1 : EntryReader.nop(rest);
            if (length == 0) {
                return false;
            }
            at += length;
        }
        return to <= code.length;
    }

    /// @throws IllegalArgumentException when a thread at the head of a displaced instruction would not trap
    PatchPlan plan(long target) {
        long on = Encoding.JUMP | Integer.toUnsignedLong(displacement(target)) << Byte.SIZE;
        byte[] code = Memory.copy(site.address(), JUMP_LENGTH);
        long off = 0;
        for (int i = 0; i < JUMP_LENGTH; i++) {
            off |= (code[i] & 0xFFL) << Byte.SIZE * i;
        }
        return PatchPlan.asItIs(site.address(), Math.max(JUMP_LENGTH, site.length()), JUMP_LENGTH, on, off);
    }

    /// @throws IllegalArgumentException when a store to the gate would not be atomic
    static PatchPlan gate(long gate, long stub, long copy) {
        if (gate % Long.BYTES != 0) {
            throw new IllegalArgumentException("a gate that is not aligned: 0x" + Long.toHexString(gate));
        }
        int on = Encoding.displacement(gate + JUMP_LENGTH, stub);
        int off = Encoding.displacement(gate + JUMP_LENGTH, copy);
        return PatchPlan.asItIs(gate + 1, Integer.BYTES, Integer.BYTES, on, off);
    }

    private int displacement(long target) {
        long address = site.address();
        int displacement = Encoding.displacement(address + JUMP_LENGTH, target);
        if (rules.stream().noneMatch(rule -> rule.allows(displacement))) {
            throw new IllegalArgumentException("the displacement 0x" + Integer.toHexString(displacement) + " at 0x"
                    + Long.toHexString(address) + " does not trap over each instruction");
        }
        return displacement;
    }
}
