package org.mdlagent.bench.programs;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.mdlagent.bench.report.Accuracy;
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

    /// A function in a run with each of its calls timed.
    ///
    /// @param cpuSeconds of that run
    record Timed(FunctionProfile function, double cpuSeconds) {
        /// The truth for a run that does the same work in this CPU time: times are scaled, because the machine's
        /// speed varies by several percent from run to run.
        Truth truth(ProfiledRun run) {
            return Truth.of(function).slowedBy(run.cpuSeconds() / cpuSeconds);
        }
    }

    /// Profiles of runs that do the same work, against the truth for each of them.
    static Accuracy accuracy(List<Timed> timed, List<ProfiledRun> runs) {
        return Accuracy.ofRuns(
                runs.stream().map(run -> truths(timed, run)).toList(),
                runs.stream()
                        .map(run -> Objects.requireNonNull(run.profile()).functions())
                        .toList());
    }

    /// The truth for a run.
    static List<Truth> truths(List<Timed> timed, ProfiledRun run) {
        return timed.stream().map(each -> each.truth(run)).toList();
    }

    /// Functions, each in a run with its every call timed.
    List<Timed> of(List<String> symbols, Report report) throws IOException, InterruptedException {
        List<Timed> known = new ArrayList<>();
        for (String symbol : symbols) {
            Timed timed = timed(symbol);
            boolean whole = timed.function.exact() && timed.function.callsExact();
            report.raw("raw " + (whole ? "every call of " : "no truth: some calls were missed of ") + symbol);
            if (whole) {
                known.add(timed);
            }
        }
        return known;
    }

    /// The function in a run with each of its calls timed.
    Timed timed(String symbol) throws IOException, InterruptedException {
        ProfiledRun run = ProfiledRun.of(command, input, "wait,budgetPercent=1,exact=" + symbol);
        FunctionProfile found = Objects.requireNonNull(run.profile()).functions().stream()
                .filter(function -> function.symbol().equals(symbol))
                .findFirst()
                .orElseThrow();
        return new Timed(found, run.cpuSeconds());
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
