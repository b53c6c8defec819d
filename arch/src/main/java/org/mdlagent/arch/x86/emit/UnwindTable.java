package org.mdlagent.arch.x86.emit;

import java.util.Arrays;
import java.util.List;
import org.mdlagent.arch.code.TrampolineRange;
import org.mdlagent.arch.elf.FrameRule;
import org.mdlagent.arch.layout.FrameDescriptor;
import org.mdlagent.arch.x86.bytes.Encoding;

/// Describes generated code to unwinders: `.eh_frame_hdr` with its search table and `.eh_frame` behind it
/// (Linux Standard Base, Core, 10.6; DWARF 5, section 6.4).
///
/// A frame's canonical frame address would be that of the function that its stub calls. Unwinders tell frames by it,
/// and debuggers want it to rise from callee to caller; so here it is higher by 7, and for functions that one left for
/// the next by sibling calls lower again by their number: still below the caller's.
public final class UnwindTable {
    private static final int DATA_ALIGNMENT = 0x78; // -8 as SLEB128
    private static final int RETURN_ADDRESS = 16;
    private static final int RCX = 2;
    private static final int RBX = 3;
    private static final int RSP = 7;

    private static final int ENCODING_ABSOLUTE = 0x00;
    private static final int ENCODING_PC_RELATIVE_INT = 0x1B;
    private static final int ENCODING_TABLE_RELATIVE_INT = 0x3B;
    private static final int ENCODING_INT = 0x03;

    private static final int CFA_ADVANCE = 0x40;
    private static final int CFA_OFFSET = 0x80;
    private static final int CFA_RESTORE = 0xC0;
    private static final int CFA_ADVANCE_2 = 0x03;
    private static final int CFA_SAME_VALUE = 0x08;
    private static final int CFA_REGISTER = 0x09;
    private static final int CFA_DEF_CFA = 0x0C;
    private static final int CFA_DEF_CFA_EXPRESSION = 0x0F;
    private static final int CFA_EXPRESSION = 0x10;
    private static final int CFA_VAL_EXPRESSION = 0x16;

    private static final int OP_DEREF = 0x06;
    private static final int OP_MINUS = 0x1C;
    private static final int OP_PLUS = 0x22;
    private static final int OP_LIT_7 = 0x37;
    private static final int OP_BREG_RBX = 0x70 + RBX;
    private static final int OP_BREG_R11 = 0x70 + 11;
    private static final int OP_DEREF_SIZE = 0x94;

    private static final int KEY = (int) FrameDescriptor.KEY;
    private static final int RET = (int) FrameDescriptor.RET;
    private static final int SAVED_RBX = (int) FrameDescriptor.RBX;
    private static final int SIBLING = (int) FrameDescriptor.SIBLING;

    private static final List<UnwindRow> STUB_ROWS = List.of(
            new UnwindRow(FunctionStub.POPPED_AT, UnwindRow.Rule.POPPED),
            new UnwindRow(FunctionStub.FRAMED_AT, UnwindRow.Rule.FRAMED),
            new UnwindRow(FunctionStub.PASS_AT, UnwindRow.Rule.CALLED));

    private static final List<UnwindRow> FRAMED_ROWS = List.of(new UnwindRow(0, UnwindRow.Rule.FRAMED));

    private static final int HEADER = 12;
    private static final int TABLE_ROW = 8;

    /// Bytes of a frame without rows.
    private static final int LEAF_FRAME = 20;

    private static final int TERMINATOR = Integer.BYTES;
    private static final int FRAMES_FIRST = 1024;

    /// In a frame: what leads to its common entry, and to its code.
    private static final int CIE_AT = 4;

    private static final int CODE_AT = 8;

    private final long at;

    /// All of it, from the header on. A large program's has megabytes, so there is one array.
    private final Bytes out;

    /// How many rows the search table has so far.
    private int rows;

    private int stubCie;
    private int plainCie;

    private UnwindTable(long at, int count) {
        this.at = at;
        int framesAt = HEADER + TABLE_ROW * count;
        out = new Bytes(framesAt + FRAMES_FIRST);
        out.put(1, ENCODING_PC_RELATIVE_INT, ENCODING_INT, ENCODING_TABLE_RELATIVE_INT);
        out.putInt(framesAt - Integer.BYTES);
        out.putInt(count);
        out.size = framesAt;
    }

    /// @param at        where it will stand; its length does not depend on it
    /// @param ranges    in ascending order of address
    /// @param recording rows of the ranges that are recording code
    public static byte[] build(long at, List<TrampolineRange> ranges, List<UnwindRow> recording, long personality) {
        int count = 0;
        for (TrampolineRange range : ranges) {
            count += range.kind() == TrampolineRange.Kind.FUNCTION_STUBS ? stubs(range) : 1;
        }
        UnwindTable table = new UnwindTable(at, count);
        table.describe(ranges, recording, personality);
        return table.out.toBytes();
    }

    private static int stubs(TrampolineRange range) {
        return Math.toIntExact(range.length() / FunctionStub.SIZE);
    }

    private void describe(List<TrampolineRange> ranges, List<UnwindRow> recording, long personality) {
        stubCie = commonEntry(personality);
        plainCie = commonEntry(0);
        for (int i = 0; i < ranges.size(); i++) {
            TrampolineRange range = ranges.get(i);
            switch (range.kind()) {
                case RECORDING -> frame(plainCie, range.start(), range.length(), recording);
                case FRAMED -> frame(plainCie, range.start(), range.length(), FRAMED_ROWS);
                case LEAF -> frame(plainCie, range.start(), range.length(), List.of());
                case DISPLACED -> displaced(range);
                case FUNCTION_STUBS -> functionStubs(range, ranges.size() - i - 1);
            }
        }
        out.putInt(0);
    }

    /// @param more ranges that come behind these stubs, leaves mostly
    private void functionStubs(TrampolineRange range, int more) {
        int first = out.size();
        frame(stubCie, range.start(), FunctionStub.SIZE, STUB_ROWS);
        int end = out.size();
        out.expect(Math.multiplyExact(stubs(range) - 1, end - first) + more * LEAF_FRAME + TERMINATOR);
        for (int i = 1; i < stubs(range); i++) {
            again(first, end, stubCie, range.start() + (long) i * FunctionStub.SIZE);
        }
    }

    /// @param personality 0 for none
    private int commonEntry(long personality) {
        int start = begin();
        out.putInt(0);
        out.put(1, 'z');
        if (personality != 0) {
            out.put('P');
        }
        out.put('R', 0, 1, DATA_ALIGNMENT, RETURN_ADDRESS);
        if (personality != 0) {
            out.put(10, ENCODING_ABSOLUTE);
            out.putInt((int) personality);
            out.putInt((int) (personality >> 32));
        } else {
            out.put(1);
        }
        out.put(ENCODING_PC_RELATIVE_INT);
        out.put(CFA_DEF_CFA, RSP, 8, CFA_OFFSET | RETURN_ADDRESS, 1);
        end(start);
        return start;
    }

    private void frame(int cie, long code, long length, List<UnwindRow> rows) {
        int start = beginFrame(cie, code, length);
        int from = 0;
        for (UnwindRow row : rows) {
            advance(row.offset() - from);
            from = row.offset();
            rule(row.rule());
        }
        end(start);
    }

    /// The frame that stands from `first` to `end` once more, for other code.
    private void again(int first, int end, int cie, long code) {
        int start = out.size();
        row(code, start);
        out.append(first, end);
        out.setInt(start + CIE_AT, start + CIE_AT - cie);
        out.setInt(start + CODE_AT, Math.toIntExact(code - (at + start + CODE_AT)));
    }

    private void row(long code, int frame) {
        int row = HEADER + TABLE_ROW * rows++;
        out.setInt(row, Math.toIntExact(code - at));
        out.setInt(row + Integer.BYTES, frame);
    }

    private void displaced(TrampolineRange range) {
        int start = beginFrame(plainCie, range.start(), range.length());
        int from = 0;
        for (FrameRule rule : range.rules()) {
            advance(rule.offset() - from);
            from = rule.offset();
            out.put(rule.instructions());
        }
        end(start);
    }

    private int beginFrame(int cie, long code, long length) {
        int start = begin();
        row(code, start);
        out.putInt(out.size() - cie);
        out.putInt(Math.toIntExact(code - (at + out.size())));
        out.putInt(Math.toIntExact(length));
        out.put(0);
        return start;
    }

    private void advance(int bytes) {
        if (bytes < CFA_ADVANCE) {
            out.put(CFA_ADVANCE | bytes);
        } else {
            out.put(CFA_ADVANCE_2, bytes, bytes >> 8);
        }
    }

    private void rule(UnwindRow.Rule rule) {
        switch (rule) {
            case CALLED -> {
                returnAddressOnTop();
                out.put(CFA_SAME_VALUE, RBX);
            }
            case POPPED -> {
                out.put(CFA_DEF_CFA, RSP, 0);
                out.put(CFA_EXPRESSION, RETURN_ADDRESS, 2, OP_BREG_R11, RET);
            }
            case FRAMED -> {
                out.put(CFA_DEF_CFA_EXPRESSION, 10, OP_BREG_RBX, KEY, OP_DEREF);
                out.put(OP_BREG_RBX, SIBLING, OP_DEREF_SIZE, 1, OP_MINUS, OP_LIT_7, OP_PLUS);
                out.put(CFA_VAL_EXPRESSION, RSP, 3, OP_BREG_RBX, KEY, OP_DEREF);
                out.put(CFA_EXPRESSION, RETURN_ADDRESS, 2, OP_BREG_RBX, RET);
                out.put(CFA_EXPRESSION, RBX, 2, OP_BREG_RBX, SAVED_RBX);
            }
            case RETURNING -> {
                returnAddressOnTop();
                out.put(CFA_EXPRESSION, RBX, 2, OP_BREG_RBX, SAVED_RBX);
            }
            case RBX_IN_RCX -> out.put(CFA_REGISTER, RBX, RCX);
        }
    }

    private void returnAddressOnTop() {
        out.put(CFA_DEF_CFA, RSP, 8, CFA_OFFSET | RETURN_ADDRESS, 1, CFA_RESTORE | RSP);
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

    /// Bytes in the order of the machine, least significant first.
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

        void setInt(int at, int value) {
            Encoding.putInt(bytes, at, value);
        }

        /// Puts what stands from `from` to `to` once more.
        void append(int from, int to) {
            reserve(to - from);
            System.arraycopy(bytes, from, bytes, size, to - from);
            size += to - from;
        }

        /// Makes room for so many bytes and no more.
        void expect(int more) {
            if (size + more > bytes.length) {
                bytes = Arrays.copyOf(bytes, Math.addExact(size, more));
            }
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
