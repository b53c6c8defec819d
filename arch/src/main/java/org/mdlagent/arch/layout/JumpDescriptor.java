package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_jump` (`mdl/layout.h`), a jump that is installed and removed in steps. The
/// header documents each field.
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
