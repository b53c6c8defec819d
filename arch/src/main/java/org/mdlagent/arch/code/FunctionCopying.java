package org.mdlagent.arch.code;

import java.util.List;
import java.util.function.LongPredicate;
import org.mdlagent.arch.shim.NativeApi;

/// Copies whole functions, with counters of basic blocks.
public interface FunctionCopying {
    /// Plans a copy.
    ///
    /// @param pieces   all code of the function; calls enter at the first byte of the first piece
    /// @param pads     where exceptions may continue
    /// @param readable whether the eight bytes at an address can be read: tables of jump targets are looked
    ///     for there
    /// @param fixed    whether instructions may name addresses of the image as constants
    /// @param jumps    whether computed jumps are told apart
    /// @throws IllegalArgumentException if there is no copy with the same effect; the message is the reason
    FunctionCopy plan(
            NativeApi decoder,
            List<CodePiece> pieces,
            List<Long> pads,
            LongPredicate readable,
            boolean fixed,
            boolean jumps);

    /// What a piece of code names outside of itself: where direct jumps and calls lead, and data at
    /// distances from their
    /// instruction.
    ///
    /// @throws IllegalArgumentException if it does not consist of whole instructions
    List<Reference> references(NativeApi decoder, CodePiece piece);

    record Reference(long target, Kind kind) {
        public enum Kind {
            JUMP,
            /// A jump that depends on flags or a register.
            BRANCH,
            CALL,
            DATA
        }
    }
}
