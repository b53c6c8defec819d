package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_bodies` (`mdl/layout.h`), the targets of stubs. The header documents each
/// field.
public final class BodiesDescriptor {
    public static final long ALIAS = 0;
    public static final long DISPLACEMENT = 8;
    public static final long RECORD = 16;
    public static final long CLIENT = 24;
    public static final long COUNT = 32;
    public static final long SNIPPETS = 40;
    public static final long RESUME = 48;
    public static final long COUNTER = 56;

    public static final long SIZE = 64;

    private BodiesDescriptor() {}
}
