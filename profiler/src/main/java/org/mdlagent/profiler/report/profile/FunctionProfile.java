package org.mdlagent.profiler.report.profile;

import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/// The profile of one probed function.
///
/// @param counts of its calls
/// @param timed  the calls whose durations are known
/// @param times  elapsed time, or what durations measure
/// @param cpu    CPU time of all threads in user mode, by the kernel's samples
/// @param on     false while it is left out on request
/// @param damage why its figures are withheld, null if they are not
public record FunctionProfile(
        Code code,
        Calls counts,
        Timed timed,
        Times times,
        Times cpu,
        boolean on,
        @Nullable String damage) {
    /// Relative error above which an estimate of time is not shown: it may be zero.
    private static final double ERROR_MAX = 1;

    /// An error times this is exceeded once in 10,000 times.
    private static final double SURE = 2;

    /// The same limit for calls; even their order of magnitude is useful.
    private static final double CALLS_ERROR_MAX = 10;

    /// Relative error above which TOTAL is replaced by CPU time with callees, if that is better known.
    private static final double TOTAL_ERROR_MAX = 0.25;

    /// Where a function is.
    ///
    /// @param name   demangled
    /// @param symbol as in the symbol table
    /// @param file   source file, null when unknown
    /// @param line   in that file, 0 when unknown
    /// @param image  path of the ELF file
    public record Code(String name, String symbol, @Nullable String file, int line, String image) {}

    /// The number of a function's calls, counted or estimated.
    ///
    /// @param exact whether it was counted without gaps
    /// @param error of an estimate: relative half-width of its 95 % interval; in a sampled session, empty if
    ///     the number is a lower bound
    public record Calls(long number, boolean exact, OptionalDouble error) {}

    /// The timed calls of a function.
    ///
    /// @param exact   whether every call was recorded, rather than a sample
    /// @param sampled calls whose durations are in `latency`
    public record Timed(boolean exact, long sampled, Latency latency) {}

    /// The time of a function over all its calls; estimated if their number is. Errors are relative half-widths of
    /// 95 % intervals of estimates.
    ///
    /// @param totalNanos in the function and its callees
    /// @param selfNanos  without probed callees; in a sampled session, without callees that were seen to be called
    ///     by this function; CPU time: in its own code
    public record Times(
            OptionalLong totalNanos, OptionalDouble totalError, OptionalLong selfNanos, OptionalDouble selfError) {
        public static final Times UNKNOWN =
                new Times(OptionalLong.empty(), OptionalDouble.empty(), OptionalLong.empty(), OptionalDouble.empty());

        /// Times without errors.
        public static Times of(OptionalLong totalNanos, OptionalLong selfNanos) {
            return new Times(totalNanos, OptionalDouble.empty(), selfNanos, OptionalDouble.empty());
        }
    }

    /// A function with valid figures and without samples of CPU time.
    public FunctionProfile(Code code, Calls counts, Timed timed, Times times, boolean on) {
        this(code, counts, timed, times, Times.UNKNOWN, on, null);
    }

    /// A function whose figures are withheld because the session's data of them is damaged.
    ///
    /// @param latency of no calls
    public static FunctionProfile withheld(
            String name, String symbol, String image, Latency latency, boolean on, String damage) {
        return new FunctionProfile(
                new Code(name, symbol, null, 0, image),
                new Calls(0, false, OptionalDouble.empty()),
                new Timed(false, 0, latency),
                Times.UNKNOWN,
                Times.UNKNOWN,
                on,
                damage);
    }

    public String name() {
        return code.name;
    }

    public String symbol() {
        return code.symbol;
    }

    public @Nullable String file() {
        return code.file;
    }

    public int line() {
        return code.line;
    }

    public String image() {
        return code.image;
    }

    public long calls() {
        return counts.number;
    }

    public boolean callsExact() {
        return counts.exact;
    }

    public OptionalDouble callsError() {
        return counts.error;
    }

    public boolean exact() {
        return timed.exact;
    }

    public long sampled() {
        return timed.sampled;
    }

    public Latency latency() {
        return timed.latency;
    }

    public OptionalLong totalNanos() {
        return times.totalNanos;
    }

    public OptionalLong selfNanos() {
        return times.selfNanos;
    }

    public OptionalLong cpuNanos() {
        return cpu.selfNanos;
    }

    /// TOTAL if it may be shown; empty if its error includes zero, or is unknown because all timed calls are from
    /// one slice.
    public OptionalLong shownTotalNanos() {
        boolean unknown = times.totalError.isEmpty() && !timed.exact && !eachTimed();
        return unknown || times.totalError.orElse(0) > ERROR_MAX ? OptionalLong.empty() : times.totalNanos;
    }

    /// SELF if it may be shown; empty if TOTAL is.
    public OptionalLong shownSelfNanos() {
        boolean unknown =
                times.selfError.orElse(0) > ERROR_MAX || shownTotalNanos().isEmpty() || lacksCallees();
        return unknown ? OptionalLong.empty() : times.selfNanos;
    }

    /// Whether samples of the CPU time saw callees whose calls were never timed: then an estimated SELF contains them.
    private boolean lacksCallees() {
        double most = times.totalNanos.orElse(0) * (1 + SURE * times.totalError.orElse(0));
        double least = cpu.totalNanos.orElse(0) * (1 - SURE * cpu.totalError.orElse(0));
        double own = cpu.selfNanos.orElse(0) * (1 + SURE * cpu.selfError.orElse(0));
        return times.selfError.isPresent() && times.selfNanos.orElse(0) > most - (least - own);
    }

    /// The error of TOTAL, if it is shown.
    public OptionalDouble shownTotalError() {
        return shownTotalNanos().isPresent() ? times.totalError : OptionalDouble.empty();
    }

    /// The error of SELF, if it is shown.
    public OptionalDouble shownSelfError() {
        return shownSelfNanos().isPresent() ? times.selfError : OptionalDouble.empty();
    }

    /// CPU if it may be shown; empty if its error includes zero.
    public OptionalLong shownCpuNanos() {
        return cpu.selfError.orElse(0) > ERROR_MAX ? OptionalLong.empty() : cpu.selfNanos;
    }

    /// Upper bound of CPU in nanoseconds, with 95 % confidence.
    ///
    /// @param samples of the session
    public double cpuNanosMax(CpuSamples samples) {
        return Math.max(samples.nanosUnmet(), cpu.selfNanos.orElse(0) * (1 + cpu.selfError.orElse(0)));
    }

    /// Upper bound of CPU time with callees: all time whose callers are unknown may belong to it.
    public double cpuTotalNanosMax(CpuSamples samples) {
        double unknown = (double) (samples.cut() + samples.withoutTable()) * samples.periodNanos();
        return unknown + Math.max(samples.nanosUnmet(), cpu.totalNanos.orElse(0) * (1 + cpu.totalError.orElse(0)));
    }

    /// The error of CPU, if it is shown.
    public OptionalDouble shownCpuError() {
        return shownCpuNanos().isPresent() ? cpu.selfError : OptionalDouble.empty();
    }

    /// CPU time with callees if it may be shown; empty if its error includes zero.
    public OptionalLong shownCpuTotalNanos() {
        return cpu.totalError.orElse(0) > ERROR_MAX ? OptionalLong.empty() : cpu.totalNanos;
    }

    /// The error of CPU time with callees, if it is shown.
    public OptionalDouble shownCpuTotalError() {
        return shownCpuTotalNanos().isPresent() ? cpu.totalError : OptionalDouble.empty();
    }

    /// Whether CPU time with callees is better known than TOTAL: TOTAL is unknown, or its error is large and
    /// that of CPU time smaller.
    public boolean isCpuTotalBetter() {
        OptionalLong shown = shownCpuTotalNanos();
        if (shown.isEmpty() || timed.exact && shownTotalNanos().isPresent()) {
            return false;
        }
        double error = shownTotalNanos().isEmpty() ? Double.POSITIVE_INFINITY : times.totalError.orElse(0);
        return error > TOTAL_ERROR_MAX && cpu.totalError.orElse(0) < error;
    }

    /// Whether calls are a lower bound: its probes have been off since, or the end of the run was not seen.
    public boolean areCallsLeast() {
        return !timed.exact && !counts.exact && counts.error.isEmpty() && damage == null;
    }

    /// Whether there is something to show: calls, withheld figures, or CPU time. A function entered before
    /// its probes were in place has time and no calls.
    public boolean isToldOf() {
        return counts.number > 0 || damage != null || shownCpuNanos().isPresent();
    }

    /// Calls; empty if they are withheld.
    public OptionalLong knownCalls() {
        return damage == null ? OptionalLong.of(counts.number) : OptionalLong.empty();
    }

    /// Calls if they may be shown; empty if not even their order of magnitude is known.
    public OptionalLong shownCalls() {
        return counts.error.orElse(0) > CALLS_ERROR_MAX ? OptionalLong.empty() : knownCalls();
    }

    /// Whether each of its calls was timed, rather than a sample. If calls are estimated, there may be more
    /// than were timed.
    public boolean eachTimed() {
        return timed.sampled >= counts.number && counts.error.isEmpty();
    }

    /// The duration that `percentile` percent (0 to 100) of its calls did not exceed; empty if too few were
    /// timed.
    public OptionalLong percentileNanos(double percentile) {
        return eachTimed()
                ? timed.latency.percentileNanos(percentile)
                : timed.latency.percentileNanos(percentile, timed.sampled);
    }

    /// A copy with CPU time in its own code only.
    ///
    /// @param error relative half-width of its 95 % interval
    public FunctionProfile withCpu(long nanos, double error) {
        OptionalLong own = OptionalLong.of(nanos);
        OptionalDouble ownError = OptionalDouble.of(error);
        return withCpu(new Times(own, ownError, own, ownError));
    }

    /// A copy with CPU time; empty values if no sample met it.
    public FunctionProfile withCpu(Times cpu) {
        return new FunctionProfile(code, counts, timed, times, cpu, on, damage);
    }

    /// A copy with a self time; unknown if it is not above 0 and has an error.
    ///
    /// @param totalError,selfError half-widths of 95 % intervals, in nanoseconds
    public FunctionProfile withSelf(long nanos, OptionalDouble totalError, OptionalDouble selfError) {
        boolean known = nanos > 0 || (nanos == 0 && selfError.orElse(1) == 0);
        return withTimes(new Times(
                times.totalNanos,
                relative(totalError, times.totalNanos.orElse(0)),
                known ? OptionalLong.of(nanos) : OptionalLong.empty(),
                relative(selfError, nanos)));
    }

    /// A copy of a sampled function with additional time, in calls that the sample has missed.
    public FunctionProfile withMore(long nanos) {
        return withTimes(new Times(
                OptionalLong.of(times.totalNanos.orElse(0) + nanos),
                times.totalError,
                times.selfNanos,
                times.selfError));
    }

    /// Whether its longest timed call is shorter than the other's; false if either is unknown.
    public boolean isOutlastedBy(FunctionProfile other) {
        return latency().isOutlastedBy(other.latency());
    }

    /// A copy with at least one call as long as the other's longest.
    public FunctionProfile withCallAsLongAs(FunctionProfile other) {
        Latency longer = latency().withDurationAsLongAs(other.latency());
        return new FunctionProfile(code, counts, new Timed(timed.exact, timed.sampled, longer), times, cpu, on, damage);
    }

    /// A copy without the time of its nested calls.
    ///
    /// @param part  of the time of all calls
    /// @param error relative error that this adds to the rest
    public FunctionProfile withoutNested(double part, double error) {
        long all = times.totalNanos.orElse(0);
        long left = Math.round(all * (1 - part));
        double ofAll = times.totalError.orElse(0) * all;
        return withTimes(new Times(
                OptionalLong.of(left),
                OptionalDouble.of(Math.hypot(ofAll / Math.max(1, left), error)),
                times.selfNanos,
                times.selfError));
    }

    /// A copy without TOTAL: the time of outermost calls is unknown.
    public FunctionProfile withoutTotal() {
        return withTimes(new Times(OptionalLong.empty(), OptionalDouble.empty(), times.selfNanos, times.selfError));
    }

    /// A copy whose self time is a guess of unknown error, which is not shown.
    public FunctionProfile withGuessedSelf() {
        return withTimes(new Times(
                times.totalNanos, times.totalError, times.selfNanos, OptionalDouble.of(Double.POSITIVE_INFINITY)));
    }

    private FunctionProfile withTimes(Times times) {
        return new FunctionProfile(code, counts, timed, times, cpu, on, damage);
    }

    private static OptionalDouble relative(OptionalDouble error, long nanos) {
        return error.isPresent() && nanos > 0 ? OptionalDouble.of(error.getAsDouble() / nanos) : OptionalDouble.empty();
    }

    /// The same function with other measurements, without samples of CPU time.
    public FunctionProfile with(long calls, OptionalDouble callsError, long sampled, Latency latency, Times times) {
        return new FunctionProfile(
                code,
                new Calls(calls, counts.exact, callsError),
                new Timed(timed.exact, sampled, latency),
                times,
                Times.UNKNOWN,
                on,
                damage);
    }
}
