package org.mdlagent.runtime.mdl.request;

/// Where a snippet can run.
public sealed interface Point {
    /// The function it lies in.
    Procedure procedure();

    /// As messages name it.
    String description();

    record Entry(Procedure procedure) implements Point {
        @Override
        public String description() {
            return "the entry of " + procedure.path();
        }
    }

    /// All returns of a function.
    record Return(Procedure procedure) implements Point {
        @Override
        public String description() {
            return "the return of " + procedure.path();
        }
    }

    /// @param callee        name of what is called, "" when it is not known
    /// @param offset        of the instruction from the function's start
    /// @param returnAddress where the call returns to
    record Call(Procedure procedure, String callee, long offset, long returnAddress) implements Point {
        @Override
        public String description() {
            return "the call of " + (callee.isEmpty() ? "a function" : callee) + " in " + procedure.path();
        }
    }
}
