package org.mdlagent.arch.x86.copy;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.LongPredicate;
import org.mdlagent.arch.code.CodePiece;
import org.mdlagent.arch.code.FunctionCopy;
import org.mdlagent.arch.code.FunctionCopying;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.x86.bytes.Instruction;
import org.mdlagent.arch.x86.bytes.NativeInstructionDecoder;

/// Copies functions of x86-64 code.
public final class FunctionCopier implements FunctionCopying {
    @Override
    public FunctionCopy plan(
            NativeApi decoder,
            List<CodePiece> pieces,
            List<Long> pads,
            LongPredicate readable,
            boolean fixed,
            boolean jumps) {
        Steps steps = Steps.of(decoder, pieces);
        BitSet landing = new BitSet();
        for (long pad : pads) {
            if (steps.at(pad) < 0) {
                throw new IllegalArgumentException("exceptions continue outside of it");
            }
            landing.set(steps.at(pad));
        }
        Blocks blocks = Blocks.of(steps, new ComputedTargets(steps, readable, fixed).find(), landing);
        return new CountingCopy(steps, blocks, new Liveness(steps, blocks), landing, jumps);
    }

    @Override
    public List<Reference> references(NativeApi decoder, CodePiece piece) {
        List<Reference> references = new ArrayList<>();
        for (Instruction instruction : new NativeInstructionDecoder(decoder).decodeAll(piece.code(), piece.address())) {
            if (instruction.relativeSize() != 0 && !piece.holds(instruction.target())) {
                references.add(new Reference(
                        instruction.target(),
                        switch (instruction.kind()) {
                            case JUMP -> Reference.Kind.JUMP;
                            case CONDITIONAL_JUMP, COUNTED_JUMP -> Reference.Kind.BRANCH;
                            case CALL -> Reference.Kind.CALL;
                            default -> Reference.Kind.DATA;
                        }));
            }
        }
        return references;
    }
}
