package org.mdlagent.arch.x86.emit;

import java.util.Arrays;
import java.util.List;
import org.mdlagent.arch.code.TrampolineRange;
import org.mdlagent.arch.elf.FrameRule;
import org.mdlagent.arch.layout.CallDescriptor;
import org.mdlagent.arch.x86.bytes.Encoding;

/// Unwind tables of generated code: `.eh_frame_hdr` with its search table, followed by `.eh_frame`
/// (Linux Standard
/// Base, Core, 10.6; DWARF 5, section 6.4).
///
/// All stubs have the same rules by offset, so one description covers any number of adjacent stubs.
public final class UnwindTable {
    private static final int DATA_ALIGNMENT = 0x78; // -8 as SLEB128
    private static final int RETURN_ADDRESS = 16;
    private static final int RSP = 7;

    private static final int ENCODING_ABSOLUTE = 0x00;
    private static final int ENCODING_PC_RELATIVE_INT = 0x1B;
    private static final int ENCODING_TABLE_RELATIVE_INT = 0x3B;
    private static final int ENCODING_INT = 0x03;

    private static final int CFA_ADVANCE = 0x40;
    private static final int CFA_OFFSET = 0x80;
    private static final int CFA_ADVANCE_2 = 0x03;
    private static final int CFA_ADVANCE_4 = 0x04;
    private static final int CFA_DEF_CFA = 0x0C;
    private static final int CFA_DEF_CFA_OFFSET = 0x0E;
    private static final int CFA_DEF_CFA_EXPRESSION = 0x0F;

    private static final int OP_CONST_1U = 0x08;
    private static final int OP_CONST_8U = 0x0E;
    private static final int OP_AND = 0x1A;
    private static final int OP_MUL = 0x1E;
    private static final int OP_PLUS = 0x22;
    private static final int OP_SHR = 0x25;
    private static final int OP_LIT_1 = 0x31;
    private static final int OP_BREG = 0x70;

    private static final int WORDS = (int) CallDescriptor.SIZE;

    /// Bit mask of a stub's bytes at which the words of a call are on the stack.
    private static final long STUB_WORDS =
            bits(FunctionStub.WORDS_AT, FunctionStub.PASSED_AT) | bits(FunctionStub.SIBLING_AT, FunctionStub.SIZE);

    private static final List<UnwindRow> IN_CALL_ROWS = List.of(new UnwindRow(0, UnwindRow.Rule.IN_CALL));

    private static final int HEADER = 12;
    private static final int TABLE_ROW = 8;
    private static final int FRAMES_FIRST = 1024;

    private final long at;

    /// The whole table, from the header on. One array, because a large program's has megabytes.
    private final Bytes out;

    /// Number of rows in the search table so far.
    private int rows;

    private int cie;

    private UnwindTable(long at, int count) {
        this.at = at;
        int framesAt = HEADER + TABLE_ROW * count;
        out = new Bytes(framesAt + FRAMES_FIRST);
        out.put(1, ENCODING_PC_RELATIVE_INT, ENCODING_INT, ENCODING_TABLE_RELATIVE_INT);
        out.putInt(framesAt - Integer.BYTES);
        out.putInt(count);
        out.size = framesAt;
    }

    /// @param at        its future address; its length does not depend on it
    /// @param ranges    in ascending order of address
    /// @param recording rows of the ranges that are recording code
    public static byte[] build(long at, List<TrampolineRange> ranges, List<UnwindRow> recording) {
        UnwindTable table = new UnwindTable(at, ranges.size());
        table.describe(ranges, recording);
        return table.out.toBytes();
    }

    private static long bits(int from, int to) {
        return (-1L << from) & (-1L >>> (Long.SIZE - to));
    }

    private void describe(List<TrampolineRange> ranges, List<UnwindRow> recording) {
        cie = commonEntry();
        for (TrampolineRange range : ranges) {
            switch (range.kind()) {
                case RECORDING -> frame(range, recording);
                case IN_CALL -> frame(range, IN_CALL_ROWS);
                case LEAF -> frame(range, List.of());
                case DISPLACED -> displaced(range);
                case FUNCTION_STUBS -> functionStubs(range);
            }
        }
        out.putInt(0);
    }

    /// The canonical frame address is RSP + 8, plus the words of a call if the byte's bit is set.
    private void functionStubs(TrampolineRange range) {
        int start = beginFrame(range);
        out.put(CFA_DEF_CFA_EXPRESSION, 22, OP_CONST_8U);
        out.putInt((int) STUB_WORDS);
        out.putInt((int) (STUB_WORDS >>> Integer.SIZE));
        out.put(OP_BREG + RETURN_ADDRESS, 0, OP_CONST_1U, FunctionStub.SIZE - 1, OP_AND, OP_SHR, OP_LIT_1, OP_AND);
        out.put(OP_LIT_1 + WORDS - 1, OP_MUL, OP_BREG + RSP, Long.BYTES, OP_PLUS);
        end(start);
    }

    private int commonEntry() {
        int start = begin();
        out.putInt(0);
        out.put(1, 'z', 'R', 0, 1, DATA_ALIGNMENT, RETURN_ADDRESS, 1, ENCODING_PC_RELATIVE_INT);
        out.put(CFA_DEF_CFA, RSP, Long.BYTES, CFA_OFFSET | RETURN_ADDRESS, 1);
        end(start);
        return start;
    }

    private void frame(TrampolineRange range, List<UnwindRow> rows) {
        int start = beginFrame(range);
        int from = 0;
        for (UnwindRow row : rows) {
            advance(row.offset() - from);
            from = row.offset();
            out.put(CFA_DEF_CFA_OFFSET, Long.BYTES + (row.rule() == UnwindRow.Rule.IN_CALL ? WORDS : 0));
        }
        end(start);
    }

    private void row(long code, int frame) {
        int row = HEADER + TABLE_ROW * rows++;
        out.setInt(row, Math.toIntExact(code - at));
        out.setInt(row + Integer.BYTES, frame);
    }

    private void displaced(TrampolineRange range) {
        TrampolineRange.Exceptions handled = range.exceptions();
        int start = handled == null ? beginFrame(range) : beginHandling(range, handled);
        int from = 0;
        for (FrameRule rule : range.rules()) {
            advance(rule.offset() - from);
            from = rule.offset();
            out.put(rule.instructions());
        }
        end(start);
    }

    private int beginFrame(TrampolineRange range) {
        int start = begin();
        row(range.start(), start);
        out.putInt(out.size() - cie);
        out.putInt(Math.toIntExact(range.start() - (at + out.size())));
        out.putInt(Math.toIntExact(range.length()));
        out.put(0);
        return start;
    }

    /// A frame whose function handles exceptions, with a common entry of its own.
    private int beginHandling(TrampolineRange range, TrampolineRange.Exceptions handled) {
        int common = begin();
        out.putInt(0);
        out.put(1, 'z', 'P', 'L', 'R', 0, 1, DATA_ALIGNMENT, RETURN_ADDRESS, 11, ENCODING_ABSOLUTE);
        out.putLong(handled.personality());
        out.put(ENCODING_PC_RELATIVE_INT, ENCODING_PC_RELATIVE_INT);
        out.put(CFA_DEF_CFA, RSP, Long.BYTES, CFA_OFFSET | RETURN_ADDRESS, 1);
        end(common);
        int start = begin();
        row(range.start(), start);
        out.putInt(out.size() - common);
        out.putInt(Math.toIntExact(range.start() - (at + out.size())));
        out.putInt(Math.toIntExact(range.length()));
        out.put(Integer.BYTES);
        out.putInt(Math.toIntExact(handled.data() - (at + out.size())));
        return start;
    }

    private void advance(int bytes) {
        if (bytes < CFA_ADVANCE) {
            out.put(CFA_ADVANCE | bytes);
        } else if (bytes < 1 << 16) {
            out.put(CFA_ADVANCE_2, bytes, bytes >> 8);
        } else {
            out.put(CFA_ADVANCE_4);
            out.putInt(bytes);
        }
    }

    private int begin() {
        int start = out.size();
        out.putInt(0);
        return start;
    }

    private void end(int start) {
        while ((out.size() - start) % Integer.BYTES != 0) {
            out.put(0); // DW_CFA_nop
        }
        out.setInt(start, out.size() - start - Integer.BYTES);
    }

    /// Little-endian bytes.
    private static final class Bytes {
        private byte[] bytes;
        private int size;

        Bytes(int expected) {
            bytes = new byte[expected];
        }

        int size() {
            return size;
        }

        void put(int... values) {
            reserve(values.length);
            for (int value : values) {
                bytes[size++] = (byte) value;
            }
        }

        void put(byte[] values) {
            reserve(values.length);
            System.arraycopy(values, 0, bytes, size, values.length);
            size += values.length;
        }

        void putInt(int value) {
            reserve(Integer.BYTES);
            setInt(size, value);
            size += Integer.BYTES;
        }

        void putLong(long value) {
            putInt((int) value);
            putInt((int) (value >> Integer.SIZE));
        }

        void setInt(int at, int value) {
            Encoding.putInt(bytes, at, value);
        }

        byte[] toBytes() {
            return size == bytes.length ? bytes : Arrays.copyOf(bytes, size);
        }

        private void reserve(int more) {
            if (size + more > bytes.length) {
                bytes = Arrays.copyOf(bytes, Math.max(size + more, 2 * bytes.length));
            }
        }
    }
}
