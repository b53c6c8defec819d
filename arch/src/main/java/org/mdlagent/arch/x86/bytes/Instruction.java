package org.mdlagent.arch.x86.bytes;

/// The properties of an instruction that relocating it depends on.
///
/// @param length bytes, 1 to 15
/// @param kind how it depends on its address
/// @param target absolute address of its relative branch or memory operand; 0 for none
/// @param relativeAt offset of the relative displacement
/// @param relativeSize bytes of the relative displacement: 1 or 4, or 0
/// @param opcode the last byte of its opcode
/// @param fallsThrough whether control may reach the next instruction; true for a call
public record Instruction(
        int length, Kind kind, long target, int relativeAt, int relativeSize, int opcode, boolean fallsThrough) {

    public enum Kind {
        /// Position-independent.
        PLAIN,
        /// A memory operand is relative to its end.
        RIP_RELATIVE,
        CALL,
        JUMP,
        /// By flags.
        CONDITIONAL_JUMP,
        /// `jrcxz`, `jecxz`, `loop`, `loope`, `loopne`: these reach 128 bytes.
        COUNTED_JUMP,
        /// `xbegin`.
        TRANSACTION,
        /// Through a register or memory, which may be relative to its end.
        INDIRECT_CALL,
        /// Position-dependent in another way: a far call, an operand relative to the low half of its end.
        BOUND
    }
}
