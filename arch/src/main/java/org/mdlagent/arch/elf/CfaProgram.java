package org.mdlagent.arch.elf;

import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Interprets the call frame instructions of one range that affect the CFA (DWARF 5 section 6.4.2).
final class CfaProgram {
    /// Primary opcodes: in the two high bits; the other bits are an operand.
    private static final int ADVANCE = 1;

    private static final int OFFSET = 2;
    private static final int RESTORE = 3;

    private static final int OPERAND = 0x3f;

    /// Compilers nest one level deep.
    private static final int DEPTH_MAX = 1024;

    private final Cie cie;
    private final PointerEncoding.Bases bases;
    private final Cursor instructions;

    /// End of the current row, known once the instructions up to an advance have run.
    private long location;

    private int register;
    private long offset;

    /// Set while no register and offset describe the CFA.
    private CfaRule.@Nullable Undescribed undescribed = CfaRule.Undescribed.UNKNOWN;

    /// Registers below 64 that were saved somewhere, as bits.
    private long saved;

    /// The current state as a rule; null if it has changed.
    private @Nullable CfaRule rule;

    /// Saved states; few ranges have any.
    private @Nullable ArrayDeque<CfaRule> remembered;

    /// Runs the CIE's instructions.
    CfaProgram(Cie cie, Cursor instructions, PointerEncoding.Bases bases) throws ElfFormatException {
        this.cie = cie;
        this.bases = bases;
        this.instructions = instructions;
        while (cie.known && instructions.hasRemaining()) {
            step(instructions);
        }
    }

    CfaProgram(Cie cie, Cursor instructions, long start, PointerEncoding.Bases bases) throws ElfFormatException {
        this.cie = cie;
        this.bases = bases;
        this.instructions = instructions;
        this.location = start;
        this.register = cie.initial.register;
        this.offset = cie.initial.offset;
        this.undescribed = cie.initial.undescribed;
        if (!cie.known) {
            instructions.position(instructions.limit());
        }
    }

    /// The rule at an address, which must not be below that of the previous call.
    CfaRule advanceTo(long address) throws ElfFormatException {
        while (location <= address && instructions.hasRemaining()) {
            step(instructions);
        }
        return rule();
    }

    /// Whether the remaining instructions say where a register was saved.
    ///
    /// @param number DWARF's, below 64
    boolean saves(int number) throws ElfFormatException {
        while (instructions.hasRemaining()) {
            step(instructions);
        }
        return (saved >>> number & 1) != 0;
    }

    /// Adds the rule of each row.
    void addRows(CfaRows rows) throws ElfFormatException {
        long start = location;
        while (instructions.hasRemaining()) {
            long before = location;
            CfaRule own = rule();
            step(instructions);
            if (location != before) {
                rows.add((int) (before - start), own);
            }
        }
        rows.add((int) (location - start), rule());
    }

    /// The instructions in effect before an address, by the offset where they take effect.
    List<FrameRule> rulesUntil(long end) throws ElfFormatException {
        long start = location;
        List<FrameRule> rules = new ArrayList<>();
        ByteArrayOutputStream own = new ByteArrayOutputStream();
        while (instructions.hasRemaining()) {
            long before = location;
            int from = instructions.position();
            step(instructions);
            if (location == before) {
                for (int at = from; at < instructions.position(); at++) {
                    own.write(instructions.byteAt(at));
                }
                continue;
            }
            rules.add(new FrameRule((int) (before - start), own.toByteArray()));
            own.reset();
            if (location >= end) {
                return rules;
            }
        }
        rules.add(new FrameRule((int) (location - start), own.toByteArray()));
        return rules;
    }

    private CfaRule rule() {
        CfaRule result = rule;
        if (result == null) {
            result = undescribed != null ? undescribed : new CfaRule.RegisterOffset(register, offset);
            rule = result;
        }
        return result;
    }

    private void step(Cursor in) throws ElfFormatException {
        int opcode = in.u8();
        switch (opcode >> 6) {
            case ADVANCE -> location += (opcode & OPERAND) * cie.codeAlignment;
            case OFFSET -> {
                save(opcode & OPERAND);
                in.uleb();
            }
            case RESTORE -> {}
            default -> extended(opcode, in);
        }
    }

    private void extended(int opcode, Cursor in) throws ElfFormatException {
        switch (opcode) {
            case 0x00 /* nop */, 0x2d /* negate_ra_state */ -> {}
            case 0x01 /* set_loc */ -> location = PointerEncoding.read(cie.pointerEncoding, in, bases);
            case 0x02 /* advance_loc1 */ -> location += in.u8() * cie.codeAlignment;
            case 0x03 /* advance_loc2 */ -> location += in.u16() * cie.codeAlignment;
            case 0x04 /* advance_loc4 */ -> location += in.u32() * cie.codeAlignment;
            case 0x06 /* restore_extended */, 0x07 /* undefined */, 0x08 /* same_value */, 0x2e /* GNU_args_size */ ->
                in.uleb();
            case 0x05 /* offset_extended */,
                    0x09 /* register */,
                    0x14 /* val_offset */,
                    0x2f /* GNU_negative_offset_extended */ -> {
                save(number(in));
                in.uleb();
            }
            case 0x11 /* offset_extended_sf */, 0x15 /* val_offset_sf */ -> {
                save(number(in));
                in.sleb();
            }
            case 0x10 /* expression */, 0x16 /* val_expression */ -> {
                save(number(in));
                in.skip(in.uleb());
            }
            case 0x0a /* remember_state */ -> remember(in);
            case 0x0b /* restore_state */ -> restore(in);
            case 0x0c /* def_cfa */ -> describe(number(in), in.uleb());
            case 0x0d /* def_cfa_register */ -> describe(number(in), offset);
            case 0x0e /* def_cfa_offset */ -> offset(in.uleb());
            case 0x0f /* def_cfa_expression */ -> {
                in.skip(in.uleb());
                undescribed = CfaRule.Undescribed.EXPRESSION;
                rule = null;
            }
            case 0x12 /* def_cfa_sf */ -> describe(number(in), in.sleb() * cie.dataAlignment);
            case 0x13 /* def_cfa_offset_sf */ -> offset(in.sleb() * cie.dataAlignment);
            default -> {
                // Unknown operands, so the rest cannot be parsed.
                undescribed = CfaRule.Undescribed.UNKNOWN;
                rule = null;
                in.position(in.limit());
            }
        }
    }

    private void save(int number) {
        saved |= number < Long.SIZE ? 1L << number : 0;
    }

    private static int number(Cursor in) throws ElfFormatException {
        long number = in.uleb();
        if (number < 0 || number > 0xffff) {
            throw in.bad("a register's number");
        }
        return (int) number;
    }

    private void describe(int newRegister, long newOffset) {
        register = newRegister;
        offset = newOffset;
        undescribed = null;
        rule = null;
    }

    private void offset(long newOffset) {
        offset = newOffset;
        rule = null;
    }

    private void remember(Cursor in) throws ElfFormatException {
        if (remembered == null) {
            remembered = new ArrayDeque<>();
        }
        if (remembered.size() == DEPTH_MAX) {
            throw in.bad("fewer remembered states");
        }
        remembered.push(rule());
    }

    private void restore(Cursor in) throws ElfFormatException {
        CfaRule state = remembered == null ? null : remembered.poll();
        if (state == null) {
            throw in.bad("a remembered state");
        }
        if (state instanceof CfaRule.RegisterOffset known) {
            describe(known.register(), known.offset());
        } else {
            undescribed = (CfaRule.Undescribed) state;
        }
        rule = state;
    }
}
