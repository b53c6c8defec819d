package org.mdlagent.arch.x86.bytes;

/// An instruction, as far as moving it elsewhere needs to know it.
///
/// @param length bytes, 1 to 15
/// @param kind how it depends on where it stands
/// @param target the address that it names relative to its end: of its branch, or of its memory operand; 0 for none
/// @param relativeAt offset of the relative displacement
/// @param relativeSize bytes of the relative displacement: 1 or 4, 0 when there is none
/// @param opcode the last byte of its opcode
/// @param fallsThrough whether the one behind it may run next; after a call, it may
public record Instruction(
        int length, Kind kind, long target, int relativeAt, int relativeSize, int opcode, boolean fallsThrough) {

    /// In the order of `enum mdl_instruction_kind`.
    public enum Kind {
        /// The same wherever it stands.
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
        /// To its place in another way: a far call, an operand relative to the low half of its end.
        BOUND
    }
}
