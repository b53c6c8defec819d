package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.figures.Confidence;
import org.mdlagent.profiler.figures.ProbeCost;
import org.mdlagent.profiler.report.file.FunctionBytes;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.file.SessionFormatException;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.LatencyBuilder;

/// Sums the rows, counters and records of all threads for one function.
final class FunctionSums {
    /// If the program ran on for longer than this, relative to the known time, its calls are not
    /// extrapolated.
    private static final double UNTOLD_MAX = 1;

    /// Least number of slices that timed a sliced function: one may have met a burst that is like nothing else.
    private static final double INDEPENDENT_MIN = 3;

    /// Share of a sliced function's calls that its timed calls must stand for. Until a slice times a busy function,
    /// only its very first calls are: they took longer, because nothing was in the caches yet.
    private static final double TIMED_PART_MIN = 0.1;

    final LatencyBuilder latency = new LatencyBuilder();

    /// Whether all of its calls are recorded.
    final boolean exact;

    /// Calls counted on entry.
    private long entered;

    /// Ticks of its calls without probed callees.
    private long selfTicks;

    /// Ticks of nested calls, which the total contains twice.
    private long nestedTicks;

    /// Timed calls, in a sampled session.
    private long timed;

    /// Of these, calls timed by chance rather than because every call was timed.
    private double byChance;

    /// Effective number of independent timed calls, where each stands for the most calls that one may stand
    /// for.
    private double independent;

    private final FunctionBytes function;
    private final double untold;

    /// Why its figures are withheld, null if they are not.
    private @Nullable String damage;

    /// @param exact  whether all of its calls are recorded
    /// @param untold how long the program ran on after the last estimate of its calls, relative to the time
    ///     before
    FunctionSums(FunctionBytes function, boolean exact, double untold) {
        this.function = function;
        this.exact = exact;
        this.untold = untold;
    }

    /// Adds the time of nested calls, which the outer calls' time contains as well.
    void addNestedTicks(long ticks) {
        nestedTicks = Math.addExact(nestedTicks, ticks);
    }

    void addSelfTicks(long ticks) {
        selfTicks = Math.addExact(selfTicks, ticks);
    }

    void addEntered(long calls) {
        entered = Math.addExact(entered, calls);
    }

    /// Adds a row of a thread.
    ///
    /// @param calls that its timed calls stand for
    /// @param most  maximum calls that one of them stands for
    void addTimed(long calls, long timed, int most) {
        this.timed = Math.addExact(this.timed, timed);
        byChance += ProbeCost.byChance(calls, timed, most);
        independent += Math.min(timed, (double) calls / Math.max(1, most));
    }

    /// The effective number of independent timed calls. Those of one slice may all be from the same phase of the
    /// program, so a slice counts once (cluster sampling).
    ///
    /// @param told calls that told their caller: one of each slice that times the function
    double independent(long told) throws IOException {
        return told > 0 && function.isSliced() ? Math.min(independent, told) : independent;
    }

    /// The cost of its probes, in ticks.
    ///
    /// @param timed number of its timed calls
    /// @param rate  its calls per second of the program's CPU time
    double probeTicks(ProbeCost cost, long timed, double rate) {
        return cost.of(entered, exact ? 0 : byChance, exact ? timed : this.timed - byChance, rate);
    }

    /// Reads a part of its data. If that is damaged, all figures of this function are withheld, and only of
    /// this one.
    void read(Part part) throws IOException {
        try {
            part.read();
        } catch (SessionFormatException | ArithmeticException e) {
            if (function.bytes().overlaps()) {
                throw e;
            }
            damage = damage == null ? SessionBytes.reason(e) : damage;
        }
    }

    interface Part {
        void read() throws IOException;
    }

    boolean isDamaged() {
        return damage != null;
    }

    /// @param number its index, which stands for its name if that is damaged as well
    FunctionProfile withheld(int number) throws IOException {
        String[] texts = {"function " + number, "", ""};
        read(() -> texts[0] = function.name());
        read(() -> texts[1] = function.symbol());
        read(() -> texts[2] = function.image());
        return FunctionProfile.withheld(
                texts[0],
                texts[1],
                texts[2],
                new LatencyBuilder().build(0),
                !function.isLeftOut(),
                Objects.requireNonNull(damage));
    }

    /// @param known     durations of the timed calls
    /// @param selfNanos below 0 if other functions are sampled, so that callees are known only from edges
    /// @param reports   calls that told their caller
    /// @param complete  whether no thread's calls are missing
    FunctionProfile profile(Latency known, double selfNanos, long reports, boolean complete) throws IOException {
        return exact ? exactly(known, selfNanos, complete) : estimated(known, reports, complete);
    }

    long selfTicks() {
        return selfTicks;
    }

    /// Every call is counted on entry and timed on return; some never return.
    private FunctionProfile exactly(Latency known, double selfNanos, boolean complete) throws IOException {
        return profile(
                known,
                known.count(),
                Math.max(entered, known.count()),
                complete && !function.isInterrupted(),
                OptionalDouble.empty(),
                known.nanos(Math.max(0, known.totalTicks() - nestedTicks)),
                known.known() && selfNanos >= 0 ? OptionalLong.of(Math.round(selfNanos)) : OptionalLong.empty());
    }

    /// Calls are estimated, unless the probes were on all the time: then each was counted.
    private FunctionProfile estimated(Latency durations, long reports, boolean complete) throws IOException {
        double estimate = function.calls();
        double variance = function.callsVariance();
        if (!(estimate >= 0 && estimate < Long.MAX_VALUE) || !(variance >= 0) || !(function.unseen() >= 0)) {
            throw function.bytes().damaged("an estimate of calls is " + estimate + " with variance " + variance);
        }
        boolean whole = complete && function.isWhole();
        double unseen = whole ? 0 : function.unseen();
        // If the function was stopped, its calls since are unknown: the rest is a lower bound. A rate is extrapolated
        // to no
        // more time than it was observed in: the first milliseconds of a program say little about the following
        // seconds.
        boolean known = whole || (!function.isStopped() && untold <= UNTOLD_MAX && unseen <= 1);
        // The extrapolation; its error covers rates from zero to twice the rate that was seen.
        double missed = whole || !known ? 0 : estimate * (unseen + untold);
        double deviation = missed / Confidence.QUANTILE_95;
        double told = known ? estimate + missed : estimate - Confidence.QUANTILE_95 * Math.sqrt(variance);
        long calls = Math.max(whole ? entered : Math.max(Math.round(told), entered), timed);
        OptionalDouble error =
                known ? Confidence.relativeError(variance + deviation * deviation, calls) : OptionalDouble.empty();
        boolean few = independent(reports) < INDEPENDENT_MIN || durations.count() < TIMED_PART_MIN * calls;
        if (function.isSliced() && !function.isWhole() && few) {
            return profile(Latency.NONE, 0, calls, whole, error, OptionalLong.empty(), OptionalLong.empty());
        }
        return profile(durations, timed, calls, whole, error, durations.totalNanosOf(calls), OptionalLong.empty());
    }

    private FunctionProfile profile(
            Latency known,
            long sampled,
            long calls,
            boolean callsExact,
            OptionalDouble callsError,
            OptionalLong totalNanos,
            OptionalLong selfNanos)
            throws IOException {
        return new FunctionProfile(
                new FunctionProfile.Code(
                        function.name(), function.symbol(), function.file(), function.line(), function.image()),
                new FunctionProfile.Calls(calls, callsExact, callsError),
                new FunctionProfile.Timed(exact, sampled, known),
                FunctionProfile.Times.of(totalNanos, selfNanos),
                !function.isLeftOut());
    }
}
