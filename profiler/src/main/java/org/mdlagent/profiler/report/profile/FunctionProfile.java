package org.mdlagent.profiler.report.profile;

import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/// The profile of one probed function.
///
/// @param name       demangled
/// @param symbol     as in the symbol table
/// @param file       source file, null when unknown
/// @param line       in that file, 0 when unknown
/// @param image      path of the ELF file
/// @param calls      number of calls, counted or estimated
/// @param callsExact whether `calls` was counted without gaps
/// @param callsError of an estimate: relative half-width of its 95 % interval; in a sampled session, empty if
///     `calls` is a lower bound
/// @param exact      whether every call was recorded, rather than a sample
/// @param sampled    calls whose durations are in `latency`
/// @param totalNanos time in the function and its callees, over all its calls; estimated if `calls` is
/// @param selfNanos  `totalNanos` without probed callees; in a sampled session, without callees that were
///     seen to be called by this function
/// @param totalError of an estimate: relative half-width of its 95 % interval
/// @param selfError  of an estimate: relative half-width of its 95 % interval
/// @param cpuNanos   CPU time of all threads in its own code, in user mode, by the kernel's samples; empty if
///     there are none
/// @param cpuError   relative half-width of its 95 % interval; empty if `cpuNanos` is
/// @param cpuTotalNanos CPU time of all threads in it and its callees, measured likewise
/// @param cpuTotalError relative half-width of its 95 % interval
/// @param latency    of the timed calls
/// @param on         false while it is left out on request
/// @param damage     why its figures are withheld, null if they are not
public record FunctionProfile(
        String name,
        String symbol,
        @Nullable String file,
        int line,
        String image,
        long calls,
        boolean callsExact,
        OptionalDouble callsError,
        boolean exact,
        long sampled,
        OptionalLong totalNanos,
        OptionalLong selfNanos,
        OptionalDouble totalError,
        OptionalDouble selfError,
        OptionalLong cpuNanos,
        OptionalDouble cpuError,
        OptionalLong cpuTotalNanos,
        OptionalDouble cpuTotalError,
        Latency latency,
        boolean on,
        @Nullable String damage) {
    /// Relative error above which an estimate of time is not shown: it may be zero.
    private static final double ERROR_MAX = 1;

    /// The same limit for calls; even their order of magnitude is useful.
    private static final double CALLS_ERROR_MAX = 10;

    /// Relative error above which TOTAL is replaced by CPU time with callees, if that is better known.
    private static final double TOTAL_ERROR_MAX = 0.25;

    /// A function with valid figures and without samples of CPU time.
    public FunctionProfile(
            String name,
            String symbol,
            @Nullable String file,
            int line,
            String image,
            long calls,
            boolean callsExact,
            OptionalDouble callsError,
            boolean exact,
            long sampled,
            OptionalLong totalNanos,
            OptionalLong selfNanos,
            OptionalDouble totalError,
            OptionalDouble selfError,
            Latency latency,
            boolean on) {
        this(
                name,
                symbol,
                file,
                line,
                image,
                calls,
                callsExact,
                callsError,
                exact,
                sampled,
                totalNanos,
                selfNanos,
                totalError,
                selfError,
                OptionalLong.empty(),
                OptionalDouble.empty(),
                OptionalLong.empty(),
                OptionalDouble.empty(),
                latency,
                on,
                null);
    }

    /// A function whose figures are withheld because the session's data of them is damaged.
    ///
    /// @param latency of no calls
    public static FunctionProfile withheld(
            String name, String symbol, String image, Latency latency, boolean on, String damage) {
        return new FunctionProfile(
                name,
                symbol,
                null,
                0,
                image,
                0,
                false,
                OptionalDouble.empty(),
                false,
                0,
                OptionalLong.empty(),
                OptionalLong.empty(),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                OptionalLong.empty(),
                OptionalDouble.empty(),
                OptionalLong.empty(),
                OptionalDouble.empty(),
                latency,
                on,
                damage);
    }

    /// TOTAL if it may be shown; empty if its error includes zero, or is unknown because all timed calls are from
    /// one slice.
    public OptionalLong shownTotalNanos() {
        boolean unknown = totalError.isEmpty() && !exact && !eachTimed();
        return unknown || totalError.orElse(0) > ERROR_MAX ? OptionalLong.empty() : totalNanos;
    }

    /// SELF if it may be shown; empty if TOTAL is.
    public OptionalLong shownSelfNanos() {
        boolean unknown = selfError.orElse(0) > ERROR_MAX || shownTotalNanos().isEmpty();
        return unknown ? OptionalLong.empty() : selfNanos;
    }

    /// The error of TOTAL, if it is shown.
    public OptionalDouble shownTotalError() {
        return shownTotalNanos().isPresent() ? totalError : OptionalDouble.empty();
    }

    /// The error of SELF, if it is shown.
    public OptionalDouble shownSelfError() {
        return shownSelfNanos().isPresent() ? selfError : OptionalDouble.empty();
    }

    /// CPU if it may be shown; empty if its error includes zero.
    public OptionalLong shownCpuNanos() {
        return cpuError.orElse(0) > ERROR_MAX ? OptionalLong.empty() : cpuNanos;
    }

    /// Upper bound of CPU in nanoseconds, with 95 % confidence.
    ///
    /// @param samples of the session
    public double cpuNanosMax(CpuSamples samples) {
        return Math.max(samples.nanosUnmet(), cpuNanos.orElse(0) * (1 + cpuError.orElse(0)));
    }

    /// Upper bound of CPU time with callees: all time whose callers are unknown may belong to it.
    public double cpuTotalNanosMax(CpuSamples samples) {
        double unknown = (double) (samples.cut() + samples.withoutTable()) * samples.periodNanos();
        return unknown + Math.max(samples.nanosUnmet(), cpuTotalNanos.orElse(0) * (1 + cpuTotalError.orElse(0)));
    }

    /// The error of CPU, if it is shown.
    public OptionalDouble shownCpuError() {
        return shownCpuNanos().isPresent() ? cpuError : OptionalDouble.empty();
    }

    /// CPU time with callees if it may be shown; empty if its error includes zero.
    public OptionalLong shownCpuTotalNanos() {
        return cpuTotalError.orElse(0) > ERROR_MAX ? OptionalLong.empty() : cpuTotalNanos;
    }

    /// The error of CPU time with callees, if it is shown.
    public OptionalDouble shownCpuTotalError() {
        return shownCpuTotalNanos().isPresent() ? cpuTotalError : OptionalDouble.empty();
    }

    /// Whether CPU time with callees is better known than TOTAL: TOTAL is unknown, or its error is large and
    /// that of CPU time smaller.
    public boolean isCpuTotalBetter() {
        OptionalLong cpu = shownCpuTotalNanos();
        if (cpu.isEmpty() || exact && shownTotalNanos().isPresent()) {
            return false;
        }
        double error = shownTotalNanos().isEmpty() ? Double.POSITIVE_INFINITY : totalError.orElse(0);
        return error > TOTAL_ERROR_MAX && cpuTotalError.orElse(0) < error;
    }

    /// Whether calls are a lower bound: its probes have been off since, or the end of the run was not seen.
    public boolean areCallsLeast() {
        return !exact && !callsExact && callsError.isEmpty() && damage == null;
    }

    /// Whether there is something to show: calls, withheld figures, or CPU time. A function entered before
    /// its probes were in place has time and no calls.
    public boolean isToldOf() {
        return calls > 0 || damage != null || shownCpuNanos().isPresent();
    }

    /// Calls; empty if they are withheld.
    public OptionalLong knownCalls() {
        return damage == null ? OptionalLong.of(calls) : OptionalLong.empty();
    }

    /// Calls if they may be shown; empty if not even their order of magnitude is known.
    public OptionalLong shownCalls() {
        return callsError.orElse(0) > CALLS_ERROR_MAX ? OptionalLong.empty() : knownCalls();
    }

    /// Whether each of its calls was timed, rather than a sample. If calls are estimated, there may be more
    /// than were timed.
    public boolean eachTimed() {
        return sampled >= calls && callsError.isEmpty();
    }

    /// The duration that `percentile` percent (0 to 100) of its calls did not exceed; empty if too few were
    /// timed.
    public OptionalLong percentileNanos(double percentile) {
        return eachTimed() ? latency.percentileNanos(percentile) : latency.percentileNanos(percentile, sampled);
    }

    /// A copy with CPU time in its own code only.
    ///
    /// @param error relative half-width of its 95 % interval
    public FunctionProfile withCpu(long nanos, double error) {
        OptionalLong own = OptionalLong.of(nanos);
        OptionalDouble ownError = OptionalDouble.of(error);
        return withCpu(own, ownError, own, ownError);
    }

    /// A copy with CPU time; empty values if no sample met it.
    ///
    /// @param own   in its own code
    /// @param ofAll in it and its callees
    /// @param ownError,ofAllError relative half-widths of their 95 % intervals
    public FunctionProfile withCpu(
            OptionalLong own, OptionalDouble ownError, OptionalLong ofAll, OptionalDouble ofAllError) {
        return with(
                calls,
                callsError,
                sampled,
                totalNanos,
                selfNanos,
                totalError,
                selfError,
                own,
                ownError,
                ofAll,
                ofAllError,
                latency);
    }

    /// A copy with a self time; unknown if it is not above 0 and has an error.
    ///
    /// @param totalError,selfError half-widths of 95 % intervals, in nanoseconds
    public FunctionProfile withSelf(long nanos, OptionalDouble totalError, OptionalDouble selfError) {
        boolean known = nanos > 0 || (nanos == 0 && selfError.orElse(1) == 0);
        return withTimes(
                totalNanos,
                known ? OptionalLong.of(nanos) : OptionalLong.empty(),
                relative(totalError, totalNanos.orElse(0)),
                relative(selfError, nanos));
    }

    /// A copy of a sampled function with additional time, in calls that the sample has missed.
    public FunctionProfile withMore(long nanos) {
        return withTimes(OptionalLong.of(totalNanos.orElse(0) + nanos), selfNanos, totalError, selfError);
    }

    /// Whether its longest timed call is shorter than the other's; false if either is unknown.
    public boolean isOutlastedBy(FunctionProfile other) {
        return latency.isOutlastedBy(other.latency);
    }

    /// A copy with at least one call as long as the other's longest.
    public FunctionProfile withCallAsLongAs(FunctionProfile other) {
        return with(
                calls,
                callsError,
                sampled,
                totalNanos,
                selfNanos,
                totalError,
                selfError,
                cpuNanos,
                cpuError,
                cpuTotalNanos,
                cpuTotalError,
                latency.withDurationAsLongAs(other.latency));
    }

    /// A copy without the time of its nested calls.
    ///
    /// @param part  of the time of all calls
    /// @param error relative error that this adds to the rest
    public FunctionProfile withoutNested(double part, double error) {
        long all = totalNanos.orElse(0);
        long left = Math.round(all * (1 - part));
        double ofAll = totalError.orElse(0) * all;
        return withTimes(
                OptionalLong.of(left),
                selfNanos,
                OptionalDouble.of(Math.hypot(ofAll / Math.max(1, left), error)),
                selfError);
    }

    /// A copy without TOTAL: the time of outermost calls is unknown.
    public FunctionProfile withoutTotal() {
        return withTimes(OptionalLong.empty(), selfNanos, OptionalDouble.empty(), selfError);
    }

    /// A copy whose self time is a guess of unknown error, which is not shown.
    public FunctionProfile withGuessedSelf() {
        return withTimes(totalNanos, selfNanos, totalError, OptionalDouble.of(Double.POSITIVE_INFINITY));
    }

    /// A copy with other times.
    private FunctionProfile withTimes(
            OptionalLong totalNanos, OptionalLong selfNanos, OptionalDouble totalError, OptionalDouble selfError) {
        return with(
                calls,
                callsError,
                sampled,
                totalNanos,
                selfNanos,
                totalError,
                selfError,
                cpuNanos,
                cpuError,
                cpuTotalNanos,
                cpuTotalError,
                latency);
    }

    private static OptionalDouble relative(OptionalDouble error, long nanos) {
        return error.isPresent() && nanos > 0 ? OptionalDouble.of(error.getAsDouble() / nanos) : OptionalDouble.empty();
    }

    /// The same function with other measurements, without samples of CPU time.
    public FunctionProfile with(
            long calls,
            OptionalDouble callsError,
            long sampled,
            OptionalLong totalNanos,
            OptionalLong selfNanos,
            OptionalDouble totalError,
            OptionalDouble selfError,
            Latency latency) {
        return with(
                calls,
                callsError,
                sampled,
                totalNanos,
                selfNanos,
                totalError,
                selfError,
                OptionalLong.empty(),
                OptionalDouble.empty(),
                OptionalLong.empty(),
                OptionalDouble.empty(),
                latency);
    }

    private FunctionProfile with(
            long calls,
            OptionalDouble callsError,
            long sampled,
            OptionalLong totalNanos,
            OptionalLong selfNanos,
            OptionalDouble totalError,
            OptionalDouble selfError,
            OptionalLong cpuNanos,
            OptionalDouble cpuError,
            OptionalLong cpuTotalNanos,
            OptionalDouble cpuTotalError,
            Latency latency) {
        return new FunctionProfile(
                name,
                symbol,
                file,
                line,
                image,
                calls,
                callsExact,
                callsError,
                exact,
                sampled,
                totalNanos,
                selfNanos,
                totalError,
                selfError,
                cpuNanos,
                cpuError,
                cpuTotalNanos,
                cpuTotalError,
                latency,
                on,
                damage);
    }
}
