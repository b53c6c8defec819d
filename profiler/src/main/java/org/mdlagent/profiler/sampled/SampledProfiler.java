package org.mdlagent.profiler.sampled;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.Collector;
import org.mdlagent.profiler.cpu.PcSamples;
import org.mdlagent.profiler.estimate.ProbeCost;
import org.mdlagent.profiler.records.RingDrain;
import org.mdlagent.profiler.records.SampleWeights;
import org.mdlagent.profiler.tier.Allowance;
import org.mdlagent.profiler.tier.ChanceTiming;
import org.mdlagent.profiler.tier.TierChoice;
import org.mdlagent.profiler.tier.Tiers;

/// The sampled latency profiler ("Living on the Edge", PLDI 2016, section 9), with windows of time instead of windows
/// of calls.
///
/// Every function is open or windowed. An *open* one ([OpenFunctions]) has probes that stay on, so its count of calls
/// is exact: it is rare, or machine code counts its calls and times some by chance ([Tiers] chooses those). The
/// *windowed* ones ([Windows]) are divided into groups, which take turns in a *rotation*; then all rest, for as long
/// as the budget demands ([Governor]). Those that are too rare for a window to meet them, and too many for all to be
/// open, take longer turns ([Turns]). In either state some calls are timed, the others only counted: by chance, by
/// machine code ([ChanceTiming]), or where there is no memory for that, in runs ([SampleRuns]).
/// What open functions cost counts, but the windowed ones keep a part of the budget.
///
/// Used by one thread, the agent's.
public final class SampledProfiler implements Collector {
    /// How long calls are counted in a window, as a part of an epoch.
    private static final int WINDOWS_PER_EPOCH = 4;

    /// Open functions are looked at so often at most, while windows rest: the first answer to a program that has
    /// changed.
    static final double LOOK_NANOS = 200e6;

    /// Functions that are too hot to be counted are closed so long after that was found: their exits are on until calls
    /// have ended that were recorded.
    private static final double IN_FLIGHT_NANOS = 2e6;

    /// Each of them is looked at so often, else what they cost together.
    static final double CLOSE_LOOK_NANOS = 250e6;

    /// The first lease of open functions, as a multiple: the agent reads line tables before it comes back.
    private static final int FIRST_LEASE_FACTOR = 12;

    private final NativeApi api;
    private final Probes probes;
    private final double ticksPerNano;
    private final long header;
    private final Readings readings;
    private final Tiers tiers;
    private final Spending spending;
    private final Allowance allowance;
    private final Idleness idleness;
    private final Waiting waiting;
    private final PcSamples pcs;
    private final CallEstimates estimates;
    private final ChanceTiming chance;
    private final SampleWeights weights = new SampleWeights();
    private final SampleRuns runs;
    private final RingDrain rings;
    private final Windows windows;
    private final Turns turns;
    private final OpenFunctions open;
    private final StoppedFunctions stopped;

    /// Functions whose probes are switched in between.
    private final ArmList changes;

    /// When functions were found to be too hot to be counted that are not closed yet, else 0.
    private long demotionTsc;

    /// All calls when they were last written down.
    private long callsSettled;

    private boolean rotating;

    /// The group that is next.
    private int group;

    /// @param sampleSize calls recorded in each window, rounded down to a power of two
    /// @param epochNanos between the begins of two rotations at least, on average; windows count for a quarter
    /// @param budget     the part of the program's time that measuring may cost, above 0 and up to 1
    /// @param tscHz      frequency of the time-stamp counter, roughly
    /// @param overBudget what is done when functions whose tier is named cost more than the budget, the first time
    /// @param log        where it is said what cannot be measured, and why
    public SampledProfiler(
            NativeApi api,
            Probes probes,
            int sampleSize,
            double epochNanos,
            double budget,
            double tscHz,
            Runnable overBudget,
            Consumer<String> log) {
        this.api = api;
        this.probes = probes;
        ticksPerNano = tscHz / 1e9;
        header = api.session();
        int runLength = Integer.highestOneBit(sampleSize);
        double windowNanos = epochNanos / WINDOWS_PER_EPOCH;
        ProbeCost cost =
                new ProbeCost((Memory.getInt(header + HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_CPU_TIME) != 0);
        tiers = new Tiers(cost, header, budget, ticksPerNano);
        spending = new Spending(api, cost, tiers, budget, epochNanos, ticksPerNano, overBudget);
        allowance = new Allowance(header, budget);
        idleness = new Idleness(ticksPerNano);
        waiting = new Waiting(header);
        pcs = new PcSamples(api, probes, ticksPerNano, log);
        readings = new Readings(api, tiers, windowNanos, ticksPerNano);
        chance = new ChanceTiming(probes, cost, windowNanos * ticksPerNano, budget * tscHz);
        runs = new SampleRuns(runLength);
        rings = new RingDrain(api, probes.returnSites()::at);
        estimates = new CallEstimates(probes, readings, header, windowNanos);
        changes = new ArmList(api);
        Sampling sampling = new Sampling(
                api,
                probes,
                readings,
                estimates,
                tiers,
                chance,
                runs,
                weights,
                spending,
                rings,
                pcs,
                budget,
                runLength,
                ticksPerNano);
        windows = new Windows(sampling, windowNanos);
        turns = new Turns(sampling);
        open = new OpenFunctions(sampling, turns, changes);
        stopped = new StoppedFunctions(sampling, open, windows, turns, changes, windowNanos);
    }

    /// Windows that are open now end.
    @Override
    public void open(List<Integer> functions, boolean whole) {
        int before = readings.functions();
        rings.forgetCallSites();
        readings.read();
        closeWindows();
        grow();
        probes.activateOpenedUnknown();
        changes.clear();
        for (int function : functions) {
            if (function >= before || !whole) {
                Memory.putInt(probes.function(function) + FunctionDescriptor.WHOLE, whole ? 1 : 0);
            }
            if (!estimates.isWindowed(function) && !probes.isLeftOut(function)) {
                changes.add(function, FIRST_LEASE_FACTOR * open.leaseTicks());
            }
        }
        open.beginLeases();
        changes.arm();
        tiers.start(api.tsc());
    }

    @Override
    public void reopen(List<Integer> functions) {
        record(functions, true);
    }

    @Override
    public void close(List<Integer> functions) {
        record(functions, false);
    }

    private void record(List<Integer> functions, boolean on) {
        readings.read();
        closeWindows();
        changes.clear();
        for (int function : functions) {
            if (probes.isLeftOut(function) == on) {
                probes.leaveOut(function, !on);
                Memory.putInt(probes.function(function) + FunctionDescriptor.WHOLE, 0);
                open.endWindows(function);
                open.beginTiming(function);
                changes.add(function, open.leaseTicks());
            }
        }
        if (on) {
            changes.arm();
        } else {
            changes.disarm();
        }
    }

    /// Windows that are open now end.
    @Override
    public void setTier(List<Integer> functions, Tier tier) {
        readings.read();
        closeWindows();
        drainRings();
        changes.clear();
        for (int function : functions) {
            open.move(function, tier, true);
            if (!probes.isLeftOut(function)) {
                changes.add(function, open.leaseTicks());
            }
        }
        changes.arm();
    }

    private void grow() {
        int before = readings.functions();
        int functions = probes.functionCount();
        tiers.grow(functions);
        readings.grow(functions);
        windows.grow(functions);
        open.grow(functions);
        estimates.grow(functions);
        weights.grow(functions);
        runs.grow(functions);
        chance.grow(functions);
        turns.grow(functions);
        pcs.grow(functions);
        open.begin(before);
    }

    /// Goes on with the windows of one group or opens those of the next, or looks at the open functions.
    @Override
    public double tick() {
        long beginTsc = api.tsc();
        if (windows.areOpen()) {
            readings.readAtOnce();
            double part = windows.goOn();
            if (part > 0) {
                return part;
            }
        } else {
            readings.read();
        }
        Set<Integer> learned = probes.adoptLearnedSites();
        closeWindows();
        keepOut(learned);
        if (!rotating) {
            chooseTiers(api.tsc());
        }
        return rotating ? goOn() : rest(beginTsc);
    }

    /// Not in the midst of a rotation.
    @Override
    public boolean settle() {
        if (rotating) {
            return false;
        }
        waiting.look();
        readings.read();
        windowStopped();
        open.takeTurns(windows);
        drainRings();
        estimates.publish();
        open.renew();
        return true;
    }

    private void closeWindows() {
        changes.clear();
        for (int function : windows.close()) {
            open.reopen(function);
            changes.add(function, open.leaseTicks());
        }
        changes.arm();
    }

    /// Sites that were found to be of functions that are left out are on still.
    private void keepOut(Set<Integer> functions) {
        changes.clear();
        for (int function : functions) {
            if (probes.isLeftOut(function)) {
                changes.add(function);
            }
        }
        changes.disarm();
    }

    /// Gives functions the tiers that suit their rates, when that is due. No windows are open.
    private void chooseTiers(long now) {
        if (stopped.areDue()) {
            windowStopped();
        }
        int[] chosen = tiers.choose(
                now,
                readings.cpu(),
                spending.pace(),
                spending.generosity() * turns.partOfOthers(),
                readings.calls(),
                i -> estimates.isWindowed(i) ? estimates.rate(i) : -1,
                pcs::shares);
        if (chosen != null) {
            stopped.forget();
            allowance.set(spending.pace());
            moveTo(chosen);
        }
    }

    private void moveTo(int[] means) {
        chance.setLeft((int)
                Arrays.stream(means).filter(mean -> mean == TierChoice.WINDOWED).count());
        changes.clear();
        int moved = 0;
        for (int i = 0; i < means.length; i++) {
            boolean crowdedOut = chance.times(i) && !tiers.hasRoom();
            if (means[i] == tiers.mean(i) && !crowdedOut || probes.isLeftOut(i)) {
                continue;
            }
            if (moved++ == 0) {
                drainRings();
            }
            boolean wasWindowed = estimates.isWindowed(i);
            open.move(i, new Tier(means[i]), false);
            if (wasWindowed) {
                changes.add(i, open.leaseTicks());
            }
            if (means[i] == TierChoice.WINDOWED) {
                demotionTsc = api.tsc();
            }
        }
        changes.arm();
        windows.beginRest();
    }

    private void windowStopped() {
        if (allowance.haveStopped()) {
            drainRings();
            stopped.look();
        }
    }

    private double rest(long tickTsc) {
        open.renewLeases(this::windowStopped);
        pcs.look();
        long now = api.tsc();
        double look = idleness.lookNanos(now, readings.cpu(), tiers.calls());
        if (look > LOOK_NANOS && tiers.calls() == callsSettled && demotionTsc == 0 && allowance.isSet()) {
            api.renewClocks();
            return look;
        }
        long beginTsc = spending.nextRotation(now);
        boolean demoting = demotionTsc != 0 && now - demotionTsc < IN_FLIGHT_NANOS * ticksPerNano;
        // Those that are to be closed do not wait for a rotation, which is long where they are many.
        if (now >= beginTsc && demotionTsc == 0) {
            rotating = true;
            spending.beginRotation(now);
            group = 0;
            return goOn();
        }
        if (open.isLookDue(now) || !demoting && (demotionTsc != 0 || open.haveBecomeHot())) {
            demotionTsc = 0;
            open.look(windows, false);
            estimates.publish();
            callsSettled = tiers.calls();
            open.setLook(now, api.tsc());
        }
        open.takeTurns(windows);
        spending.endLook(tickTsc, api.tsc());
        double next = (Math.min(beginTsc, tiers.nextChoice()) - now) / ticksPerNano;
        return demoting ? IN_FLIGHT_NANOS : Math.min(spending.lookNanos(), next);
    }

    private double goOn() {
        while (group < Windows.GROUPS) {
            if (windows.choose(group++, turns)) {
                if (rings.isDue()) {
                    drainRings();
                }
                return windows.open();
            }
        }
        rotating = false;
        windowStopped();
        drainRings();
        // Not before the windows: a function that is found to be hot now would be seen so at once, and be taken to be
        // so until its next window.
        open.look(windows, true);
        callsSettled = tiers.calls();
        long now = api.tsc();
        double rest = spending.endRotation(now, readings.cpu());
        return Math.min(spending.lookNanos(), Math.min(rest, (tiers.nextChoice() - now) / ticksPerNano));
    }

    private void drainRings() {
        if (estimates.arePublishedLongAgo()) {
            estimates.publish();
        }
        open.weigh();
        Memory.addLong(header + HeaderDescriptor.SAMPLES, rings.drain(weights));
    }
}
