package org.mdlagent.profiler.sampled;

import java.util.SplittableRandom;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.profiler.estimate.ProbeCost;
import org.mdlagent.profiler.tier.Tiers;

/// What measuring has cost so far, and how long windows rest for that: what [Governor] is told.
final class Spending {
    /// The part of the budget that is aimed at: what is spent comes in lumps.
    private static final double AIM = 0.8;

    /// The part of the budget that functions whose calls are all counted may use up, and those of them whose tier was
    /// chosen: what these cost beyond it is over when they have lost that tier, and windows are needed then.
    private static final double COUNTED_PART = 0.9;

    private static final double CHOSEN_PART = 0.75;

    /// So many times the budget of the time between two looks is a burst: a new phase of the program, or the compiler
    /// after a rotation or a slice of time. The next rotation is not to adjoin it. But it does not wait for long:
    /// where all looks are dear there would be none.
    private static final double BURST = 2;

    private static final double BURST_NANOS_MAX = 250e6;

    /// The budget is a part of the program's CPU time, but of this part of the time that has passed at least: an idle
    /// program is looked at, too. It is smoothed over so long, for programs run by fits and starts.
    private static final double SHARE_MIN = 0.1;

    private static final double USED_NANOS = 5e9;
    private static final double USED_LEAST = 1e-6;

    /// However little CPU time a program takes, windows do not rest for longer.
    private static final double REST_NANOS_MAX = 20e9;

    private final NativeApi api;
    private final ProbeCost probeCost;
    private final Tiers tiers;
    private final double budget;
    private final double epochNanos;
    private final double ticksPerNano;
    private final Runnable overBudget;
    private final Governor governor;
    private final Looks looks;
    private final SplittableRandom random = new SplittableRandom();
    private final long header;

    /// When the last rotation ended.
    private Sums last = new Sums(0, 0, 0, 0, 0);

    /// CPU time of the program for each nanosecond that has passed, of late, 1 at least; and of the last seconds.
    private double pace = 1;

    private double used = 1;

    private boolean exceeded;
    private long rotationTsc;
    private double costAtRotation;
    private long restEndTsc;

    /// What measuring had cost when windows were last seen resting, and until when the last burst keeps them at rest.
    private double costAtLook;

    private long quietTsc;

    /// Calls that were timed by chance of functions that windows look at.
    private double byChance;

    /// What the program has taken, and measuring has cost, so far, in nanoseconds.
    ///
    /// @param cost   but for `always`
    /// @param always what functions have cost whose calls are all counted
    /// @param named  the part of it that is of functions whose tier is named
    private record Sums(double elapsed, double cpu, double cost, double always, double named) {}

    /// @param budget     the part of the program's time that measuring may cost, above 0 and up to 1
    /// @param epochNanos between the begins of two rotations at least, on average
    /// @param overBudget what is done when functions whose tier is named cost more than the budget, the first time
    Spending(
            NativeApi api,
            ProbeCost probeCost,
            Tiers tiers,
            double budget,
            double epochNanos,
            double ticksPerNano,
            Runnable overBudget) {
        this.api = api;
        this.probeCost = probeCost;
        this.tiers = tiers;
        this.budget = budget;
        this.epochNanos = epochNanos;
        this.ticksPerNano = ticksPerNano;
        this.overBudget = overBudget;
        governor = new Governor(budget < 1 ? AIM * budget : budget);
        looks = new Looks(budget);
        header = api.session();
    }

    /// CPU time of the program for each nanosecond that has passed, of late; 1 at least, for it is that while it runs.
    double pace() {
        return pace;
    }

    /// CPU time for each nanosecond that has passed, of which the budget is a part.
    double share() {
        return Math.max(SHARE_MIN, used);
    }

    /// The budget's part of the program's CPU time is this many times what was asked for.
    double generosity() {
        return share() / Math.max(USED_LEAST, used);
    }

    /// What timing in runs costs, as it is predicted, in nanoseconds.
    double runNanos(long timed) {
        return probeCost.inRuns(timed) / ticksPerNano;
    }

    /// What counting a function's calls costs.
    ///
    /// @param rate calls for each nanosecond of CPU time
    double countedNanos(long calls, double rate) {
        return calls * probeCost.counted(1e9 * rate) / ticksPerNano;
    }

    /// What timing costs that is done by chance, in nanoseconds.
    double byChanceNanos(double timed) {
        return probeCost.timedByChance(timed) / ticksPerNano;
    }

    /// So many more calls were timed by chance of functions that windows look at.
    void addByChance(double timed) {
        byChance += timed;
    }

    /// What measuring has cost so far, but for functions whose calls are all counted.
    private double nanos() {
        api.renewClocks();
        long samples = Memory.getLong(header + HeaderDescriptor.SAMPLES);
        return Memory.getLong(header + HeaderDescriptor.AGENT_CPU_NANOS)
                + tiers.sampledTicks() / ticksPerNano
                + runNanos(samples)
                + byChanceNanos(byChance);
    }

    /// When windows are to open again. They rest, and functions have just been looked at.
    long nextRotation(long now) {
        double cost = nanos();
        if (cost - costAtLook > BURST * budget * pace * lookNanos()) {
            quietTsc = now + (long) (lookNanos() * ticksPerNano);
        }
        costAtLook = cost;
        return Math.max(restEndTsc, Math.min(quietTsc, restEndTsc + (long) (BURST_NANOS_MAX * ticksPerNano)));
    }

    /// How long it is from one look to the next while windows rest, in nanoseconds.
    double lookNanos() {
        return looks.nanosBetween(share());
    }

    /// Tells what a look has taken.
    void endLook(long beginTsc, long endTsc) {
        looks.end((endTsc - beginTsc) / ticksPerNano);
    }

    void beginRotation(long now) {
        rotationTsc = now;
        costAtRotation = costAtLook;
    }

    /// @param cpu of the program so far, in nanoseconds
    /// @return how long windows rest now, in nanoseconds
    double endRotation(long now, long cpu) {
        Sums before = last;
        last = new Sums(
                now / ticksPerNano, cpu, nanos(), tiers.ticks() / ticksPerNano, tiers.namedTicks() / ticksPerNano);
        costAtLook = last.cost;
        double rotation = (now - rotationTsc) / ticksPerNano;
        // At random, as the governor's: with what is periodic in the program, all windows would see the same of it.
        double rest = 2 * random.nextDouble() * (epochNanos - rotation);
        if (before.elapsed > 0) {
            rest = Math.max(rest, governed(before, rotation));
        }
        if (!tiers.hasWindowed()) {
            rest = Math.max(rest, SampledProfiler.CLOSE_LOOK_NANOS);
        }
        restEndTsc = now + (long) (rest * ticksPerNano);
        return rest;
    }

    private double governed(Sums before, double rotation) {
        double elapsed = last.elapsed - before.elapsed;
        double newest = (last.cpu - before.cpu) / elapsed;
        pace = Math.max(1, newest);
        used += elapsed / (elapsed + USED_NANOS) * (newest - used);
        double share = share();
        double income = budget * share * elapsed;
        double named = last.named - before.named;
        if (named > income && !exceeded) {
            exceeded = true;
            overBudget.run();
        }
        double chosen = Math.clamp(last.always - before.always - named, 0, CHOSEN_PART * income);
        double spent = last.cost - before.cost + Math.min(COUNTED_PART * income, named + chosen);
        double cost = last.cost - costAtRotation;
        double rest = governor.rest(share * elapsed, spent, share * rotation, cost, random.nextDouble()) / share;
        return Math.min(rest, REST_NANOS_MAX);
    }
}
