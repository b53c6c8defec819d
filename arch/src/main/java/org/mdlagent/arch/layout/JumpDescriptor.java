package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_jump` of `mdl/layout.h`, a jump that comes and goes in steps: bytes from its start.
/// What each field means, its unit and its writer stand there.
public final class JumpDescriptor {
    public static final long AT = 0;
    public static final long ON = 8;
    public static final long OFF = 16;
    public static final long NEXT = 24;
    public static final long FRONT = 32;
    public static final long HEAD = 33;
    public static final long SHOWN = 34;
    public static final long HELD = 35;
    public static final long CHANGES = 36;

    public static final long SIZE = 40;

    private JumpDescriptor() {}
}
