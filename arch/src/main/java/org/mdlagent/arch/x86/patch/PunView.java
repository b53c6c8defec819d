package org.mdlagent.arch.x86.patch;

import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.DisplacementRule;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.x86.bytes.Encoding;
import org.mdlagent.arch.x86.bytes.InstructionDecoder;
import org.mdlagent.arch.x86.find.EntryReader;

/// A view of the entry of a function that no compiler has prepared. It toggles between its own instructions and a jump
/// by one store of five bytes ("Instruction Punning", PLDI 2017). When it is off, the text is what the file says.
///
/// | | bytes | a thread that comes to the entry | a thread that stood at the instruction at `k` |
/// | --- | --- | --- | --- |
/// | off | the function's own | executes them | executes them |
/// | on | `E9 d0 d1 d2 d3` | goes to the hop | fetches `d(k-1)`, which traps, and goes on in the copy |
///
/// The jump covers several instructions, and threads may stand at any of them when it is stored: they have executed
/// the one before, or were interrupted there, or return there. So a byte of the displacement over the head of an
/// instruction is one that traps ([#TRAP]), and the trap table leads from there into a copy of the instructions.
/// That is the way, too, of whoever jumps there from elsewhere: it costs him a trap.
///
/// Assumes
///   A1 a store inside one atomic unit is fetched wholly or not at all ([org.mdlagent.arch.InstructionSet])
///   A2 control enters the function at its first byte or at the head of an instruction, as decoded from there
///   A3 what the trap table says of the heads is published before the jump is first stored, and stays for good, and the
///      copies with it: a thread may have fetched a trapping byte just before it has gone
///   A4 threads that execute the site have not blocked SIGTRAP (the shim's masks see to it)
///   A5 the flags are dead at the entry, and the five bytes are no data
/// Guarantees
///   G1 a thread at the entry executes the function's own instructions or the jump, wholly; a thread at another of the
///      displaced instructions executes that one, in place or as its copy, with the registers it came with
///   G2 that holds however often and from how many threads the site is toggled: each state is one store away from the
///      other, and bytes behind the five are not touched
/// Progress
///   P1 nobody waits; a thread that stands on a displaced instruction when the jump appears pays for one trap
public final class PunView {
    /// `int3`.
    private static final int TRAP = 0xCC;

    /// It, over each byte of a displacement.
    private static final int TRAPS = 0xCCCCCCCC;

    static final int JUMP_LENGTH = 5;

    private final SiteInstruction site;
    private final long address;

    /// The instructions that the jump covers, and the rest of the five bytes.
    private final byte[] code;

    /// Bits of the displacement that lie over heads of instructions.
    private final int heads;

    /// @param site one that [#find] has found
    /// @throws IllegalArgumentException when other instructions stand there
    PunView(SiteInstruction site, InstructionDecoder decoder) {
        this.site = site;
        address = site.address();
        code = Memory.copy(address, Math.max(JUMP_LENGTH, site.length()));
        int mask = 0;
        int at = 0;
        while (at < Math.min(JUMP_LENGTH, site.length())) {
            if (at > 0) {
                mask |= 0xFF << Byte.SIZE * (at - 1);
            }
            if ((code[at] & 0xFF) == TRAP) {
                throw new IllegalArgumentException("a trap of somebody else's, which cannot be told from ours");
            }
            at += decoder.decode(code, at, address).length();
        }
        if (at != site.length()) {
            throw new IllegalArgumentException(
                    "the site at 0x" + Long.toHexString(address) + " ends in an instruction");
        }
        heads = mask;
    }

    /// The site at a function's entry, null when a jump cannot take its place by one store.
    ///
    /// @param function its first byte
    /// @param end      behind the function; what lies between it and `next` is padding
    /// @param next     the next function, or the end of the text
    static @Nullable SiteInstruction find(
            long function, long end, long next, int atomicUnit, InstructionDecoder decoder) {
        long at = function + EntryReader.typeData(Memory.copy(function, Math.clamp(end - function, 0, Long.BYTES)), 0);
        if (at % atomicUnit + JUMP_LENGTH > atomicUnit || !isPadding(end, at + JUMP_LENGTH, next)) {
            return null;
        }
        int own = (int) Math.min(end - at, JUMP_LENGTH + InstructionDecoder.LENGTH_MAX);
        byte[] code = Memory.copy(at, own);
        int length = 0;
        try {
            while (length < Math.min(JUMP_LENGTH, own)) {
                length += decoder.decode(code, length, at).length();
            }
            SiteInstruction site = new SiteInstruction(
                    at, SiteInstruction.Form.INSTRUCTIONS, length, SiteInstruction.Role.FUNCTION, function);
            return new PunView(site, decoder).site;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /// Whether nobody executes the bytes from `from` to `to`, if there are any: tables name no function there, and
    /// nothing stands there that does something. What a linker brings along, as `_fini`, is in no table.
    private static boolean isPadding(long from, long to, long next) {
        long at = from;
        while (at < to) {
            byte[] code = Memory.copy(at, Math.clamp(next - at, 0, InstructionDecoder.LENGTH_MAX));
            int length = code.length > 0 && (code[0] & 0xFF) == TRAP ? 1 : EntryReader.nop(code);
            if (length == 0) {
                return false;
            }
            at += length;
        }
        return next >= to;
    }

    DisplacementRule rule() {
        return new DisplacementRule(heads, heads & TRAPS);
    }

    /// @throws IllegalArgumentException when a thread at the head of a displaced instruction would not trap
    PatchPlan plan(long target) {
        int displacement = Encoding.displacement(address + JUMP_LENGTH, target);
        if (!rule().allows(displacement)) {
            throw new IllegalArgumentException("the displacement 0x" + Integer.toHexString(displacement) + " at 0x"
                    + Long.toHexString(address) + " does not trap over each instruction");
        }
        long on = Encoding.JUMP | Integer.toUnsignedLong(displacement) << Byte.SIZE;
        long off = 0;
        for (int i = 0; i < JUMP_LENGTH; i++) {
            off |= (code[i] & 0xFFL) << Byte.SIZE * i;
        }
        return PatchPlan.asItIs(address, code.length, JUMP_LENGTH, on, off);
    }
}
