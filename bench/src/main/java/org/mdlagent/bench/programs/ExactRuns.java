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

/// The truth about functions of a real program.
///
/// That about one function is a run in which every call of this one is recorded, and the others are sampled: were all
/// recorded, each call would last longer by what the probes of its callees cost.
///
/// @param command of the program
/// @param input   its standard input
record ExactRuns(List<String> command, Path input) {
    /// One that is called a few times is seen or not, and has no percentiles.
    static final long CALLS_MIN = 1000;

    /// What is known of those of which a run has timed every call.
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

    /// The function in a run in which each call of it is timed.
    FunctionProfile timed(String symbol) throws IOException, InterruptedException {
        ProfiledRun run = ProfiledRun.of(command, input, "wait,budgetPercent=1,exact=" + symbol);
        return Objects.requireNonNull(run.profile()).functions().stream()
                .filter(function -> function.symbol().equals(symbol))
                .findFirst()
                .orElseThrow();
    }

    /// Those with most time of their own.
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
