package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_header` (`mdl/layout.h`), the header of the session file. The header documents
/// each field.
public final class HeaderDescriptor {
    public static final long MAGIC = 0;
    public static final long VERSION = 8;
    public static final long HEADER_SIZE = 12;
    public static final long BASE = 16;
    public static final long LIMIT = 24;
    public static final long ARENA_NEXT = 32;
    public static final long ARENA_END = 40;
    public static final long PID = 48;
    public static final long STATE = 52;
    public static final long START_TSC = 56;
    public static final long START_MONO_NANOS = 64;
    public static final long START_REAL_NANOS = 72;
    public static final long NOW_TSC = 80;
    public static final long NOW_MONO_NANOS = 88;
    public static final long EXIT_STATUS = 96;
    public static final long EXIT_SIGNAL = 100;
    public static final long END_REAL_NANOS = 104;
    public static final long FUNCTIONS = 112;
    public static final long FUNCTION_COUNT = 120;
    public static final long FUNCTION_CAPACITY = 124;
    public static final long SITES = 128;
    public static final long SITE_COUNT = 136;
    public static final long SITE_CAPACITY = 140;
    public static final long THREADS = 144;
    public static final long THREAD_COUNT = 152;
    public static final long FLAGS = 156;
    public static final long TOGGLES = 160;
    public static final long SAMPLES = 168;
    public static final long THREADS_REFUSED = 176;
    public static final long ARENA_REFUSED = 184;
    public static final long ARMED_TSC = 192;
    public static final long SYNC = 200;
    public static final long LEARNED = 204;
    public static final long WRAPPER = 208;
    public static final long APART_FILES = 212;
    public static final long AGENT_CPU_NANOS = 216;
    public static final long LOOKUP = 224;
    public static final long LOOKUP_MASK = 232;
    public static final long UNKNOWN_FUNCTION = 240;
    public static final long TRAPS = 248;
    public static final long PROCESSES = 256;
    public static final long AGENT_PROCESS = 264;
    public static final long PROCESS_COUNT = 272;
    public static final long CHILDREN = 276;
    public static final long PROCESSES_FORGOTTEN = 280;
    public static final long CALLS_FORGOTTEN = 288;
    public static final long PROCESSES_REFUSED = 296;
    public static final long FORKS = 304;
    public static final long VALUE_KINDS = 312;
    public static final long METRICS = 320;
    public static final long SNIPPET_BYTES = 328;
    public static final long PROGRAM_CPU_NANOS = 336;
    public static final long BUDGET = 344;
    public static final long SLICES = 352;
    public static final long IMAGES_REFUSED = 360;
    public static final long FUNCTIONS_REFUSED = 368;
    public static final long START_TICKS = 376;
    public static final long BOOT = 384;
    public static final long PROCESSES_UNPROBED = 424;
    public static final long EXPIRED = 432;
    public static final long TICK_PRICE = 440;
    public static final long CLOCK_TICKS = 448;
    public static final long CLOCK_CPU_NANOS = 452;
    public static final long CALLS_TSC = 456;
    public static final long WAITED = 464;
    public static final long PC_SAMPLES = 472;
    public static final long THREAD_PLACES = 480;
    public static final long THREAD_PLACES_TAKEN = 488;
    public static final long PROCESSES_APART = 492;
    public static final long BLOCKS = 496;
    public static final long TMAX = 504;
    public static final long PROGRAM = 512;
    public static final long ID = 1536;
    public static final long DIRECTORY = 2048;
    public static final long NEW_CALLERS = 3072;
    public static final long MOUNT_NAMESPACE = 3080;
    public static final long ROOT_DEVICE = 3088;
    public static final long ROOT_INODE = 3096;

    public static final long SIZE = 4096;

    public static final long MAGIC_VALUE = 0x31535345534c444dL;
    public static final int SYNC_NONE = 0;
    public static final int SYNC_TMAX = 1;
    public static final int SYNC_MEMBARRIER = 2;

    public static final int VERSION_VALUE = 21;

    public static final int STATE_STARTING = 0;
    public static final int STATE_ARMED = 1;
    public static final int STATE_ENDED = 2;
    public static final int STATE_AGENT_DEAD = 3;

    public static final int FLAG_EXACT = 1;
    public static final int FLAG_UNPROFILED = 2;
    public static final int FLAG_MIXED = 4;
    public static final int FLAG_CPU_TIME = 8;
    public static final int FLAG_FROM_MAIN = 16;
    public static final int FLAG_KNOWN_THREADS = 32;
    public static final int FLAG_ATTACHED = 128;
    public static final int FLAG_UNTRAPPED = 256;
    public static final int FLAG_COUNTS = 512;
    public static final int FLAG_COVERAGE = 1024;
    public static final int FLAG_BLOCKS = 2048;
    public static final int FLAG_ARCS = 4096;

    public static final int BOOT_BYTES = 40;
    public static final int PROGRAM_BYTES = 1024;
    public static final int ID_BYTES = 512;
    public static final int DIRECTORY_BYTES = 1024;

    private HeaderDescriptor() {}
}
