package org.mdlagent.profiler.report.statistics;

import java.util.List;
import java.util.OptionalDouble;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;
import org.mdlagent.profiler.figures.Confidence;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.SessionFacts;

/// The errors of total and self times in a sampled session.
///
/// A total is a product of two estimates, the calls and their mean duration (delta method). If few calls were
/// timed, Student's distribution widens the interval. To the random error are added: the variation of a
/// probe's cost per call; and waits for processors, which are few and long, so that a small sample may miss them
/// all, and which are assumed to occur in proportion to CPU time. For self times, the error of the callers'
/// shares is included.
public final class TotalErrors {
    /// Relative error of the TSC frequency, and of the start of a long call.
    private static final double CLOCK_PART = 0.001;

    /// Variation of a probe's cost per call between runs, from stub placement, cache contents, and one clock
    /// tick at either end.
    static final double PROBE_NANOS = 10;

    /// A call may appear longer than by the program's own clock by this share of its mean duration, limited
    /// to between [#PROBE_NANOS] and this maximum. Measured in `bench trust`'s service: 25 to 48 ns for calls
    /// of 0.3 to 30 us, up to 17 ns for calls of 0.1 us.
    private static final double PROBE_PART = 0.15;

    private static final double PROBE_NANOS_MAX = 50;

    /// A long wait for a processor: a period of the kernel's CPU bandwidth control. Shorter waits are more, so that a
    /// sample tells more of them.
    private static final double WAIT_NANOS = 100e6;

    private final List<FunctionProfile> functions;

    /// Upper bound of a function's waits for processors, per nanosecond of its calls.
    private final double waited;

    /// Whether every call is recorded, so that there is no sampling error.
    private final boolean exact;

    /// By function: effective number of independent timed calls.
    private final double[] independent;

    /// By function: squared random error of the total, and of what is subtracted from it for the self time;
    /// NaN if unknown.
    private final double[] ofTotal;

    private final double[] ofCallees;

    private final double[] callsOfCallees;

    /// For functions whose timed calls are all independent.
    public TotalErrors(List<FunctionProfile> functions, SessionFacts session) {
        this(
                functions,
                session,
                functions.stream().mapToDouble(FunctionProfile::sampled).toArray());
    }

    /// @param independent by function: effective number of independent timed calls
    public TotalErrors(List<FunctionProfile> functions, SessionFacts session, double[] independent) {
        this.functions = functions;
        waited = session.cpuTime() ? 0 : session.costs().waited();
        this.independent = independent.clone();
        exact = session.exact();
        ofTotal =
                IntStream.range(0, functions.size()).mapToDouble(this::squareOf).toArray();
        ofCallees = new double[ofTotal.length];
        callsOfCallees = new double[ofTotal.length];
    }

    /// Subtracts a share of a callee's total from the caller's self time.
    ///
    /// @param samples calls of the callee whose callers are known
    public void addCallee(EdgeSums.Estimate edge, long samples) {
        FunctionProfile callee = functions.get(edge.callee());
        double total = Math.max(1, callee.totalNanos().orElse(0));
        double part = Math.min(1, edge.nanos() / total);
        ofCallees[edge.caller()] +=
                part * part * ofTotal[edge.callee()] + total * total * squareOfPart(callee, part, samples);
        callsOfCallees[edge.caller()] += edge.calls();
    }

    /// Squared random error of a caller's share of the callee's calls. With a single sample, the share may be
    /// anything: 1.
    private double squareOfPart(FunctionProfile callee, double part, long samples) {
        double square = square(samples, samples, callee, of -> part * (1 - part) / of);
        return Double.isNaN(square) ? 1 : square;
    }

    /// Lower bound of a caller's share of a callee's time; 0 if unknown.
    ///
    /// @param part    estimated share
    /// @param samples calls of the callee whose callers are known
    public double leastPart(int function, double part, long samples) {
        FunctionProfile callee = functions.get(function);
        double ofTimes = part
                * Math.sqrt(ofTotal[function])
                / Math.max(1, callee.totalNanos().orElse(0));
        double error = Math.hypot(ofTimes, Math.sqrt(squareOfPart(callee, part, samples)));
        return Double.isNaN(error) ? 0 : Math.max(0, part - error);
    }

    /// Half-width of the 95 % interval, in nanoseconds.
    public OptionalDouble ofTotal(int function) {
        return halfWidth(ofTotal[function], function, 0);
    }

    public OptionalDouble ofSelf(int function) {
        return halfWidth(ofTotal[function] + ofCallees[function], function, callsOfCallees[function]);
    }

    private OptionalDouble halfWidth(double square, int index, double callsOfCallees) {
        FunctionProfile function = functions.get(index);
        double mean = (double) function.totalNanos().orElse(0) / Math.max(1, function.calls());
        double ofEach = Math.clamp(PROBE_PART * mean, PROBE_NANOS, PROBE_NANOS_MAX);
        double byProbes = ofEach * function.calls() + PROBE_NANOS * callsOfCallees;
        double byWaiting = function.eachTimed() ? 0 : ofWaits(index);
        double byClock = CLOCK_PART * function.totalNanos().orElse(0);
        double callsError = function.callsError().orElse(0);
        double byPrediction = (callsError - Confidence.ofChance(callsError))
                * function.totalNanos().orElse(0);
        return Double.isNaN(square)
                ? OptionalDouble.empty()
                : OptionalDouble.of(Math.sqrt(square) + byProbes + byWaiting + byClock + byPrediction);
    }

    /// Half-width of the 95 % interval of the waits within a function's calls, of which a sample of calls meets a
    /// binomial number; at most their upper bound.
    private double ofWaits(int index) {
        FunctionProfile function = functions.get(index);
        double most = waited * function.totalNanos().orElse(0);
        double part = Math.min(1, independent[index] / Math.max(1, function.calls()));
        double met = part * most / WAIT_NANOS;
        return most * Math.min(1, 2 * Math.sqrt((1 - part) / Math.max(Double.MIN_NORMAL, met)));
    }

    private double squareOf(int index) {
        FunctionProfile function = functions.get(index);
        if (exact) {
            return Double.NaN;
        }
        // Calls that slices missed were not timed, even if all counted calls were.
        double ofCalls = Confidence.ofChance(function.callsError().orElse(0))
                * function.totalNanos().orElse(0);
        return square(function.sampled(), independent[index], function, of -> variance(function, of))
                + ofCalls * ofCalls;
    }

    /// Squared random error of a figure estimated from some of a function's calls.
    ///
    /// @param independent effective number of independent samples
    /// @param variance    of the figure, as a function of the number of independent samples
    private double square(long samples, double independent, FunctionProfile function, DoubleUnaryOperator variance) {
        double untimed = Math.max(0, 1 - (double) samples / function.calls());
        if (function.callsExact() && untimed == 0) {
            return 0;
        }
        // Bessel's correction: a sample's variance is around its own mean.
        double deviation =
                Confidence.quantile95(independent - 1) * Math.sqrt(untimed * variance.applyAsDouble(independent - 1));
        return independent < 2 ? Double.NaN : deviation * deviation;
    }

    /// Variance of a total due to the choice of timed calls; NaN if unknown.
    ///
    /// @param samples number of independent samples
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
