package org.mdlagent.profiler.report.statistics;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.profile.RunProfile;

/// Compares two runs, function by function: differences and sampling errors, but no verdict. One run of each
/// build does not show how much runs of one build differ; [SeriesComparison] does.
///
/// @param changes largest change of time first
public record Comparison(Run before, Run after, List<FunctionChange> changes) {
    private static final Comparator<FunctionChange> MOST_FIRST = Comparator.comparingLong(
                    (FunctionChange change) -> Math.abs(change.moreNanos()))
            .reversed()
            .thenComparing(change -> change.function().name());

    public Comparison {
        changes = List.copyOf(changes);
    }

    /// Compares two runs.
    public static Comparison of(RunProfile before, RunProfile after) {
        double scale = scale(before.run(), after.run());
        Set<String> ambiguous = FunctionIdentity.ambiguous(List.of(before, after));
        Map<FunctionIdentity, FunctionProfile> later = FunctionIdentity.of(after, ambiguous);
        List<FunctionChange> changes = new ArrayList<>();
        FunctionIdentity.of(before, ambiguous)
                .forEach((identity, function) -> changes.add(change(function, later.remove(identity), scale)));
        later.values().forEach(function -> changes.add(change(null, function, scale)));
        changes.sort(MOST_FIRST);
        return new Comparison(before.run(), after.run(), changes);
    }

    /// Ratio of the measured times, first to second; 1 if unknown.
    private static double scale(Run before, Run after) {
        long was = before.measuredNanos().orElse(0);
        long is = after.measuredNanos().orElse(0);
        return was > 0 && is > 0 ? (double) was / is : 1;
    }

    private static FunctionChange change(
            @Nullable FunctionProfile before, @Nullable FunctionProfile after, double scale) {
        return new FunctionChange(before, after, Math.round(scale * nanos(after)) - nanos(before));
    }

    private static long nanos(@Nullable FunctionProfile function) {
        return function == null ? 0 : function.totalNanos().orElse(0);
    }
}
