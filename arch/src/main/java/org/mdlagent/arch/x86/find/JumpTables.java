package org.mdlagent.arch.x86.find;

import java.util.Arrays;
import java.util.function.LongConsumer;
import org.mdlagent.arch.site.StackUse.Constants;

/// Tracks the address of a jump table from the instruction that loads it to the jump through it, as compilers
/// generate for `switch`: `lea TABLE,%b; movslq (%b,%i,4),%t; add %b,%t; jmp *%t`, and tables of addresses.
///
/// A table counts only if its first entry is in the function itself, which excludes tables of function pointers.
final class JumpTables {
    private static final int ENTRIES_MAX = 1 << 16;

    private static final int ADD_TO_OPERAND = 0x01;
    private static final int ADD_TO_REGISTER = 0x03;
    private static final int LOAD_EXTENDED = 0x63;
    private static final int LOAD = 0x8B;

    /// Known values of registers.
    private enum Value {
        NOTHING,
        /// The table's address.
        TABLE,
        /// An entry of distances from the table.
        DISTANCE,
        /// The sum of both: the jump target.
        SUM,
        /// An entry of addresses.
        ADDRESS
    }

    private final Value[] values = new Value[16];
    private final long[] tables = new long[16];
    private final Constants constants;
    private final long start;
    private final long end;

    /// One more than the number of the last comparison.
    private long compared;

    /// The same for the last comparison followed by a branch for greater numbers: the maximum number of entries.
    private long bound;

    /// @param start of the function's code
    JumpTables(Constants constants, long start, long end) {
        this.constants = constants;
        this.start = start;
        this.end = end;
        Arrays.fill(values, Value.NOTHING);
    }

    void forget(int register) {
        values[register] = Value.NOTHING;
    }

    /// Notes the effect of a non-jump instruction on a register.
    ///
    /// @param next address after it
    /// @param endAt offset after it
    void follow(Operands ops, long next, int endAt) {
        int changed = ops.changed();
        Value value = Value.NOTHING;
        long table = 0;
        if (ops.map == Operands.ONE_BYTE && !ops.vector) {
            if (ops.opcode == 0x8D && ops.relative) {
                value = Value.TABLE;
                table = next + ops.displacement;
            } else if (ops.opcode == LOAD_EXTENDED && ops.mod != 3 && ops.scale == 4 && tableOf(ops) != 0) {
                value = Value.DISTANCE;
                table = tableOf(ops);
            } else if (ops.opcode == LOAD && ops.mod != 3 && ops.scale == 8 && tableOf(ops) != 0) {
                value = Value.ADDRESS;
                table = tableOf(ops);
            } else if ((ops.opcode == ADD_TO_OPERAND || ops.opcode == ADD_TO_REGISTER) && ops.mod == 3) {
                table = sum(ops.reg, ops.rm);
                value = table == 0 ? Value.NOTHING : Value.SUM;
            } else if ((ops.opcode == LOAD || ops.opcode == 0x89) && ops.mod == 3 && ops.wide) {
                int from = ops.opcode == LOAD ? ops.rm : ops.reg;
                value = values[from];
                table = tables[from];
            }
            noteBound(ops, endAt);
        }
        if (changed >= 0) {
            values[changed] = value;
            tables[changed] = table;
        }
    }

    private void noteBound(Operands ops, int endAt) {
        boolean compares = (ops.opcode == 0x83 || ops.opcode == 0x81) && (ops.reg & 7) == 7 && ops.mod == 3;
        if (compares && !ops.operandSize) {
            compared = ops.immediate(endAt) + 1L;
        } else if (ops.opcode == 0x80 && (ops.reg & 7) == 7 && ops.mod == 3 || ops.opcode == 0x3C) {
            compared = (ops.immediateByte(endAt) & 0xFF) + 1L;
        } else if (ops.opcode == 0x3D && !ops.operandSize) {
            compared = ops.immediate(endAt) + 1L;
        }
    }

    /// Notes a conditional branch.
    ///
    /// @param above whether it is taken for greater numbers
    void branch(boolean above) {
        bound = above ? compared : bound;
    }

    /// Address of the table of an indexed memory operand, 0 for none.
    private long tableOf(Operands ops) {
        if (ops.index < 0) {
            return 0;
        } else if (ops.base < 0) {
            return ops.displacement;
        }
        return values[ops.base] == Value.TABLE ? tables[ops.base] + ops.displacement : 0;
    }

    private long sum(int one, int other) {
        if (values[one] == Value.DISTANCE && values[other] == Value.TABLE) {
            return tables[one] == tables[other] ? tables[one] : 0;
        }
        boolean reversed = values[one] == Value.TABLE && values[other] == Value.DISTANCE;
        return reversed && tables[one] == tables[other] ? tables[one] : 0;
    }

    /// Whether an indirect jump goes through a table of targets in the function; reports targets in its parts
    /// elsewhere.
    boolean jumps(Operands ops, LongConsumer elsewhere) {
        if (ops.mod == 3) {
            Value value = values[ops.rm];
            boolean known = value == Value.SUM || value == Value.ADDRESS;
            return known && read(tables[ops.rm], value == Value.ADDRESS, elsewhere);
        }
        long table = ops.scale == 8 ? tableOf(ops) : 0;
        return table != 0 && read(table, true, elsewhere);
    }

    private boolean read(long table, boolean addresses, LongConsumer elsewhere) {
        int size = addresses ? Long.BYTES : Integer.BYTES;
        boolean bounded = bound > 0 && bound <= ENTRIES_MAX;
        long count = bounded ? bound : ENTRIES_MAX;
        for (long i = 0; i < count; i++) {
            long entry = addresses ? constants.word(table + i * size) : constants.number(table + i * size);
            long target = entry == Constants.UNKNOWN || addresses ? entry : table + entry;
            boolean own = target > start && target < end;
            if (i == 0 && !own) {
                return false;
            }
            if (!own && (!bounded || entry == Constants.UNKNOWN)) {
                break;
            } else if (!own) {
                elsewhere.accept(target);
            }
        }
        return true;
    }
}
