package org.mdlagent.runtime.mdl.request;

/// A place where a snippet can run.
public sealed interface Point {
    /// The function.
    Procedure procedure();

    /// Name in messages.
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

    /// @param callee        name of the callee, "" if unknown
    /// @param offset        of the instruction from the function's start
    /// @param returnAddress the call's return address
    record Call(Procedure procedure, String callee, long offset, long returnAddress) implements Point {
        @Override
        public String description() {
            return "the call of " + (callee.isEmpty() ? "a function" : callee) + " in " + procedure.path();
        }
    }
}
