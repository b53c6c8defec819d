package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_process` (`mdl/layout.h`), one process of a session. The header documents each
/// field.
public final class ProcessDescriptor {
    public static final long OWNER = 0;
    public static final long NEXT = 40;
    public static final long STARTED_NANOS = 48;
    public static final long ENDED_NANOS = 56;
    public static final long CALLS = 64;
    public static final long CPU_NANOS = 72;
    public static final long PID = 80;
    public static final long PARENT = 84;
    public static final long EXIT_STATUS = 88;
    public static final long STATE = 92;
    public static final long FLAGS = 96;
    public static final long CPU_RATE = 100;
    public static final long LAST_CPU_NANOS = 104;
    public static final long CPU_READ = 112;
    public static final long CPU_CHANGED = 120;
    public static final long APART = 128;
    public static final long FORKS = 136;

    public static final long SIZE = 144;

    public static final int STATE_LIVE = 0;
    public static final int STATE_LEADERLESS = 1;
    public static final int STATE_ENDED = 2;

    /// `FUTEX_OWNER_DIED`: set by the kernel in the first four bytes of an owner whose thread has ended.
    public static final int OWNER_DIED = 0x40000000;

    public static final int FLAG_ELSEWHERE = 1;
    public static final int FLAG_APART = 2;
    public static final int FLAG_EXECUTED = 4;
    public static final int FLAG_OWN_SESSION = 8;

    /// Whether a process has neither ended nor executed another program, which would have the same id.
    ///
    /// @param owner the first four bytes of its owner
    public static boolean runs(int state, int owner) {
        return state != STATE_ENDED && (state == STATE_LEADERLESS || owner != 0 && (owner & OWNER_DIED) == 0);
    }

    private ProcessDescriptor() {}
}
