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

/// A view of the entry of a function that no compiler has prepared. It toggles between its own instructions and a jump
/// by one store of five bytes ("Instruction Punning", PLDI 2017). When it is off, the text is what the file says.
///
/// | | bytes | a thread that comes to the entry | a thread that stood at the instruction at `k` |
/// | --- | --- | --- | --- |
/// | off | the function's own | executes them | executes them |
/// | on | `E9 d0 d1 d2 d3` | goes to the hop | fetches `d(k-1)`, which traps, and goes on in the copy |
///
/// Where an atomic unit ends within the five bytes ([EntryPun.Cut]), no store is enough. The jump is installed and
/// removed in steps, with two waits (`code/entry_jumps.c` has the protocol); meanwhile threads also trap at the entry.
/// Its hop leads to a gate: an aligned jump that one store leads to the stub or to the copy, for threads that cannot
/// wait. Where threads must not trap and bytes on both sides of the boundary change, the jump is permanent: it is part
/// of the copy of the text that replaces the text by one `mmap` ([org.mdlagent.arch.code.CodeMemory#show]).
///
/// The jump covers several instructions, and threads may stand at any of them when it is stored: they have executed
/// the one before, or were interrupted there, or return there. So a byte of the displacement over the head of an
/// instruction is one that traps ([#TRAPS_ALOFT]), and the trap table leads from there into a copy of the
/// instructions. That is the way, too, of whoever jumps there from elsewhere: it costs him a trap.
///
/// | byte | meaning in 64-bit mode | signal | leads to, as the highest byte |
/// | --- | --- | --- | --- |
/// | `CC` | `int3` | SIGTRAP, one byte further | -832 MiB: below a position-independent program is nothing |
/// | `60`, `61` | none (`pusha`, `popa`) | SIGILL, at the byte | 1.5 GiB: above the heap of one that is not |
///
/// Where threads must not trap ([EntryPuns.Covered#STAYS]: they may have blocked the signals, or the program handles
/// them by itself), the displacement has, from the first head on, the bytes that stand there. Then a thread at a head
/// executes its instruction in place, and one that jumps there from elsewhere, too. That leaves the displacements
/// that the first instruction has room for: 65,536 addresses where it has three bytes, a single one where it has one.
///
/// More bytes are none today (06, 07, 0E, 16, 17, 1E, 1F, 27, 2F, 37, 3F, CE, D6), whatever follows them. But
/// makers give such bytes a meaning in time (62, C4, C5, D5), so no more are used than are needed.
///
/// Assumes
///   A1 a store inside one atomic unit is fetched wholly or not at all ([org.mdlagent.arch.InstructionSet])
///   A2 control enters the function at its first byte or at the head of an instruction, as decoded from there
///   A3 what the trap table says of the heads is published before the jump is first stored, and stays for good, and the
///      copies with it: a thread may have fetched a trapping byte just before it has gone
///   A4 threads that execute the site have not blocked SIGTRAP or SIGILL (the shim's masks see to it)
///   A5 the flags are dead at the entry, and the five bytes are no data
/// Guarantees
///   G1 a thread at the entry executes the function's own instructions or the jump, wholly; a thread at another of the
///      displaced instructions executes that one, in place or as its copy, with the registers it came with
///   G2 that holds however often and from how many threads the site, or its gate, is toggled, and bytes behind the five
///      are not touched
/// Progress
///   P1 nobody waits; a thread that stands on a displaced instruction when the jump appears pays for one trap
public final class PunView {
    /// `int3`.
    private static final int TRAP = 0xCC;

    /// It, over each byte of a displacement.
    private static final int TRAPS = 0xCCCCCCCC;

    /// What traps as the highest byte of a displacement.
    private static final int[] TRAPS_ALOFT = {TRAP, 0x60, 0x61};

    private static final int HIGHEST = 3 * Byte.SIZE;

    /// By which bytes of the displacement must trap, a bit for each.
    private static final List<List<DisplacementRule>> RULES = IntStream.range(0, 1 << Integer.BYTES)
            .mapToObj(PunView::bytes)
            .map(PunView::rulesOf)
            .toList();

    static final int JUMP_LENGTH = 5;

    private final SiteInstruction site;
    private final List<DisplacementRule> rules;

    /// @param pun what [#fit] has found
    PunView(EntryPun pun) {
        site = pun.site();
        rules = pun.rules();
    }

    /// What a jump at a function's entry needs, or why there can be none.
    ///
    /// @param code     from the function's first byte to the next function's, or the end of the text
    /// @param function where that byte stands
    /// @param length   of the function; what follows of `code` must be padding where the jump covers it
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

    /// The same for a function of Go, in whose bytes no thread may trap: Go's runtime blocks signals by itself.
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

    /// From the first head on the displacement has the bytes of the code.
    ///
    /// @param end   behind the covered bytes that are the function's
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

    /// What raises the signals of ours: `int3`, and what is no instruction on purpose, as `ud2`.
    private static boolean isTrap(byte[] code, int at) {
        int opcode = code[at] & 0xFF;
        int second = at + 1 < code.length ? code[at + 1] & 0xFF : 0;
        return opcode == TRAP || opcode == 0x0F && (second == 0x0B || second == 0xB9 || second == 0xFF);
    }

    /// A call of less than five bytes: through a register, or a word that one leads to.
    private static boolean isCall(byte[] code, int from, int to) {
        int opcode = (code[from] & 0xF0) == 0x40 ? from + 1 : from;
        return opcode + 1 < to && (code[opcode] & 0xFF) == 0xFF && (code[opcode + 1] >> 3 & 7) == 2;
    }

    /// Whether nobody executes the bytes from `from` to `to`, if there are any: tables name no function there, and
    /// nothing stands there that does something. What a linker brings along, as `_fini`, is in no table.
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
