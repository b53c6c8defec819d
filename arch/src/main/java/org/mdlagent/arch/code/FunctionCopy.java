package org.mdlagent.arch.code;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.ArcDescriptor;

/// The plan of a copy of a function that counts how often its basic blocks run and the arcs between them
/// are taken.
///
/// A block ends at a jump, a return, a call or a system call, and before an instruction that is jumped to:
/// all of it runs, or nothing. A block runs as often as its arcs lead to it, and as often as its arcs lead
/// away. So some counters of eight bytes tell the counts of all blocks and arcs.
public interface FunctionCopy {
    /// Instead of the number of a block, a counter or an instruction.
    int NONE = -1;

    /// In ascending order of address within each piece.
    List<Block> blocks();

    /// @param size         in bytes
    /// @param instructions their addresses
    /// @param counter      number of its counter, [#NONE] if its count follows from others
    record Block(int size, long[] instructions, int counter) {}

    List<Arc> arcs();

    /// A way that control takes.
    ///
    /// @param from    number of a block, [#NONE] if control comes from outside
    /// @param to      the same
    /// @param counter as of a block
    /// @param target  address outside that a direct jump or call leads to, else 0
    record Arc(int from, int to, Kind kind, int counter, long target) {
        /// `enum mdl_arc_kind` of `mdl/layout.h`.
        public enum Kind {
            /// To the block behind: a jump that is not taken, or no jump.
            NEXT(ArcDescriptor.KIND_NEXT),
            JUMP(ArcDescriptor.KIND_JUMP),
            /// Where it comes from is known if computed jumps are told apart.
            COMPUTED(ArcDescriptor.KIND_COMPUTED),
            CALL(ArcDescriptor.KIND_CALL),
            /// From a call or system call. A call may return never, or more than once.
            RETURN(ArcDescriptor.KIND_RETURN),
            ENTRY(ArcDescriptor.KIND_ENTRY),
            /// A return, or the end of the program.
            LEAVE(ArcDescriptor.KIND_LEAVE),
            /// To where an exception continues.
            HANDLER(ArcDescriptor.KIND_HANDLER),
            /// Not an arc between blocks: computed jumps to where none was foreseen. Counts are wrong if
            /// there are any.
            UNFORESEEN(ArcDescriptor.KIND_UNFORESEEN);

            private final int code;

            Kind(int code) {
                this.code = code;
            }

            /// The code in a record.
            public int code() {
                return code;
            }

            /// The kind with this code, null if there is none.
            public static @Nullable Kind of(int code) {
                return switch (code) {
                    case ArcDescriptor.KIND_NEXT -> NEXT;
                    case ArcDescriptor.KIND_JUMP -> JUMP;
                    case ArcDescriptor.KIND_COMPUTED -> COMPUTED;
                    case ArcDescriptor.KIND_CALL -> CALL;
                    case ArcDescriptor.KIND_RETURN -> RETURN;
                    case ArcDescriptor.KIND_ENTRY -> ENTRY;
                    case ArcDescriptor.KIND_LEAVE -> LEAVE;
                    case ArcDescriptor.KIND_HANDLER -> HANDLER;
                    case ArcDescriptor.KIND_UNFORESEEN -> UNFORESEEN;
                    default -> null;
                };
            }
        }
    }

    int counters();

    /// Bytes of the copy.
    int size();

    /// Bytes of the tables that lead computed jumps into the copy; 0 for none.
    int tableSize();

    /// The copy.
    ///
    /// @param at      where it will stand, within 2 GiB of all that the function refers to
    /// @param counter of the first block, below 2 GiB; the thread's base of counters is added to it
    /// @param table   where the tables will stand, below 2 GiB
    byte[] code(long at, long counter, long table);

    /// The tables of the last [#code].
    byte[] table();

    /// Offset in the last [#code] of the instruction at an address, -1 if none begins there.
    int place(long address);

    /// Offset in the last [#code] where jumps to the instruction at an address arrive.
    int landing(long address);

    /// Where the copy of a piece ends, in the last [#code].
    int end(int piece);
}
