package org.mdlagent.profiler.report.profile;

import java.util.List;
import org.mdlagent.arch.code.FunctionCopy;
import org.mdlagent.arch.elf.SourceLine;

/// How often each basic block of a function ran.
///
/// @param blocks     in ascending order of address in each piece of the function's code
/// @param arcs       between them, and from and to the outside
/// @param unforeseen jumps by computed addresses to places that no table of the function names: if there
///     were any, counts of the function are wrong. 0 in code of compilers
public record FunctionBlocks(FunctionProfile function, List<Block> blocks, List<Arc> arcs, long unforeseen) {
    /// Stands for an address that is not in the function.
    public static final long OUTSIDE = -1;

    /// A basic block: it ends at a jump, a return, a call or a system call, and before code that is jumped
    /// to.
    ///
    /// @param address      of its first instruction in the ELF file
    /// @param size         in bytes
    /// @param last         offset of its last instruction
    /// @param instructions their number
    /// @param count        how often it began to run
    /// @param lines        that it has code of; empty when not known
    public record Block(long address, int size, int last, int instructions, long count, List<SourceLine> lines) {
        public Block {
            lines = List.copyOf(lines);
        }

        /// Instructions executed.
        public double executed() {
            return (double) count * instructions;
        }
    }

    /// Where control goes from the end of a block.
    ///
    /// @param from   address of the last instruction of a block; [#OUTSIDE] if control comes from outside or
    ///     from a computed jump that is not known
    /// @param to     address of a block, or [#OUTSIDE]
    /// @param target address outside of the function that it leads to, 0 if not known
    public record Way(FunctionCopy.Arc.Kind kind, long from, long to, long target) {}

    /// @param count how often control took the way
    public record Arc(Way way, long count) {}

    public FunctionBlocks {
        blocks = List.copyOf(blocks);
        arcs = List.copyOf(arcs);
    }

    /// Number of blocks that ran.
    public int ran() {
        return (int) blocks.stream().filter(block -> block.count > 0).count();
    }

    /// Instructions executed.
    public double executed() {
        return blocks.stream().mapToDouble(Block::executed).sum();
    }
}
