package org.mdlagent.profiler.sampled;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.session.FunctionRecordWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.records.RingDrain;
import org.mdlagent.profiler.records.SampleWeights;
import org.mdlagent.profiler.tier.Allowance;
import org.mdlagent.profiler.tier.ChanceTiming;
import org.mdlagent.profiler.tier.Tiers;

/// Functions whose probes stay on: their calls are counted always, and some are timed.
///
/// Of those that [Tiers] has chosen machine code times calls by itself, however frequent they are; a few calls are
/// written into the rings, for their callers. The others are rare, or become windowed.
final class OpenFunctions {
    /// The part of the budget that goes into timing calls in runs. It is spent by the second, not by the rotation: were
    /// it more, rests would become ever longer.
    private static final double TIMED_PART = 0.1;

    /// More calls of a function tell little more: what is timed shall be of many.
    private static final int TIMED_MAX = 256;

    /// Calls that tell their callers when functions begin to be timed by machine code, of all together.
    private static final int TOLD_MAX = 2048;

    /// A close look is dear, for nothing is in a cache: it is rarer, up to a limit, where it would use up more
    /// than this part of the budget.
    private static final double LOOK_PART = 0.1;

    private static final double LOOK_NANOS_MAX = 2e9;

    /// What rare functions cost is told of so much CPU time at least.
    private static final double HOT_NANOS_MIN = 20e6;

    /// Probes switch themselves off so long after the last sign of life of this profiler, should its process be killed
    /// and others of the family go on.
    private static final double LEASE_NANOS = 5e9;

    private static final int RENEWALS_PER_LEASE = 5;

    private final NativeApi api;
    private final Probes probes;
    private final Readings readings;
    private final CallEstimates estimates;
    private final Tiers tiers;
    private final ChanceTiming chance;
    private final SampleRuns runs;
    private final SampleWeights weights;
    private final Spending spending;
    private final RingDrain rings;
    private final Turns turns;
    private final double budget;
    private final int runLength;
    private final double ticksPerNano;
    private final Telling telling;
    private final long leaseTicks;
    private final SplittableRandom random = new SplittableRandom();
    private final ArmList changes;
    private long renewalTsc;

    /// By function: its calls when others of them were timed last.
    private long[] callsAtRenewal = {};

    /// Calls of a function that are timed between two rotations: all, as long as that is not too dear.
    private int timed;

    private long cpuAtRenewal;

    /// When they were last looked at.
    private long cpuAtLook;

    private long tscAtLook;
    private long lookTsc;
    private double lookNanos = SampledProfiler.CLOSE_LOOK_NANOS;

    /// @param changes is changed
    OpenFunctions(Sampling sampling, Turns turns, ArmList changes) {
        api = sampling.api();
        probes = sampling.probes();
        readings = sampling.readings();
        estimates = sampling.estimates();
        tiers = sampling.tiers();
        chance = sampling.chance();
        runs = sampling.runs();
        weights = sampling.weights();
        spending = sampling.spending();
        rings = sampling.rings();
        budget = sampling.budget();
        runLength = sampling.runLength();
        ticksPerNano = sampling.ticksPerNano();
        this.turns = turns;
        this.changes = changes;
        timed = runLength;
        telling = new Telling(budget, ticksPerNano, runLength);
        leaseTicks = (long) (LEASE_NANOS * ticksPerNano);
    }

    /// Makes room for functions that have come.
    void grow(int functions) {
        callsAtRenewal = Arrays.copyOf(callsAtRenewal, functions);
    }

    /// After which probes switch themselves off.
    long leaseTicks() {
        return leaseTicks;
    }

    /// Functions have come.
    ///
    /// @param first of them
    void begin(int first) {
        for (int i = first; i < readings.functions(); i++) {
            tiers.begin(i, probes.tier(i), probes.isTierNamed(i));
            beginTiming(i);
            if (probes.isTierNamed(i)) {
                Allowance.lift(probes.function(i));
            }
        }
    }

    /// Gives a function a tier. It is open from now on; its probes are on, or will be.
    void move(int function, Tier tier, boolean named) {
        probes.setTier(function, tier);
        chance.forget(function);
        tiers.move(function, tier, named, readings.calls(function));
        if (named) {
            Allowance.lift(probes.function(function));
        }
        if (!probes.isLeftOut(function)) {
            reopen(function);
        }
    }

    /// The function is open from now on. Its probes are on, or will be.
    void reopen(int function) {
        endWindows(function);
        beginSpan(function);
        beginTiming(function);
    }

    /// Others take their turns, when that is due.
    void takeTurns(Windows windows) {
        if (turns.take(windows.rateToWindow(), leaseTicks)) {
            for (int i = 0; i < readings.functions(); i++) {
                if (turns.has(i)) {
                    reopen(i);
                }
            }
        }
    }

    /// The function has no windows from now on.
    void endWindows(int function) {
        if (estimates.isWindowed(function)) {
            turns.remove(function);
            estimates.endWindows(function, readings.progress(), readings.calls(function));
        }
    }

    /// Times some of the calls that come.
    void beginTiming(int function) {
        if (!tiers.isCounted(function) && tiers.hasRoom()) {
            chance.open(function, 1e9 * spending.pace() * tiers.rate(function));
        }
        if (isTimedByMachine(function)) {
            int told = Math.clamp(TOLD_MAX / readings.functions(), 1, runLength);
            runs.tell(function, probes.function(function), told);
        } else {
            runs.timeFirst(function, probes.function(function));
        }
    }

    /// Whether machine code chooses the calls that are timed, and not runs ([SampleRuns]).
    private boolean isTimedByMachine(int function) {
        return tiers.isCounted(function) || chance.times(function);
    }

    private void beginSpan(int function) {
        weights.begin(function, api.tsc());
        callsAtRenewal[function] = readings.calls(function);
    }

    /// Times calls in runs, where the machine code does not, of all that were called.
    void renew() {
        for (int i = 0; i < readings.functions(); i++) {
            long fresh = readings.calls(i) - callsAtRenewal[i];
            if (!estimates.isWindowed(i) && fresh > 0 && !isTimedByMachine(i) && !probes.isLeftOut(i)) {
                renew(i, fresh);
            }
        }
    }

    /// Lets others of a function's calls be timed, of which there may be as many as there were.
    private void renew(int function, long fresh) {
        beginSpan(function);
        runs.time(function, probes.function(function), fresh, timed);
        rings.expect(Math.min(fresh, timed));
    }

    private void tell(int function, double mean) {
        int told = (int) (mean + random.nextDouble());
        beginSpan(function);
        runs.tell(function, probes.function(function), told);
        rings.expect(told);
    }

    /// What the calls stand for that have been recorded, before the rings are emptied.
    void weigh() {
        for (int i = 0; i < readings.functions(); i++) {
            if (!estimates.isWindowed(i)) {
                weigh(i);
            }
        }
    }

    void weigh(int function) {
        long fresh = readings.calls(function) - callsAtRenewal[function];
        int mean = Math.max(1, chance.times(function) ? chance.mean(function) : tiers.mean(function));
        double recorded = runs.recorded(function, Math.ceilDiv(fresh, mean));
        if (recorded > 0) {
            weights.set(function, runs.calls(function, fresh), recorded);
        }
    }

    /// Whether they have not been looked at for long.
    boolean isLookDue(long now) {
        return now - lookTsc > lookNanos * ticksPerNano;
    }

    /// A look that was due has taken so long.
    void setLook(long begin, long end) {
        lookTsc = begin;
        double took = (end - begin) / ticksPerNano;
        lookNanos = Math.clamp(took / (LOOK_PART * budget), SampledProfiler.CLOSE_LOOK_NANOS, LOOK_NANOS_MAX);
    }

    /// Adds the calls that there were to the functions' estimates, and makes those that are hot windowed.
    ///
    /// @param renew whether others of their calls are to be timed
    void look(Windows windows, boolean renew) {
        if (haveBecomeHot()) {
            turns.need();
        }
        double passed = readings.cpu() - cpuAtLook;
        double told = renew ? telling.ofEach(api.tsc(), spending.share()) : 0;
        cpuAtLook = readings.cpu();
        tscAtLook = readings.tsc();
        changes.clear();
        long inRuns = 0;
        int called = 0;
        for (int i = 0; i < readings.functions(); i++) {
            if (estimates.isWindowed(i) || probes.isLeftOut(i)) {
                continue;
            }
            long fresh = estimates.fresh(i, readings.calls(i));
            if (fresh == 0) {
                continue;
            }
            boolean counted = tiers.isCounted(i);
            estimates.count(i, readings.calls(i), passed);
            double rate = passed > 0 ? fresh / passed : 0;
            if (!counted && (windows.isFrequent(rate) || turns.areNeeded())) {
                windows.start(i, readings.progress(), rate, true);
                if (!windows.isFrequent(rate)) {
                    turns.add(i);
                }
                weigh(i);
                changes.add(i);
            } else if (isTimedByMachine(i)) {
                called++;
                spending.addByChance(chance.times(i) ? (double) fresh / chance.mean(i) : 0);
                if (told > 0) {
                    tell(i, told);
                }
            } else if (renew) {
                inRuns += Math.min(fresh, timed);
                renew(i, fresh);
            }
        }
        changes.disarm();
        telling.setFunctions(called);
        if (renew) {
            limit(inRuns);
        }
    }

    /// Lets more calls be timed in runs, or fewer.
    ///
    /// @param inRuns as many as there would have been since this was last done
    private void limit(long inRuns) {
        double part = spending.runNanos(inRuns) / (readings.cpu() - cpuAtRenewal);
        cpuAtRenewal = readings.cpu();
        if (part > TIMED_PART * budget || inRuns > RingDrain.EXPECTED_MAX / 2) {
            timed = Math.max(timed / 2, runLength);
        } else if (part < TIMED_PART * budget / 2) {
            timed = Math.min(timed * 2, TIMED_MAX);
        }
    }

    /// Whether those that are rare have used up their part of the budget since they were last looked at. No windows are
    /// open.
    boolean haveBecomeHot() {
        double passed = readings.cpu() - cpuAtLook;
        if (turns.areNeeded() || passed < HOT_NANOS_MIN) {
            return false;
        }
        double spent = 0;
        for (int i = 0; i < readings.functions(); i++) {
            if (!estimates.isWindowed(i) && !tiers.isCounted(i)) {
                long fresh = estimates.fresh(i, readings.calls(i));
                spent += spending.countedNanos(fresh, fresh / passed);
            }
        }
        return spent > Turns.PART * budget * passed;
    }

    /// CPU time of the program when they were last looked at, in nanoseconds.
    long cpuAtLook() {
        return cpuAtLook;
    }

    /// CPU time of the program at a moment since then, in nanoseconds, as if it had run evenly.
    double cpuAt(long tsc) {
        double part = (double) (tsc - tscAtLook) / Math.max(1, readings.tsc() - tscAtLook);
        return cpuAtLook + Math.clamp(part, 0, 1) * (readings.cpu() - cpuAtLook);
    }

    /// Functions have come: leases have just begun, and before the first ones nothing was counted.
    void beginLeases() {
        renewalTsc = api.tsc();
        if (tscAtLook == 0) {
            cpuAtLook = readings.cpu();
            tscAtLook = readings.tsc();
        }
    }

    /// Lets probes stay on, and switches those on anew that have switched themselves off, because the agent was
    /// stopped. To be called while windows rest, too: that may be longer than a lease.
    ///
    /// @param before takes from here what threads have stopped
    void renewLeases(Runnable before) {
        long now = api.tsc();
        if (now - renewalTsc < leaseTicks / RENEWALS_PER_LEASE) {
            return;
        }
        before.run();
        renewalTsc = now;
        changes.clear();
        for (int i = 0; i < readings.functions(); i++) {
            long record = probes.function(i);
            if (estimates.isWindowed(i) || probes.isLeftOut(i)) {
                continue;
            }
            Memory.putLong(record + FunctionDescriptor.DEADLINE, now + leaseTicks);
            if (Memory.getIntAcquire(record + FunctionDescriptor.STATE) != FunctionDescriptor.STATE_SAMPLING) {
                new FunctionRecordWriter(record).removeFlags(FunctionDescriptor.FLAG_EVERY_CALL);
                changes.add(i, leaseTicks);
            }
        }
        changes.arm();
    }
}
