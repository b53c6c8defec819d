package org.mdlagent.fastinst.provider;

/// Why a function in a binary that nobody prepared gets no probe at its entry, or none that replaces its return
/// address.
public enum Refusal {
    /// No unwind table says that it starts with its return address on top of the stack.
    NO_UNWIND_TABLE("no unwind table describes it as a function"),
    /// It is where signal handlers return to.
    SIGNAL_FRAME("signal handlers return to it"),
    /// It has fewer bytes than a jump, and so has the filling behind it.
    TOO_SHORT("it is shorter than a jump, and code follows"),
    /// Part of it is no instruction that the decoder knows.
    UNKNOWN_INSTRUCTION("it holds bytes that are no known instruction"),
    /// A branch of its own leads to its first byte: a probe there would count each round.
    LOOPS_TO_ENTRY("it loops to its first instruction"),
    /// A branch of its own leads to the bytes that a jump takes.
    BRANCH_INTO_ENTRY("it branches into its first five bytes"),
    /// It reads its return address: its entries can be counted, but not with the return address replaced.
    READS_RETURN_ADDRESS("it reads its return address");

    private final String reason;

    Refusal(String reason) {
        this.reason = reason;
    }

    /// For people: goes on from a function's name.
    public String reason() {
        return reason;
    }
}
