package org.mdlagent.arch.x86.copy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.mdlagent.arch.code.CodePiece;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.x86.bytes.Instruction;
import org.mdlagent.arch.x86.bytes.NativeInstructionDecoder;

/// The instructions of a function, numbered through all its pieces.
final class Steps {
    static final int NONE = -1;

    final List<CodePiece> pieces;
    final List<Instruction> instructions = new ArrayList<>();

    /// Of each instruction: its piece and its offset there.
    final int[] pieceOf;

    final int[] offsetOf;

    /// What it does with registers and flags ([NativeApi#instructionUses]).
    final long[] uses;

    /// Of each byte of each piece: the instruction that begins there, or [#NONE].
    private final int[][] at;

    private Steps(List<CodePiece> pieces, int bytes) {
        this.pieces = pieces;
        pieceOf = new int[bytes];
        offsetOf = new int[bytes];
        uses = new long[bytes];
        at = new int[pieces.size()][];
    }

    static Steps of(NativeApi shim, List<CodePiece> pieces) {
        Steps steps = new Steps(
                pieces, pieces.stream().mapToInt(piece -> piece.code().length).sum());
        NativeInstructionDecoder decoder = new NativeInstructionDecoder(shim);
        for (int i = 0; i < pieces.size(); i++) {
            steps.add(
                    shim, decoder.decodeAll(pieces.get(i).code(), pieces.get(i).address()), i);
        }
        return steps;
    }

    private void add(NativeApi shim, List<Instruction> decoded, int piece) {
        byte[] code = pieces.get(piece).code();
        at[piece] = new int[code.length];
        Arrays.fill(at[piece], NONE);
        int offset = 0;
        for (Instruction instruction : decoded) {
            int number = instructions.size();
            at[piece][offset] = number;
            pieceOf[number] = piece;
            offsetOf[number] = offset;
            uses[number] = shim.instructionUses(code, offset, instruction.length());
            instructions.add(instruction);
            offset += instruction.length();
        }
    }

    int count() {
        return instructions.size();
    }

    Instruction get(int number) {
        return instructions.get(number);
    }

    long address(int number) {
        return pieces.get(pieceOf[number]).address() + offsetOf[number];
    }

    byte[] code(int number) {
        byte[] code = pieces.get(pieceOf[number]).code();
        return Arrays.copyOfRange(
                code, offsetOf[number], offsetOf[number] + get(number).length());
    }

    /// The instruction at an address, or [#NONE].
    int at(long address) {
        for (int i = 0; i < pieces.size(); i++) {
            if (pieces.get(i).holds(address)) {
                return at[i][(int) (address - pieces.get(i).address())];
            }
        }
        return NONE;
    }

    boolean holds(long address) {
        return pieces.stream().anyMatch(piece -> piece.holds(address));
    }

    /// The instruction behind this one in the same piece, or [#NONE].
    int next(int number) {
        return number + 1 < count() && pieceOf[number + 1] == pieceOf[number] ? number + 1 : NONE;
    }

    /// The instruction of the function that a direct jump leads to, or [#NONE].
    int target(int number) {
        return at(get(number).target());
    }

    boolean isDirectJump(int number) {
        return switch (get(number).kind()) {
            case JUMP, CONDITIONAL_JUMP, COUNTED_JUMP -> true;
            default -> false;
        };
    }

    boolean isCall(int number) {
        Instruction.Kind kind = get(number).kind();
        return kind == Instruction.Kind.CALL || kind == Instruction.Kind.INDIRECT_CALL;
    }

    /// Whether control leaves the function and comes back, perhaps: a call or a system call.
    boolean isLeft(int number) {
        return isCall(number) || isSystemCall(number);
    }

    /// `syscall`, `sysenter`, `int`.
    private boolean isSystemCall(int number) {
        byte[] code = code(number);
        int last = code.length - 1;
        boolean isTwoBytes = last == 1 && code[0] == 0x0F && (code[1] == 0x05 || code[1] == 0x34);
        return isTwoBytes || last == 1 && (code[0] & 0xFF) == 0xCD;
    }

    /// Whether it jumps through a register or memory.
    boolean isComputedJump(int number) {
        Instruction instruction = get(number);
        return !instruction.fallsThrough()
                && (instruction.kind() == Instruction.Kind.PLAIN || instruction.kind() == Instruction.Kind.RIP_RELATIVE)
                && ComputedJump.opcodeAt(code(number)) >= 0;
    }

    /// Whether it is a NOP as assemblers put between code.
    boolean isPadding(int number) {
        byte[] code = code(number);
        int at = 0;
        while (at < code.length - 1 && (code[at] == 0x66 || code[at] == 0x2E)) {
            at++;
        }
        boolean isLong = at < code.length - 1 && code[at] == 0x0F && code[at + 1] == 0x1F;
        return isLong || (code[at] & 0xFF) == 0x90;
    }

    /// Whether control does not simply go on behind it.
    boolean endsBlock(int number) {
        return !get(number).fallsThrough() || isDirectJump(number) || isLeft(number);
    }
}
