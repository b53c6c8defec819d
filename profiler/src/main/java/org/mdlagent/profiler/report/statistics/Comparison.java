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

/// Two runs, function by function. It has differences and the errors of sampling, and no verdict: one run of each
/// build does not tell how much runs of one build differ. [SeriesComparison] does.
///
/// @param changes those in which most time was gained or lost first
public record Comparison(Run before, Run after, List<FunctionChange> changes) {
    private static final Comparator<FunctionChange> MOST_FIRST = Comparator.comparingLong(
                    (FunctionChange change) -> Math.abs(change.moreNanos()))
            .reversed()
            .thenComparing(change -> change.function().name());

    public Comparison {
        changes = List.copyOf(changes);
    }

    /// Compares what two runs have measured.
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

    /// How much longer the first was measured than the second; 1 where that is not known.
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
