package org.mdlagent.stress.torture;

/// Offsets in `struct mdl_torture_site`, `mdl_torture_tally`, `mdl_torture_executor` and `mdl_torture_text` of
/// `native-shim/test/torture.h`.
final class ExecutorDescriptor {
    static final int VALUES = 4;

    static final long SITE_FUNCTION = 0;
    static final long SITE_VALUES = 8;
    static final long SITE_SIZE = 64;

    static final long TALLY_EXECUTIONS = 0;
    static final long TALLY_SIZE = 40;

    static final long SITES = 0;
    static final long COUNT = 8;
    static final long TALLIES = 16;
    static final long FOCUS = 24;
    static final long TICKS_PER_MILLI = 32;
    static final long CORE = 40;
    static final long FLAGS = 44;
    static final long EXECUTIONS = 64;
    static final long WRONG = 72;
    static final long WRONG_SITE = 80;
    static final long WRONG_VALUE = 88;
    static final long STALLED = 96;
    static final long LONGEST_NANOS = 104;
    static final long EXPLAINED = 112;
    static final long SIGNALS = 120;
    static final long MASK = 128;
    static final long TROUBLE = 136;
    static final long RUNNING = 140;
    static final long CHANGES = 144;
    static final long SIZE = 192;

    static final long TEXT_START = 0;
    static final long TEXT_LENGTH = 8;
    static final long TEXT_ALIAS = 16;
    static final long TEXT_SIZE = 40;

    static final int FLAG_BLOCKED = 1;
    static final int FLAG_SIGNALS = 2;
    static final int FLAG_IN_CHILD = 4;

    private ExecutorDescriptor() {}
}
