package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_instruction` of `mdl/api.h`, a decoded instruction: bytes from its start. What each field
/// means stands there.
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
