package org.mdlagent.profiler.report.statistics;

import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// What two runs say of one function.
///
/// @param before    null when it was not called before
/// @param after     null when it is not called any more; one of the two is there
/// @param moreNanos how much more time it takes, in the time that the run before was measured; less when negative
public record FunctionChange(
        @Nullable FunctionProfile before, @Nullable FunctionProfile after, long moreNanos) {
    /// As the run after names it, where it does.
    public FunctionProfile function() {
        FunctionProfile any = after != null ? after : before;
        if (any == null) {
            throw new IllegalStateException("a change of no function");
        }
        return any;
    }

    /// Half the width of the 95 % interval of TOTAL after divided by TOTAL before, relative to it: what sampling does
    /// in both runs. Empty where both were measured exactly, or an error is not known.
    public OptionalDouble totalError() {
        return before == null || after == null
                ? OptionalDouble.empty()
                : ofQuotient(before.shownTotalError(), after.shownTotalError());
    }

    /// The same of the calls.
    public OptionalDouble callsError() {
        return before == null || after == null
                ? OptionalDouble.empty()
                : ofQuotient(before.callsError(), after.callsError());
    }

    private static OptionalDouble ofQuotient(OptionalDouble before, OptionalDouble after) {
        return before.isEmpty() && after.isEmpty()
                ? OptionalDouble.empty()
                : OptionalDouble.of(Math.hypot(before.orElse(0), after.orElse(0)));
    }
}
