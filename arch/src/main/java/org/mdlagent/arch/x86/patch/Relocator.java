package org.mdlagent.arch.x86.patch;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.mdlagent.arch.code.RelocatedCode;
import org.mdlagent.arch.x86.bytes.Encoding;
import org.mdlagent.arch.x86.bytes.Instruction;
import org.mdlagent.arch.x86.bytes.InstructionDecoder;

/// Relocates instructions: generates code with the same effect at another address, which then continues after the
/// originals.
///
/// Each instruction is read once and written once:
///
/// | instruction | its copy |
/// | --- | --- |
/// | reads memory relative to its end | the same, re-aimed |
/// | `jmp`, `jcc`, short or near | near |
/// | `jrcxz`, `loop` and the like | itself, across a short jump, to a near jump |
/// | `call target` | push of the original return address, near jump |
/// | `call *operand` | push of the operand, which ends below the return address, and jump through it there |
/// | any other | the same |
///
/// A near jump whose target is out of reach becomes an indirect jump through the following 8 bytes. A branch to
/// another of the given instructions leads to its copy.
///
/// A copied call pushes the return address of the original, not of the copy. So callees that read their return
/// address, unwinders and stack walkers see the original address, and the copy may be freed while its callees run.
/// The price: the callee's `ret` is mispredicted, an enabled shadow stack does not know the address, and an
/// indirect call needs one more word of stack, where the callee's frame will be.
///
/// `syscall` is copied unchanged: it leaves the copy's address in rcx, which the kernel's ABI declares clobbered.
/// The same holds for `fnstenv` and similar instructions, with the address of the last x87 instruction.
public final class Relocator {
    private static final int NEAR_JUMP = 5;
    private static final int FAR_JUMP = 14;

    private final InstructionDecoder decoder;

    public Relocator(InstructionDecoder decoder) {
        this.decoder = decoder;
    }

    /// The copy for `at` of the whole instructions `code` at `address`. Its length is the same for every `at`
    /// within 2 GiB of everything that `code` refers to: relocate to `address` itself to learn how much to
    /// allocate.
    ///
    /// @throws IllegalArgumentException if there is no such copy; the message gives the reason
    public byte[] relocate(byte[] code, long address, long at) {
        return relocated(code, address, at).bytes();
    }

    /// The same, with the mapping from instructions to their copies.
    public RelocatedCode relocated(byte[] code, long address, long at) {
        Copy copy = new Copy(code, address, at);
        boolean goesOn = true;
        boolean movable = true;
        int offset = 0;
        for (Instruction instruction : decoder.decodeAll(code, address)) {
            goesOn = copy.append(instruction, offset);
            movable &= instruction.kind() == Instruction.Kind.PLAIN;
            offset += instruction.length();
        }
        int end = copy.out.position();
        if (goesOn) {
            copy.jump(address + code.length);
        }
        movable &= copy.out.position() == end + NEAR_JUMP;
        return new RelocatedCode(copy.toBytes(), copy.copies, movable ? end + 1 : -1);
    }

    /// @param at offset in the copy of a displacement of 4 bytes
    /// @param offset in the original of the instruction that it leads to
    private record Fixup(int at, int offset) {}

    private static final class Copy {
        private final byte[] code;
        private final long address;
        private final long at;
        private final ByteBuffer out;
        private final int[] copies;
        private final List<Fixup> fixups = new ArrayList<>();

        Copy(byte[] code, long address, long at) {
            this.code = code;
            this.address = address;
            this.at = at;
            // The largest expansion is that of a call through a register.
            out = ByteBuffer.allocate(16 * code.length + FAR_JUMP).order(ByteOrder.LITTLE_ENDIAN);
            copies = new int[code.length];
            Arrays.fill(copies, -1);
        }

        /// Whether the copy must continue after the instruction; a call continues in place.
        boolean append(Instruction instruction, int offset) {
            copies[offset] = out.position();
            switch (instruction.kind()) {
                case PLAIN -> out.put(code, offset, instruction.length());
                case RIP_RELATIVE -> reaim(instruction, offset);
                case JUMP -> jump(instruction.target());
                case CONDITIONAL_JUMP -> jump(instruction.opcode() & 0xF, instruction.target());
                case COUNTED_JUMP -> {
                    out.put(code, offset, instruction.relativeAt()).put((byte) 2);
                    skip(0xEB, instruction.target());
                    jump(instruction.target());
                }
                case CALL -> {
                    pushReturnAddress(instruction, offset);
                    jump(instruction.target());
                    return false;
                }
                case INDIRECT_CALL -> {
                    callIndirectly(instruction, offset);
                    return false;
                }
                case TRANSACTION -> throw refused(offset, "the abort address of a transaction is relative");
                case BOUND ->
                    throw refused(offset, "it is a far call or refers to the low half of the instruction pointer");
            }
            return instruction.fallsThrough();
        }

        private void reaim(Instruction instruction, int offset) {
            int start = out.position();
            out.put(code, offset, instruction.length());
            if (instruction.relativeSize() != 0) {
                out.putInt(start + instruction.relativeAt(), displacement(instruction.target()));
            }
        }

        private void callIndirectly(Instruction instruction, int offset) {
            int opcode = out.position();
            reaim(instruction, offset);
            while (out.get(opcode) != (byte) 0xFF) {
                opcode++; // no prefix has this value
            }
            // The operand may name rsp, or lie where the return address goes: it is read first, as the call does.
            out.put(opcode + 1, (byte) (out.get(opcode + 1) & 0xC7 | 6 << 3)); // push operand
            put(0x8F, 0x44, 0x24, 0xF0); // pop -16(%rsp): a signal handler spares 128 bytes there
            pushReturnAddress(instruction, offset);
            put(0xFF, 0x64, 0x24, 0xF8); // jmp *-8(%rsp)
        }

        private void pushReturnAddress(Instruction instruction, int offset) {
            long returnAddress = address + offset + instruction.length();
            if (offset + instruction.length() < code.length) {
                throw refused(offset, "a call must be the last copied instruction");
            }
            put(0x68); // push, sign-extended
            out.putInt((int) returnAddress);
            put(0xC7, 0x44, 0x24, 0x04); // movl, 4(%rsp)
            out.putInt((int) (returnAddress >> 32));
        }

        void jump(long target) {
            if (isReached(target)) {
                put(Encoding.JUMP);
                putDisplacement(target);
            } else {
                put(0xFF, 0x25, 0, 0, 0, 0); // jmp *0(%rip)
                out.putLong(target);
            }
        }

        private void jump(int condition, long target) {
            if (isReached(target)) {
                put(0x0F, 0x80 | condition);
                putDisplacement(target);
            } else {
                skip(0x70 | condition ^ 1, target);
                jump(target);
            }
        }

        /// A short jump over the following jump to `target`.
        private void skip(int opcode, long target) {
            put(opcode, 0);
            int displacement = out.position() - 1;
            out.put(displacement, (byte) (isReached(target) ? NEAR_JUMP : FAR_JUMP));
        }

        /// Whether a branch to `target` fits in 4 bytes anywhere in the copy.
        private boolean isReached(long target) {
            long distance = target - (at + out.position());
            return isCopied(target)
                    || distance >= Integer.MIN_VALUE + InstructionDecoder.LENGTH_MAX && distance <= Integer.MAX_VALUE;
        }

        private boolean isCopied(long target) {
            return target - address >= 0 && target - address < code.length;
        }

        private void putDisplacement(long target) {
            if (isCopied(target)) {
                fixups.add(new Fixup(out.position(), (int) (target - address)));
                out.putInt(0);
            } else {
                out.putInt((int) (target - (at + out.position() + 4)));
            }
        }

        /// From the end of what was written.
        private int displacement(long target) {
            return Encoding.displacement(at + out.position(), target);
        }

        private void put(int... values) {
            for (int value : values) {
                out.put((byte) value);
            }
        }

        private IllegalArgumentException refused(int offset, String reason) {
            return new IllegalArgumentException(
                    "no copy of the instruction at 0x" + Long.toHexString(address + offset) + ": " + reason);
        }

        byte[] toBytes() {
            for (Fixup fixup : fixups) {
                int copy = copies[fixup.offset];
                if (copy < 0) {
                    throw refused(fixup.offset, "no instruction begins there, but a branch leads there");
                }
                out.putInt(fixup.at, copy - (fixup.at + 4));
            }
            return Arrays.copyOf(out.array(), out.position());
        }
    }
}
