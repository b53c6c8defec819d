package org.mdlagent.profiler.report.statistics;

import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// One function in two runs.
///
/// @param before    null when it was not called before
/// @param after     null when it is not called any more; at least one of the two is present
/// @param moreNanos how much more time it takes, scaled to the measured time of the run before; negative for
///     less
public record FunctionChange(
        @Nullable FunctionProfile before, @Nullable FunctionProfile after, long moreNanos) {
    /// The function as named in the run after, if it is there, else as in the run before.
    public FunctionProfile function() {
        FunctionProfile any = after != null ? after : before;
        if (any == null) {
            throw new IllegalStateException("a change of no function");
        }
        return any;
    }

    /// Relative half-width of the 95 % interval of the ratio of TOTAL, after to before, due to sampling in
    /// both runs. Empty if both were measured exactly, or if an error is unknown.
    public OptionalDouble totalError() {
        return before == null || after == null
                ? OptionalDouble.empty()
                : ofQuotient(before.shownTotalError(), after.shownTotalError());
    }

    /// The same for calls.
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
