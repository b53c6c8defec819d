package org.mdlagent.bench.programs;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.report.Truth;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;

/// Ground truth for functions of a real program.
///
/// Ground truth for one function is a run with every call of that function recorded and the others sampled: if all
/// were recorded, the probes of its callees would prolong each call.
///
/// @param command of the program
/// @param input   its standard input
record ExactRuns(List<String> command, Path input) {
    /// Minimum calls: rarely called functions may be missed, and have no percentiles.
    static final long CALLS_MIN = 1000;

    /// Values of functions with every call timed in a run.
    List<Truth> of(List<String> symbols, Report report) throws IOException, InterruptedException {
        List<Truth> truths = new ArrayList<>();
        for (String symbol : symbols) {
            FunctionProfile function = timed(symbol);
            boolean known = function.exact() && function.callsExact();
            report.raw("raw " + (known ? "every call of " : "no truth: some calls were missed of ") + symbol);
            if (known) {
                truths.add(Truth.of(function));
            }
        }
        return truths;
    }

    /// The function in a run with each of its calls timed.
    FunctionProfile timed(String symbol) throws IOException, InterruptedException {
        ProfiledRun run = ProfiledRun.of(command, input, "wait,budgetPercent=1,exact=" + symbol);
        return Objects.requireNonNull(run.profile()).functions().stream()
                .filter(function -> function.symbol().equals(symbol))
                .findFirst()
                .orElseThrow();
    }

    /// Functions with the most self time.
    static List<String> hottest(Profile profile, int limit) {
        return profile.functions().stream()
                .filter(function -> function.calls() >= CALLS_MIN)
                .sorted(Comparator.comparingLong((FunctionProfile function) ->
                                function.selfNanos().orElse(0))
                        .reversed())
                .limit(limit)
                .map(FunctionProfile::symbol)
                .toList();
    }
}
