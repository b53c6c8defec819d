package org.mdlagent.fastinst.calls;

import org.mdlagent.fastinst.provider.FunctionRanges;

/// What the code in front of a return address tells of a call.
///
/// @param function index of the function that calls, or [#NONE]
/// @param target   index of the function that a direct call names, or [#NONE]
public record ReturnSite(int function, int target) {
    /// No function with probes, or none that is known.
    public static final int NONE = FunctionRanges.NONE;

    /// Of code that nothing is known of.
    public static final ReturnSite UNKNOWN = new ReturnSite(NONE, NONE);

    /// Index of the caller of `callee`, or [#NONE]. What was called here may have left by a sibling call, whose
    /// callee then returns here.
    public int callerOf(int callee) {
        return target != NONE && target != callee ? target : function;
    }
}
