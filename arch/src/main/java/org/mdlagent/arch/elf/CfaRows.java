package org.mdlagent.arch.elf;

import java.util.Arrays;

/// The CFA at each instruction of one range of code: rows by ascending offset, each valid up to the next. Reusable
/// for many ranges.
public final class CfaRows {
    /// The row has no plain rule: an expression, or an unsupported one.
    public static final int NO_REGISTER = -1;

    private int[] starts = new int[16];
    private int[] registers = new int[16];
    private int[] offsets = new int[16];
    private int size;

    /// Empty until [EhFrame#rows] fills it.
    public CfaRows() {}

    void clear() {
        size = 0;
    }

    /// An empty row is replaced by the next one.
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

    /// Number of rows, at least one.
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

    /// The row in effect at an offset.
    public int at(int offset) {
        int found = Arrays.binarySearch(starts, 0, size, offset);
        return found >= 0 ? found : Math.max(0, -found - 2);
    }
}
