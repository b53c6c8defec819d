package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_trap_index` (`mdl/layout.h`), which finds rows by address. The header
/// documents each field.
public final class TrapIndexDescriptor {
    public static final long MASK = 0;
    public static final long ROWS = 8;

    public static final long SIZE = 8;

    private TrapIndexDescriptor() {}
}
