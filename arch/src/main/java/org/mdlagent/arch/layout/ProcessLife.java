package org.mdlagent.arch.layout;

/// Whether a process of the session still runs, from its record.
public final class ProcessLife {
    /// `FUTEX_OWNER_DIED`: set by the kernel in the first four bytes of an owner whose thread has ended.
    public static final int OWNER_DIED = 0x40000000;

    private ProcessLife() {}

    /// Whether a process has neither ended nor executed another program, which would have the same id.
    ///
    /// @param owner the first four bytes of its owner
    public static boolean runs(int state, int owner) {
        return state != ProcessDescriptor.STATE_ENDED
                && (state == ProcessDescriptor.STATE_LEADERLESS || owner != 0 && (owner & OWNER_DIED) == 0);
    }
}
