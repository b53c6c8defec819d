package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_trap_index` of `mdl/layout.h`, which finds rows by address: bytes from its start. What each
/// field means stands there.
public final class TrapIndexDescriptor {
    public static final long MASK = 0;
    public static final long ROWS = 8;

    public static final long SIZE = 8;

    private TrapIndexDescriptor() {}
}
