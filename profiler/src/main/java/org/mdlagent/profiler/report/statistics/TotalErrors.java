package org.mdlagent.profiler.report.statistics;

import java.util.List;
import java.util.OptionalDouble;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;
import org.mdlagent.profiler.estimate.Confidence;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.SessionFacts;

/// How far the total and self times of a sampled session may be off.
///
/// A total is a product of two estimates, the calls and their mean duration (the delta method); where few calls were
/// timed, Student's distribution says how much wider an interval is. To what chance does, what a probe adds to a call
/// comes on top; and what threads have waited for processors: such waits are few and long, so that a sample may have
/// none of them, and are taken to be where CPU time is spent. What part of a function's time is whose is estimated,
/// too.
public final class TotalErrors {
    /// To this part the frequency of the time-stamp counter is known, and of a long call where it begins.
    private static final double CLOCK_PART = 0.001;

    /// What a probe adds to a call differs by so much from one run to the next: where the stub lies, and what the
    /// caches hold, and a tick of the clock at either end.
    static final double PROBE_NANOS = 10;

    /// By this part of its mean duration a call may seem longer than to the program's own clock, within
    /// bounds: [#PROBE_NANOS], and this. `bench trust`'s service (2026-11-26): 25 to 48 ns of calls of
    /// 0.3 to 30 us, up to 17 of 0.1.
    private static final double PROBE_PART = 0.15;

    private static final double PROBE_NANOS_MAX = 50;

    private final List<FunctionProfile> functions;

    /// What a function's calls may have waited for processors, for each nanosecond of their own.
    private final double waited;

    /// Whether nothing is left to chance.
    private final boolean exact;

    /// By function: timed calls that tell as much as so many of which none has to do with another.
    private final double[] independent;

    /// By function: the square of what chance does to the total, and to what is taken off it for the self time; NaN
    /// when it is not known.
    private final double[] ofTotal;

    private final double[] ofCallees;

    private final double[] callsOfCallees;

    /// Of functions of whose timed calls none has to do with another.
    public TotalErrors(List<FunctionProfile> functions, SessionFacts session) {
        this(
                functions,
                session,
                functions.stream().mapToDouble(FunctionProfile::sampled).toArray());
    }

    /// @param independent by function: timed calls that tell as much as so many of which none has to do with another
    public TotalErrors(List<FunctionProfile> functions, SessionFacts session, double[] independent) {
        this.functions = functions;
        waited = session.cpuTime() ? 0 : session.waited();
        this.independent = independent.clone();
        exact = session.exact();
        ofTotal =
                IntStream.range(0, functions.size()).mapToDouble(this::squareOf).toArray();
        ofCallees = new double[ofTotal.length];
        callsOfCallees = new double[ofTotal.length];
    }

    /// A part of a callee's total is none of the caller's self time.
    ///
    /// @param samples calls of the callee that were looked at for their callers
    public void addCallee(EdgeSums.Estimate edge, long samples) {
        FunctionProfile callee = functions.get(edge.callee());
        double total = Math.max(1, callee.totalNanos().orElse(0));
        double part = Math.min(1, edge.nanos() / total);
        ofCallees[edge.caller()] +=
                part * part * ofTotal[edge.callee()] + total * total * squareOfPart(callee, part, samples);
        callsOfCallees[edge.caller()] += edge.calls();
    }

    /// What chance does to the part of a callee's calls that a caller has made. Where a single one has told whose they
    /// are, all of them may be somebody else's.
    private double squareOfPart(FunctionProfile callee, double part, long samples) {
        double square = square(samples, samples, callee, of -> part * (1 - part) / of);
        return Double.isNaN(square) ? 1 : square;
    }

    /// The least part of a callee's time that is known to be a caller's: what is beyond may be chance. 0 where nobody
    /// knows.
    ///
    /// @param part    as estimated
    /// @param samples calls of the callee that were looked at for their callers
    public double leastPart(int function, double part, long samples) {
        FunctionProfile callee = functions.get(function);
        double ofTimes = part
                * Math.sqrt(ofTotal[function])
                / Math.max(1, callee.totalNanos().orElse(0));
        double error = Math.hypot(ofTimes, Math.sqrt(squareOfPart(callee, part, samples)));
        return Double.isNaN(error) ? 0 : Math.max(0, part - error);
    }

    /// Half the width of the 95 % interval, in nanoseconds.
    public OptionalDouble ofTotal(int function) {
        return halfWidth(ofTotal[function], functions.get(function), 0);
    }

    public OptionalDouble ofSelf(int function) {
        return halfWidth(ofTotal[function] + ofCallees[function], functions.get(function), callsOfCallees[function]);
    }

    private OptionalDouble halfWidth(double square, FunctionProfile function, double callsOfCallees) {
        double mean = (double) function.totalNanos().orElse(0) / Math.max(1, function.calls());
        double ofEach = Math.clamp(PROBE_PART * mean, PROBE_NANOS, PROBE_NANOS_MAX);
        double byProbes = ofEach * function.calls() + PROBE_NANOS * callsOfCallees;
        double byWaiting =
                function.eachTimed() ? 0 : waited * function.totalNanos().orElse(0);
        double byClock = CLOCK_PART * function.totalNanos().orElse(0);
        double callsError = function.callsError().orElse(0);
        double byPrediction = (callsError - Confidence.ofChance(callsError))
                * function.totalNanos().orElse(0);
        return Double.isNaN(square)
                ? OptionalDouble.empty()
                : OptionalDouble.of(Math.sqrt(square) + byProbes + byWaiting + byClock + byPrediction);
    }

    private double squareOf(int index) {
        FunctionProfile function = functions.get(index);
        if (exact) {
            return Double.NaN;
        }
        // Of calls that slices have missed, none was timed, also where all that were counted were.
        double ofCalls = Confidence.ofChance(function.callsError().orElse(0))
                * function.totalNanos().orElse(0);
        return square(function.sampled(), independent[index], function, of -> variance(function, of))
                + ofCalls * ofCalls;
    }

    /// What chance does to a figure that was estimated from some of a function's calls.
    ///
    /// @param independent as many of them tell something of their own
    /// @param variance    of the figure, by the number of independent samples
    private double square(long samples, double independent, FunctionProfile function, DoubleUnaryOperator variance) {
        double untimed = Math.max(0, 1 - (double) samples / function.calls());
        if (function.callsExact() && untimed == 0) {
            return 0;
        }
        // Bessel's correction: a sample's variance is that around its own mean.
        double deviation =
                Confidence.quantile95(independent - 1) * Math.sqrt(untimed * variance.applyAsDouble(independent - 1));
        return independent < 2 ? Double.NaN : deviation * deviation;
    }

    /// Of a total, due to which calls were timed; NaN where it is not known.
    ///
    /// @param samples independent ones
    private static double variance(FunctionProfile function, double samples) {
        boolean known = function.callsExact() || function.callsError().isPresent();
        if (!known || function.totalNanos().isEmpty()) {
            return Double.NaN;
        }
        Latency.Moments duration = function.latency().moments();
        double calls = function.calls();
        return calls * calls * duration.variance() / samples;
    }
}
