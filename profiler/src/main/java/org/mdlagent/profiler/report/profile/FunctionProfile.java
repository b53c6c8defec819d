package org.mdlagent.profiler.report.profile;

import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/// What a session knows of one probed function.
///
/// Long because each figure has its error, and a rule for when it may be shown.
///
/// @param name       demangled
/// @param symbol     as in the symbol table
/// @param file       source file, null when unknown
/// @param line       in that file, 0 when unknown
/// @param image      path of the ELF file
/// @param calls      how often it was called: counted, or estimated
/// @param callsExact whether `calls` was counted without a gap
/// @param callsError of an estimate: half the width of its 95 % interval, relative to `calls`; of a sampled
///     session, empty where `calls` is the least that there were
/// @param exact      whether every call was recorded, and not a sample
/// @param sampled    calls whose duration is in `latency`
/// @param totalNanos time in the function and what it called, over all its calls; estimated where `calls` is
/// @param selfNanos  the same without the probed functions it called; of a sampled session, without those whose
///     calls by this very function were seen
/// @param totalError of an estimate: half the width of its 95 % interval, relative to `totalNanos`
/// @param selfError  the same of `selfNanos`
/// @param cpuNanos   CPU time of all threads in its own code, in user mode, by the kernel's samples; empty where it has
///     none
/// @param cpuError   half the width of its 95 % interval, relative to `cpuNanos`; empty where that is
/// @param cpuTotalNanos CPU time of all threads in it and in what it called, the same way
/// @param cpuTotalError half the width of its 95 % interval, relative to `cpuTotalNanos`
/// @param latency    of the calls that were timed
/// @param on         false while the profiler leaves it out, because somebody has asked for that
/// @param damage     why its figures are withheld, null where they are not
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
    /// The relative error beyond which an estimate of time is not shown: it may be nothing, then.
    private static final double ERROR_MAX = 1;

    /// The same of calls, of which the order of magnitude tells something.
    private static final double CALLS_ERROR_MAX = 10;

    /// The relative error beyond which TOTAL gives way to CPU time with callees, if that is better known.
    private static final double TOTAL_ERROR_MAX = 0.25;

    /// One whose figures are what they should be, without samples of CPU time.
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

    /// What tells of a function whose figures are withheld, because what the session has of them is damaged.
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

    /// TOTAL as it may be shown; unknown where it may as well be nothing, and where one timed call stands for others of
    /// which nobody knows how long they took.
    public OptionalLong shownTotalNanos() {
        boolean unknown = totalError.isEmpty() && sampled == 1 && !exact && !eachTimed();
        return unknown || totalError.orElse(0) > ERROR_MAX ? OptionalLong.empty() : totalNanos;
    }

    /// SELF as it may be shown: a part of a TOTAL that says nothing says nothing either.
    public OptionalLong shownSelfNanos() {
        boolean unknown = selfError.orElse(0) > ERROR_MAX || shownTotalNanos().isEmpty();
        return unknown ? OptionalLong.empty() : selfNanos;
    }

    /// How far TOTAL may be off, where it is shown.
    public OptionalDouble shownTotalError() {
        return shownTotalNanos().isPresent() ? totalError : OptionalDouble.empty();
    }

    /// How far SELF may be off, where it is shown.
    public OptionalDouble shownSelfError() {
        return shownSelfNanos().isPresent() ? selfError : OptionalDouble.empty();
    }

    /// CPU as it may be shown; unknown where it may as well be nothing.
    public OptionalLong shownCpuNanos() {
        return cpuError.orElse(0) > ERROR_MAX ? OptionalLong.empty() : cpuNanos;
    }

    /// The most that CPU is, in 95 of 100 cases, in nanoseconds.
    ///
    /// @param samples of the session
    public double cpuNanosMax(CpuSamples samples) {
        return Math.max(samples.nanosUnmet(), cpuNanos.orElse(0) * (1 + cpuError.orElse(0)));
    }

    /// The same of CPU time with callees: all of what was called by nobody knows whom may be its.
    public double cpuTotalNanosMax(CpuSamples samples) {
        double unknown = (double) (samples.cut() + samples.withoutTable()) * samples.periodNanos();
        return unknown + Math.max(samples.nanosUnmet(), cpuTotalNanos.orElse(0) * (1 + cpuTotalError.orElse(0)));
    }

    /// How far CPU may be off, where it is shown.
    public OptionalDouble shownCpuError() {
        return shownCpuNanos().isPresent() ? cpuError : OptionalDouble.empty();
    }

    /// CPU time with callees as it may be shown; unknown where it may as well be nothing.
    public OptionalLong shownCpuTotalNanos() {
        return cpuTotalError.orElse(0) > ERROR_MAX ? OptionalLong.empty() : cpuTotalNanos;
    }

    /// How far that may be off, where it is shown.
    public OptionalDouble shownCpuTotalError() {
        return shownCpuTotalNanos().isPresent() ? cpuTotalError : OptionalDouble.empty();
    }

    /// Whether CPU time with callees says more than TOTAL: TOTAL is unknown, or its error is large and that of CPU time
    /// smaller.
    public boolean isCpuTotalBetter() {
        OptionalLong cpu = shownCpuTotalNanos();
        if (cpu.isEmpty() || exact && shownTotalNanos().isPresent()) {
            return false;
        }
        double error = shownTotalNanos().isEmpty() ? Double.POSITIVE_INFINITY : totalError.orElse(0);
        return error > TOTAL_ERROR_MAX && cpuTotalError.orElse(0) < error;
    }

    /// Whether there were as many calls at least: its probes have been off since, or the end of the run was not seen.
    public boolean areCallsLeast() {
        return !exact && !callsExact && callsError.isEmpty() && damage == null;
    }

    /// Whether there is something to show: calls, or that they are withheld, or CPU time. One that was entered before
    /// its probes were in place has all its time, and no call.
    public boolean isToldOf() {
        return calls > 0 || damage != null || shownCpuNanos().isPresent();
    }

    /// Unknown where they are withheld.
    public OptionalLong knownCalls() {
        return damage == null ? OptionalLong.of(calls) : OptionalLong.empty();
    }

    /// Calls as they may be shown; unknown where not even their order of magnitude is known.
    public OptionalLong shownCalls() {
        return callsError.orElse(0) > CALLS_ERROR_MAX ? OptionalLong.empty() : knownCalls();
    }

    /// Whether the duration of each of its calls is known, and not of a sample. Of calls that were estimated, there may
    /// be more than those that were timed.
    public boolean eachTimed() {
        return sampled >= calls && callsError.isEmpty();
    }

    /// The duration that `percentile` percent (0 to 100) of its calls did not exceed; empty where too few were timed.
    public OptionalLong percentileNanos(double percentile) {
        return eachTimed() ? latency.percentileNanos(percentile) : latency.percentileNanos(percentile, sampled);
    }

    /// The same with CPU time in its own code alone.
    ///
    /// @param error half the width of its 95 % interval, relative to it
    public FunctionProfile withCpu(long nanos, double error) {
        OptionalLong own = OptionalLong.of(nanos);
        OptionalDouble ownError = OptionalDouble.of(error);
        return withCpu(own, ownError, own, ownError);
    }

    /// The same with CPU time; empty where no sample tells of any.
    ///
    /// @param own   in its own code
    /// @param ofAll in it and in what it called
    /// @param ownError,ofAllError halves of the widths of their 95 % intervals, relative to them
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

    /// The same with a self time, which is unknown where it is not above 0 and has an error.
    ///
    /// @param totalError,selfError halves of 95 % intervals, in nanoseconds
    public FunctionProfile withSelf(long nanos, OptionalDouble totalError, OptionalDouble selfError) {
        boolean known = nanos > 0 || (nanos == 0 && selfError.orElse(1) == 0);
        return withTimes(
                totalNanos,
                known ? OptionalLong.of(nanos) : OptionalLong.empty(),
                relative(totalError, totalNanos.orElse(0)),
                relative(selfError, nanos));
    }

    /// The same of a sampled function, with time in calls that the sample tells nothing of.
    public FunctionProfile withMore(long nanos) {
        return withTimes(OptionalLong.of(totalNanos.orElse(0) + nanos), selfNanos, totalError, selfError);
    }

    /// Whether its longest timed call is shorter than the other's; false while something is not known.
    public boolean isOutlastedBy(FunctionProfile other) {
        return latency.isOutlastedBy(other.latency);
    }

    /// The same, of which one call at least lasted as long as the longest of the other.
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

    /// The same without what calls took that ran within others of it.
    ///
    /// @param part  of the time of all calls
    /// @param error how far what is left may be off because of that, relative to it
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

    /// The same, of which the time of outermost calls is not known.
    public FunctionProfile withoutTotal() {
        return withTimes(OptionalLong.empty(), selfNanos, OptionalDouble.empty(), selfError);
    }

    /// The same, of which the time without probed functions is a guess that is not shown: how far it is off is not
    /// known.
    public FunctionProfile withGuessedSelf() {
        return withTimes(totalNanos, selfNanos, totalError, OptionalDouble.of(Double.POSITIVE_INFINITY));
    }

    /// The same calls, which took another time.
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

    /// The same function, measured otherwise, without samples of CPU time.
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
