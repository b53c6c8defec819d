package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.estimate.Confidence;
import org.mdlagent.profiler.estimate.ProbeCost;
import org.mdlagent.profiler.report.file.FunctionBytes;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.file.SessionFormatException;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.LatencyBuilder;

/// What the rows, counters and records of all threads say of one function.
final class FunctionSums {
    /// Of a program that ran on for longer than this, in parts of the time that is known, nothing is told.
    private static final double UNTOLD_MAX = 1;

    final LatencyBuilder latency = new LatencyBuilder();

    /// Whether all of its calls are recorded.
    final boolean exact;

    /// Calls that were counted when they began.
    private long entered;

    /// Ticks of its calls without probed callees.
    private long selfTicks;

    /// Of the ticks of its calls those that are in there twice.
    private long nestedTicks;

    /// Calls that were timed, in a sampled session.
    private long timed;

    /// Of these, those that were timed by chance, and not each as it came.
    private double byChance;

    /// How much they tell: as so many that each stand for the most calls that one of them does.
    private double independent;

    private final FunctionBytes function;
    private final double untold;

    /// Why its figures are withheld, null where they are not.
    private @Nullable String damage;

    /// @param exact  whether all of its calls are recorded
    /// @param untold how long the program ran on after the last estimate of its calls, in parts of the time before
    FunctionSums(FunctionBytes function, boolean exact, double untold) {
        this.function = function;
        this.exact = exact;
        this.untold = untold;
    }

    /// Adds what calls took that ran within others of it, whose time has that.
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
    /// @param most  calls that one of them stands for at most
    void addTimed(long calls, long timed, int most) {
        this.timed = Math.addExact(this.timed, timed);
        byChance += ProbeCost.byChance(calls, timed, most);
        independent += Math.min(timed, (double) calls / Math.max(1, most));
    }

    /// How many timed calls with nothing in common would tell as much.
    double independent() {
        return independent;
    }

    /// What its probes have cost, in ticks.
    ///
    /// @param timed of its calls
    /// @param rate  its calls in a second of the program's CPU time
    double probeTicks(ProbeCost cost, long timed, double rate) {
        return cost.of(entered, exact ? 0 : byChance, exact ? timed : this.timed - byChance, rate);
    }

    /// Reads a part of it. Where that is damaged, all its figures are withheld, and those of others are not.
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

    /// @param number its index, for a name where that is damaged, too
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

    /// @param known     of the calls that were timed
    /// @param selfNanos below 0 where others are sampled, so that callees are known by their edges alone
    /// @param complete  whether no thread's calls are missing
    FunctionProfile profile(Latency known, double selfNanos, boolean complete) throws IOException {
        return exact ? exactly(known, selfNanos, complete) : estimated(known, complete);
    }

    long selfTicks() {
        return selfTicks;
    }

    /// Every call is counted when it begins, and timed when it returns, which some never do.
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

    /// The calls are an estimate, unless its probes have been on all the time: then each was counted.
    private FunctionProfile estimated(Latency durations, boolean complete) throws IOException {
        double estimate = function.calls();
        double variance = function.callsVariance();
        if (!(estimate >= 0 && estimate < Long.MAX_VALUE) || !(variance >= 0)) {
            throw function.bytes().damaged("an estimate of calls is " + estimate + " with variance " + variance);
        }
        boolean whole = complete && function.isWhole();
        // As often as before, or not at all, or twice as often.
        double since = whole || untold > UNTOLD_MAX ? 0 : estimate * untold;
        double deviation = since / Confidence.QUANTILE_95;
        // How often a stopped one was called since is unknown: there were as many calls, at least.
        boolean known = !function.isStopped() && (whole || untold <= UNTOLD_MAX);
        double told = known ? estimate + since : estimate - Confidence.QUANTILE_95 * Math.sqrt(variance);
        long calls = Math.max(whole ? entered : Math.max(Math.round(told), entered), timed);
        OptionalDouble error =
                known ? Confidence.relativeError(variance + deviation * deviation, calls) : OptionalDouble.empty();
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
                function.name(),
                function.symbol(),
                function.file(),
                function.line(),
                function.image(),
                calls,
                callsExact,
                callsError,
                exact,
                sampled,
                totalNanos,
                selfNanos,
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                known,
                !function.isLeftOut());
    }
}
