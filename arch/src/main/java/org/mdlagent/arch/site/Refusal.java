package org.mdlagent.arch.site;

/// Why a function in a binary that nobody prepared gets no probe at its entry.
public enum Refusal implements EntryPuns.Fit {
    /// No unwind table says that it starts with its return address on top of the stack.
    NO_UNWIND_TABLE("no unwind table describes it as a function"),
    /// What is said of its first instructions cannot be said of a copy.
    UNUSUAL_UNWIND_TABLE("its unwind table is of an unusual kind"),
    /// It is where signal handlers return to.
    SIGNAL_FRAME("signal handlers return to it"),
    /// It has fewer bytes than a jump, and so has the filling behind it.
    TOO_SHORT("it is shorter than a jump, and code follows"),
    /// Its first bytes are no instructions that the decoder knows, or it ends within one.
    UNKNOWN_INSTRUCTION("it begins with what is no known instruction"),
    /// A trap that cannot be told from ours.
    TRAP("a trap stands there"),
    /// A callee would return to the instructions behind the call, while a jump covers them.
    CALL_WITHIN("a call is followed by instructions within its first five bytes"),
    /// The memory is not what the file says.
    CHANGED("its code is not that of the file"),
    /// A branch of its own leads to its first byte: a probe there would count each round.
    LOOPS_TO_ENTRY("it loops to its first instruction"),
    /// A branch of its own leads to the bytes that a jump takes.
    BRANCH_INTO_ENTRY("it branches into its first five bytes"),
    /// A probe in it would come upon itself.
    AGENT_NEEDS_IT("the agent itself calls it while it records"),
    /// Its caller must be the one that has called it.
    RETURN_ADDRESS("it returns twice, changes stacks, or depends on who calls it"),
    /// The dynamic linker calls what has the name, to be told the address of the function.
    RESOLVER("it stands for several functions, one of which the dynamic linker chooses"),
    /// Compilers call it with registers in use that others may change.
    OTHER_CONVENTION("compilers call it in a way of its own"),
    /// Threads begin in it, before they are known to be the program's.
    THREAD_START("threads execute it before they begin"),
    /// A forked process executes it while it takes its parent's records for its own.
    FORK("a forked process begins in it, before it has records of its own"),
    /// Threads may end in it, so that what is kept of its call is gone before it returns.
    NOT_EXPORTED("it has no name that programs can call it by, and threads may end in it");

    private final String reason;

    Refusal(String reason) {
        this.reason = reason;
    }

    /// For people: goes on from a function's name.
    public String reason() {
        return reason;
    }
}
