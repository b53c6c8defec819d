package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_pc_samples` (`mdl/layout.h`), where the program's threads spent their CPU
/// time. The header documents each field.
public final class PcSamplesDescriptor {
    public static final long PERIOD_NANOS = 0;
    public static final long SAMPLES = 8;
    public static final long SQUARES = 16;
    public static final long LOST = 24;
    public static final long NO_TABLE = 32;
    public static final long CUT = 40;
    public static final long LEFT_OUT = 48;
    public static final long FRAME_COUNT = 56;
    public static final long NODE_COUNT = 60;
    public static final long FRAMES = 64;
    public static final long NODES = 192;

    public static final long OPENED_TSC = 1216;
    public static final long LOG_COUNT = 1224;
    public static final long THREAD_COUNT = 1228;
    public static final long THINNED = 1232;
    public static final long LOG_VERSION = 1236;
    public static final long LOG = 1240;
    public static final long THREADS = 1752;

    public static final long SIZE = 1784;

    /// Rows per chunk, and maximum rows.
    public static final int CHUNK = 1024;

    public static final int FRAMES_MAX = 16_384;
    public static final int NODES_MAX = 131_072;
    public static final int LOG_MAX = 65_536;
    public static final int THREADS_MAX = 4096;

    private PcSamplesDescriptor() {}
}
