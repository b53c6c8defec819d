package org.mdlagent.arch.x86.emit;

import static org.mdlagent.arch.x86.bytes.Condition.EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.NOT_EQUAL;

import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.CallerDescriptor;
import org.mdlagent.arch.layout.CallersDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Assembler.Label;
import org.mdlagent.arch.x86.bytes.Register;

/// Emits code that adds a call to those from the same place, in exact sessions (`callers.h`).
final class CallerAssembler {
    private CallerAssembler() {}

    /// Emits code that finds the `struct mdl_caller` of the place `from` in a row. Jumps to `missing`, with `from`
    /// unchanged, if the shim has to add it. Changes `scratch` and the flags.
    ///
    /// @param below the function of the frame below on the shadow stack; null without one
    static void find(
            Assembler out,
            Register row,
            Register from,
            @Nullable Register below,
            Register found,
            Register scratch,
            Label missing) {
        Label next = new Label();
        Label others = new Label();
        Label done = new Label();
        out.load(found, row, (int) RowDescriptor.CALLERS);
        out.test(found);
        out.jump(EQUAL, missing);
        out.mov(scratch, from);
        out.and(scratch, CallersDescriptor.CALLER_LISTS - 1);
        out.leaIndexed(found, found, scratch);
        out.bind(next);
        out.load(found, found, (int) CallerDescriptor.NEXT);
        out.test(found);
        out.jump(EQUAL, others);
        out.cmp(from, found, (int) CallerDescriptor.FROM);
        out.jump(NOT_EQUAL, next);
        if (below != null) {
            out.cmp(below, found, (int) CallerDescriptor.BELOW);
            out.jump(NOT_EQUAL, next);
        }
        out.jump(done);
        out.bind(others);
        out.load(found, row, (int) RowDescriptor.CALLERS);
        out.load(found, found, (int) CallersDescriptor.OTHERS);
        out.test(found);
        out.jump(EQUAL, missing);
        out.bind(done);
    }

    /// Emits code that adds a call to what [#find] has found. Changes the flags.
    static void add(Assembler out, Register found, Register ticks) {
        out.increment(found, (int) CallerDescriptor.CALLS);
        out.addTo(found, (int) CallerDescriptor.TOTAL, ticks);
    }
}
