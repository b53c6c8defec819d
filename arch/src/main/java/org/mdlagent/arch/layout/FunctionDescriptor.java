package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_function` (`mdl/layout.h`), a probed function: what its sites share, its names
/// and its estimates. The header documents each field.
public final class FunctionDescriptor {
    public static final long ADDRESS = 0;
    public static final long DEADLINE = 8;
    public static final long CODE_SIZE = 16;
    public static final long MEAN = 20;
    public static final long REMAINING = 24;
    public static final long OPEN = 28;
    public static final long CLOSERS = 32;
    public static final long STATE = 36;
    public static final long INDEX = 40;
    public static final long FLAGS = 44;
    public static final long WEIGHT = 48;
    public static final long BUILD = 52;
    public static final long COUNTING = 56;
    public static final long CALLERS = 64;
    public static final long NAME = 72;
    public static final long SYMBOL = 76;
    public static final long FILE = 80;
    public static final long LINE = 84;
    public static final long IMAGE = 88;
    public static final long EXIT_SITES = 92;
    public static final long CALLS = 96;
    public static final long CALLS_VARIANCE = 104;
    public static final long SITE_LIST = 112;
    public static final long ENTRY_SITES = 120;
    public static final long WHOLE = 124;

    /// In exact mode: its probes have been off for some time.
    public static final int WHOLE_INTERRUPTED = 2;

    public static final long SIZE = 128;

    public static final int FLAG_COUNTED = 1;
    public static final int FLAG_OFF = 2;
    public static final int FLAG_EVERY_CALL = 4;
    public static final int FLAG_IMPORTED = 8;
    public static final int FLAG_NAMED = 16;

    public static final int STATE_IDLE = 0;
    public static final int STATE_REARMING = 1;
    public static final int STATE_SAMPLING = 2;
    public static final int STATE_EXPIRED = 3;

    private FunctionDescriptor() {}
}
