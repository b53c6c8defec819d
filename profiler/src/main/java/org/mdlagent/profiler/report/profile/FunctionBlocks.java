package org.mdlagent.profiler.report.profile;

import java.util.List;
import org.mdlagent.arch.elf.SourceLine;

/// How often each basic block of a function ran.
///
/// @param blocks  in ascending order of address in each piece of the function's code
/// @param entered jumps into the middle of blocks, by computed addresses: the counts of the rest
///     of these blocks lack them. 0 in code of compilers
public record FunctionBlocks(FunctionProfile function, List<Block> blocks, long entered) {
    /// A basic block: it ends at a jump, a return or a call, and before code that is jumped to.
    ///
    /// @param address      of its first instruction in the ELF file
    /// @param size         in bytes
    /// @param instructions their number
    /// @param count        how often it began to run
    /// @param lines        that it has code of; empty when not known
    public record Block(long address, int size, int instructions, long count, List<SourceLine> lines) {
        public Block {
            lines = List.copyOf(lines);
        }

        /// Instructions executed.
        public double executed() {
            return (double) count * instructions;
        }
    }

    public FunctionBlocks {
        blocks = List.copyOf(blocks);
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
