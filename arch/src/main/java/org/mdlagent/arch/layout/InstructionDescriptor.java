package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_instruction` (`mdl/api.h`), a decoded instruction. The header documents each
/// field.
public final class InstructionDescriptor {
    public static final long TARGET = 0;
    public static final long LENGTH = 8;
    public static final long KIND = 9;
    public static final long RELATIVE_AT = 10;
    public static final long RELATIVE_SIZE = 11;
    public static final long OPCODE = 12;
    public static final long OPCODE_MAP = 13;
    public static final long FALLS_THROUGH = 14;

    public static final long SIZE = 16;

    private InstructionDescriptor() {}
}
