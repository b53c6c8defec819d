package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_pc_thread` (`mdl/layout.h`), a sampled thread. The header documents each
/// field.
public final class PcThreadDescriptor {
    public static final long SAMPLES = 0;
    public static final long TID = 8;
    public static final long PID = 12;
    public static final long NAME = 16;

    /// Bytes of a name, with a NUL at its end.
    public static final int NAME_BYTES = 16;

    public static final long SIZE = 32;

    private PcThreadDescriptor() {}
}
