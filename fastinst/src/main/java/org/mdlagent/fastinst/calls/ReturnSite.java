package org.mdlagent.fastinst.calls;

import org.mdlagent.fastinst.provider.FunctionRanges;

/// What the code before a return address says about a call.
///
/// @param function index of the calling function, or [#NONE]
/// @param target   index of the target of a direct call, or [#NONE]
public record ReturnSite(int function, int target) {
    /// A function without probes, or an unknown one.
    public static final int NONE = FunctionRanges.NONE;

    /// For unknown code.
    public static final ReturnSite UNKNOWN = new ReturnSite(NONE, NONE);

    /// Index of the caller of `callee`, or [#NONE]. The function called here may have made a sibling call,
    /// whose callee then returns here.
    public int callerOf(int callee) {
        return target != NONE && target != callee ? target : function;
    }
}
