package org.mdlagent.arch.elf;

import java.util.Arrays;

/// Where the CFA is at each instruction of one range of code: rows by ascending offset, each of which holds up to the
/// next one. One object is filled for many ranges.
public final class CfaRows {
    /// There is no plain rule in this row: an expression, or what the reader does not know.
    public static final int NO_REGISTER = -1;

    private int[] starts = new int[16];
    private int[] registers = new int[16];
    private int[] offsets = new int[16];
    private int size;

    /// Without rows, until [EhFrame#rows] fills them in.
    public CfaRows() {}

    void clear() {
        size = 0;
    }

    /// A row of no bytes is replaced by the one that follows.
    void add(int start, CfaRule rule) {
        if (size > 0 && starts[size - 1] == start) {
            size--;
        }
        if (size == starts.length) {
            starts = Arrays.copyOf(starts, 2 * size);
            registers = Arrays.copyOf(registers, 2 * size);
            offsets = Arrays.copyOf(offsets, 2 * size);
        }
        starts[size] = start;
        boolean plain = rule instanceof CfaRule.RegisterOffset known && known.offset() == (int) known.offset();
        registers[size] = plain ? ((CfaRule.RegisterOffset) rule).register() : NO_REGISTER;
        offsets[size] = plain ? (int) ((CfaRule.RegisterOffset) rule).offset() : 0;
        size++;
    }

    /// How many rows there are: one at least.
    public int size() {
        return size;
    }

    /// Offset in the range of a row's first byte.
    public int start(int row) {
        return starts[row];
    }

    /// DWARF's number of the register that the CFA is relative to, or [#NO_REGISTER].
    public int register(int row) {
        return registers[row];
    }

    /// CFA minus that register, in bytes.
    public int offset(int row) {
        return offsets[row];
    }

    /// The row that holds at an offset.
    public int at(int offset) {
        int found = Arrays.binarySearch(starts, 0, size, offset);
        return found >= 0 ? found : Math.max(0, -found - 2);
    }
}
