package org.mdlagent.arch.x86.patch;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.x86.bytes.Encoding;
import org.mdlagent.arch.x86.find.EntryReader;

/// A view of the instructions that a compiler has left for a probe at a function's entry or in its prologue. One
/// store toggles them between no effect and a jump. Most forms rely on dead flags: a called function may change
/// the flags (System V ABI, 3.2.1), and so may `mcount`.
///
/// | form | on | off | store |
/// | --- | --- | --- | --- |
/// | call; one NOP, 5 bytes | `E9 d0 d1 d2 d3` | `A9 d0 d1 d2 d3`: `test $d,%eax` | byte 0 |
/// | padded call | `67 E9 d0 d1 d2 d3` | `67 A9 d0 d1 d2 d3` | byte 1 |
/// | call through the GOT | `3E E9 d0 d1 d2 d3` | `3E A9 d0 d1 d2 d3` | byte 1 |
/// | longer NOP, `n` bytes; skip | `E9 d0 d1 d2 d3` | `EB n-2` | bytes 0 and 1 |
/// | run of NOPs | `E9 d0 d1 d2 d3` | `90 d0 d1 d2 d3` | byte 0 |
/// | short NOP | `EB d0` | `90 d0` or `66 d0` | byte 0 |
///
/// A counting site that is a call or a five-byte NOP is on as a call (`E8`): inside a body the stack depth is
/// unknown, so unwinders understand the stub only if it returns. At a function's start, other forms jump.
///
/// In a run of NOPs a thread may be at any of them at any time. So each byte of the displacement is an instruction
/// or a prefix without effect at an entry: a thread that reaches the second byte continues after the fifth in
/// either state. Such a site can reach only a few addresses, where a hop jumps to the stub. The same holds for a
/// short NOP, whose hop is in front of the function.
///
/// Assumes
///   A1 a store inside one atomic unit is fetched wholly or not at all ([org.mdlagent.arch.InstructionSet])
///   A2 control enters a site at its first byte, except in runs of NOPs and short NOPs (no code branches into one
///      instruction of a compiler, or into a sled)
///   A3 flags are dead and the direction flag is clear, as at an entry (System V ABI, 3.2.1)
/// Guarantees
///   G1 a thread at any instruction boundary of the old, the off or the on state continues after the site or in
///      the stub, with unchanged registers
///   G2 G1 holds between any two of the stores; the tail may be written byte by byte
///
/// | step | patcher | executor |
/// | --- | --- | --- |
/// | 1 | neutral word: the off word, before the old tail | old instruction, or nothing |
/// | 2 | sync; tail; sync | nothing: the tail is an immediate, skipped, or instructions without effect |
/// | 3 | on word, off word, ... | the jump, or nothing |
///
/// If only the first byte of an instruction is before a unit's boundary, step 1 is not one store for a call
/// through the GOT and for a longer NOP: they are rewritten as a whole in advance ([PatchPlan#rewritten]). The NOP
/// is then a jump whose displacement is toggled between the stub and the end of the site.
public final class EntryView {
    /// `test $imm32,%eax`.
    private static final int TEST = 0xA9;

    private static final int SHORT_JUMP = 0xEB;
    private static final int NOP = 0x90;

    /// Has no effect on a jump or a register operand.
    private static final int SEGMENT_PREFIX = 0x3E;

    private static final int JUMP_LENGTH = 5;
    private static final int SHORT_JUMP_LENGTH = 2;

    /// Maximum bytes rewritten as a whole.
    private static final int REWRITTEN_MAX = Long.BYTES;

    private static final byte[] NOTHING = {};

    /// Instructions of one byte without an effect at an entry: `nop`, `cmc`, `clc`, `stc`, `cld`.
    private static final int[] INERT = {NOP, 0xF5, 0xF8, 0xF9, 0xFC};

    /// Prefixes without an effect in 64-bit mode (AMD APM vol. 3, 1.2.4): they make displacements positive.
    private static final int[] INERT_PREFIXES = {0x36, 0x2E, 0x26};

    /// Displacements without effect in a run of NOPs, the best first.
    private static final int[] INERT_DISPLACEMENTS = IntStream.concat(
                    Arrays.stream(INERT), Arrays.stream(INERT_PREFIXES))
            .flatMap(top -> Arrays.stream(INERT).map(next -> top << 24 | next << 16 | NOP << 8 | NOP))
            .toArray();

    private final SiteInstruction site;
    private final long address;
    private final int atomicUnit;

    /// @throws IllegalArgumentException when the bytes at the site's address are not of its form
    public EntryView(SiteInstruction site, int atomicUnit) {
        this.site = site;
        this.atomicUnit = atomicUnit;
        address = site.address();
        SiteInstruction.Form found = EntryReader.form(Memory.copy(address, site.length()));
        if (found != site.form()) {
            throw new IllegalArgumentException(
                    "no " + site.form() + " at 0x" + Long.toHexString(address) + " but " + found);
        }
    }

    /// Whether one store can toggle the site at its address.
    public boolean isPatchable() {
        boolean whole = site.role() == SiteInstruction.Role.FUNCTION || isFirst();
        return switch (site.form()) {
            case CALL, CALL_PADDED, CALL_INDIRECT -> true;
            case NOP ->
                site.length() == JUMP_LENGTH || whole && (site.length() <= REWRITTEN_MAX || !isSplitBehindOne());
            case SKIP -> whole && !isSplitBehindOne();
            case NOP_RUN -> whole;
            case NOP_SHORT -> whole && isInert(hopOfShort() - (address + SHORT_JUMP_LENGTH));
            case JUMP, JUMP_INDIRECT, INSTRUCTIONS -> false;
        };
    }

    /// Whether the function begins here, apart from a landing pad (`endbr64`).
    private boolean isFirst() {
        long before = address - site.function();
        return before == 0
                || before == Integer.BYTES
                        && Encoding.i32(Memory.copy(site.function(), Integer.BYTES), 0) == Encoding.ENDBR64;
    }

    private boolean isSplitBehindOne() {
        return (address + 1) % atomicUnit == 0;
    }

    /// The addresses that the site can lead to, the best first; empty if it can lead to any within reach.
    public long[] hops() {
        return switch (site.form()) {
            case NOP_RUN -> {
                long[] hops = new long[INERT_DISPLACEMENTS.length];
                for (int i = 0; i < hops.length; i++) {
                    hops[i] = address + JUMP_LENGTH + INERT_DISPLACEMENTS[i];
                }
                yield hops;
            }
            case NOP_SHORT -> new long[] {hopOfShort()};
            default -> new long[0];
        };
    }

    private long hopOfShort() {
        return site.function() - JUMP_LENGTH;
    }

    /// Whether the instruction after the jump has no segment prefix: with two, it is undefined which one applies.
    private boolean isPrefixable() {
        for (long at = address + JUMP_LENGTH; ; at++) {
            switch (Memory.getByte(at) & 0xFF) {
                case 0x66, 0x67, 0xF0, 0xF2, 0xF3 -> {}
                case 0x26, 0x2E, 0x36, 0x3E, 0x64, 0x65 -> {
                    return false;
                }
                default -> {
                    return true;
                }
            }
        }
    }

    /// @param target one of [#hops], or the stub if that is empty
    /// @throws IllegalArgumentException if the site cannot lead there: it is out of reach, or the instruction
    ///     after the site has a prefix
    public PatchPlan plan(long target) {
        return switch (site.form()) {
            case CALL -> test(0, false, target);
            case CALL_PADDED -> test(1, false, target);
            case CALL_INDIRECT -> test(1, true, target);
            case NOP, SKIP -> {
                if (site.length() == JUMP_LENGTH) {
                    yield site.form() == SiteInstruction.Form.NOP ? test(0, false, target) : skip(target);
                }
                yield isSplitBehindOne() ? jumpOver(target) : skip(target);
            }
            case NOP_RUN -> {
                int displacement = Encoding.displacement(address + JUMP_LENGTH, target);
                yield inert(Encoding.JUMP, displacement, Integer.BYTES);
            }
            case NOP_SHORT -> inert(SHORT_JUMP, Math.toIntExact(target - (address + SHORT_JUMP_LENGTH)), Byte.BYTES);
            case JUMP, JUMP_INDIRECT, INSTRUCTIONS -> throw new IllegalArgumentException("no entry: " + site.form());
        };
    }

    /// Toggles the opcode after a prefix, or the first byte, between `jmp` and `test` with the same operand.
    ///
    /// @param opcode    its offset
    /// @param newPrefix whether the byte in front of it must become a prefix
    private PatchPlan test(int opcode, boolean newPrefix, long target) {
        long toggleAt = address + opcode;
        byte[] tail = bytes(Encoding.displacement(toggleAt + JUMP_LENGTH, target), Integer.BYTES);
        boolean both = newPrefix && !isSplitBehindOne();
        int head = SEGMENT_PREFIX | TEST << 8;
        return new PatchPlan(
                address,
                site.length(),
                both ? address : toggleAt,
                both ? 2 : 1,
                both ? head : TEST,
                toggleAt + 1,
                tail,
                toggleAt,
                1,
                site.role() == SiteInstruction.Role.COUNT ? Encoding.CALL : Encoding.JUMP,
                TEST,
                newPrefix && !both ? join(bytes(head, 2), tail) : NOTHING);
    }

    /// Toggles between a jump to the target and one over the rest of the site.
    private PatchPlan skip(long target) {
        int displacement = Encoding.displacement(address + JUMP_LENGTH, target);
        int on = Encoding.JUMP | (displacement & 0xFF) << 8;
        int off = SHORT_JUMP | site.length() - SHORT_JUMP_LENGTH << 8;
        return new PatchPlan(
                address, site.length(), address, 2, off, address + 2, bytes(displacement >> 8, 3), address, 2, on, off);
    }

    /// The same if the unit ends after the first byte: the displacement is toggled.
    private PatchPlan jumpOver(long target) {
        int on = Encoding.displacement(address + JUMP_LENGTH, target);
        int off = site.length() - JUMP_LENGTH;
        byte[] rest = new byte[off];
        Arrays.fill(rest, (byte) NOP);
        byte[] jump = join(bytes(Encoding.JUMP, 1), bytes(off, Integer.BYTES));
        return new PatchPlan(
                address,
                site.length(),
                address + 1,
                Integer.BYTES,
                off,
                address + JUMP_LENGTH,
                NOTHING,
                address + 1,
                Integer.BYTES,
                on,
                off,
                join(jump, rest));
    }

    /// Toggles the first byte alone, before `size` bytes of displacement that do nothing either.
    private PatchPlan inert(int on, int displacement, int size) {
        byte[] tail = bytes(displacement, size);
        for (int i = 0; i < size; i++) {
            boolean prefix = i == 3 && contains(INERT_PREFIXES, tail[i] & 0xFF) && isPrefixable();
            if (!prefix && !contains(INERT, tail[i] & 0xFF)) {
                throw new IllegalArgumentException("the displacement 0x" + Integer.toHexString(displacement) + " at 0x"
                        + Long.toHexString(address) + " has an effect when it is executed");
            }
        }
        int off = Memory.getByte(address) & 0xFF;
        return new PatchPlan(address, site.length(), address, 1, off, address + 1, tail, address, 1, on, off);
    }

    private static boolean isInert(long displacement) {
        return displacement == (byte) displacement && contains(INERT, (int) displacement & 0xFF);
    }

    private static boolean contains(int[] values, int wanted) {
        for (int value : values) {
            if (value == wanted) {
                return true;
            }
        }
        return false;
    }

    private static byte[] bytes(int value, int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (value >> 8 * i);
        }
        return bytes;
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] joined = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, joined, first.length, second.length);
        return joined;
    }
}
