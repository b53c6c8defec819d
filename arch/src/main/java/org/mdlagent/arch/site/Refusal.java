package org.mdlagent.arch.site;

/// Why a function in an unprepared binary gets no probe at its entry.
public enum Refusal implements EntryPuns.Fit {
    /// No unwind table says that it starts with its return address on top of the stack.
    NO_UNWIND_TABLE("no unwind table describes it as a function"),
    /// The unwind rules of its first instructions cannot be given for a copy.
    UNUSUAL_UNWIND_TABLE("its unwind table has an unsupported form"),
    /// It is the return target of signal handlers.
    SIGNAL_FRAME("signal handlers return to it"),
    /// It is shorter than a jump, even with the padding after it.
    TOO_SHORT("it is shorter than a jump, and code follows"),
    /// Its first bytes are not known instructions, or it ends within one.
    UNKNOWN_INSTRUCTION("it does not begin with a known instruction"),
    /// A trap that cannot be distinguished from ours.
    TRAP("its first instructions contain a trap"),
    /// A callee would return to instructions that a jump covers.
    CALL_WITHIN("a call is followed by instructions within its first five bytes"),
    /// The memory differs from the file.
    CHANGED("its code in memory differs from the file"),
    /// Its own branch leads to its first byte: a probe there would count each iteration.
    LOOPS_TO_ENTRY("it loops to its first instruction"),
    /// Its own branch leads into the bytes that a jump covers.
    BRANCH_INTO_ENTRY("it branches into its first five bytes"),
    /// A probe in it would recurse.
    AGENT_NEEDS_IT("the agent itself calls it while it records"),
    /// It depends on its caller.
    RETURN_ADDRESS("it returns twice, changes stacks, or depends on who calls it"),
    /// It is an IFUNC resolver: the dynamic linker calls it to get the function's address.
    RESOLVER("the dynamic linker chooses its implementation (IFUNC)"),
    /// Compilers call it with a non-standard convention that preserves registers.
    OTHER_CONVENTION("it has its own calling convention"),
    /// Threads begin in it, before they are registered.
    THREAD_START("threads execute it before they are registered"),
    /// A forked process executes it while it still uses its parent's records.
    FORK("a forked process executes it before it has its own records"),
    /// Threads may end in it, so its call's data is freed before it returns.
    NOT_EXPORTED("it is not exported, and threads may end in it");

    private final String reason;

    Refusal(String reason) {
        this.reason = reason;
    }

    /// For users: continues a sentence after the function's name.
    public String reason() {
        return reason;
    }
}
