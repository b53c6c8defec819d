package org.mdlagent.profiler.sampled;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.session.FunctionRecordWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.ArmList;
import org.mdlagent.profiler.Collector;
import org.mdlagent.profiler.cpu.PcSamples;
import org.mdlagent.profiler.figures.ProbeCost;
import org.mdlagent.profiler.policy.LookInterval;
import org.mdlagent.profiler.policy.SlicePolicy;
import org.mdlagent.profiler.records.RingDrain;
import org.mdlagent.profiler.tier.Allowance;
import org.mdlagent.profiler.tier.ChanceTiming;
import org.mdlagent.profiler.tier.TierChoice;
import org.mdlagent.profiler.tier.Tiers;

/// The sampled latency profiler: like "Living on the Edge" (PLDI 2016, section 9), but with slices of time
/// instead of windows of calls.
///
/// The probes of most functions stay on and count all of their calls; machine code times all of the calls, or
/// some by chance ([Tiers] chooses). Functions that are too frequent for the budget are *sliced*: their
/// probes are on in short slices ([SlicePolicy] says when, [Slicer] has the shim do it), and their calls are
/// estimated ([CallEstimates]).
///
/// Functions never called cost nothing, so their probes stay on. If such a function becomes expensive, the
/// thread that calls it stops it ([Allowance]), and it is sliced from then on.
///
/// Used by one thread, the agent's.
public final class SampledProfiler implements Collector {
    /// The shortest interval to the next look when functions have been stopped.
    private static final double URGENT_NANOS = 10e6;

    /// Lease of probes that stay on: they switch themselves off this long after the last renewal, in case the
    /// agent's process is killed and others of the session go on.
    private static final double LEASE_NANOS = 5e9;

    private static final int RENEWALS_PER_LEASE = 5;

    /// Length of the first lease, as a multiple: the agent reads line tables before the first renewal.
    private static final int FIRST_LEASE_FACTOR = 12;

    private final NativeApi api;
    private final Probes probes;
    private final double ticksPerNano;
    private final long header;
    private final double budget;
    private final boolean slow;
    private final Runnable overBudget;
    private final Readings readings;
    private final Pace pace = new Pace();
    private final Tiers tiers;
    private final Allowance allowance;
    private final Idleness idleness;
    private final Waiting waiting;
    private final PcSamples pcs;
    private final SlicePolicy policy;
    private final Slicer slicer;
    private final CallEstimates estimates;
    private final ChanceTiming chance;
    private final Told told;
    private final RingDrain rings;
    private final StoppedFunctions stopped;
    private final long leaseTicks;

    /// Scratch list of functions whose probes are being switched.
    private final ArmList changes;

    private final LookInterval interval = new LookInterval();
    private long firstTsc;
    private long nextTsc;

    /// Number of sliced functions.
    private int sliced;

    private long renewalTsc;

    /// Functions with probes on demand, not recorded so far.
    private final Set<Integer> neverOn = new HashSet<>();
    private boolean exceeded;
    private double namedBefore;
    private double cpuBefore;

    /// @param budget     the share of the program's time that measuring may cost, above 0 and up to 1
    /// @param tscHz      approximate frequency of the time-stamp counter
    /// @param overBudget called the first time functions with a named tier exceed the budget
    /// @param log        receives what cannot be measured, and why
    public SampledProfiler(
            NativeApi api, Probes probes, double budget, double tscHz, Runnable overBudget, Consumer<String> log) {
        this.api = api;
        this.probes = probes;
        this.budget = budget;
        this.overBudget = overBudget;
        ticksPerNano = tscHz / 1e9;
        header = api.session();
        ProbeCost cost =
                new ProbeCost((Memory.getInt(header + HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_CPU_TIME) != 0);
        slow = (Memory.getInt(header + HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_SLOW) != 0;
        readings = new Readings(api);
        tiers = new Tiers(cost, header, budget, ticksPerNano);
        allowance = new Allowance(header, budget);
        idleness = new Idleness(ticksPerNano);
        waiting = new Waiting(header, ticksPerNano);
        pcs = new PcSamples(api, probes, ticksPerNano, log);
        // Where slow calls are kept, slices make room for functions that are always timed.
        policy = new SlicePolicy(cost, slow ? SlicePolicy.PART_OF_OTHERS * budget : budget, ticksPerNano);
        slicer = new Slicer(api, policy, ticksPerNano);
        estimates = new CallEstimates(probes, slicer, cost, header, ticksPerNano);
        chance = new ChanceTiming(probes, cost, budget * tscHz);
        rings = new RingDrain(api, probes.returnSites()::at);
        told = new Told(api, probes, rings, cost, budget, ticksPerNano);
        stopped = new StoppedFunctions(tiers, budget, ticksPerNano);
        changes = new ArmList(api);
        leaseTicks = (long) (LEASE_NANOS * ticksPerNano);
    }

    @Override
    public void open(List<Integer> functions, boolean whole) {
        int before = readings.functions();
        rings.forgetCallSites();
        look();
        grow(before);
        probes.activateOpenedUnknown();
        changes.clear();
        for (int function : functions) {
            if (function >= before || !whole) {
                Memory.putInt(probes.function(function) + FunctionDescriptor.WHOLE, whole ? 1 : 0);
            }
            if (probes.isLeftOut(function)) {
                neverOn.add(function);
            } else if (!estimates.isSliced(function)) {
                changes.add(function, FIRST_LEASE_FACTOR * leaseTicks);
            }
        }
        renewalTsc = api.tsc();
        changes.arm();
        tiers.start(api.tsc());
        interval.restart();
        nextTsc = 0;
        firstTsc = firstTsc == 0 ? api.tsc() : firstTsc;
    }

    private void grow(int before) {
        int functions = probes.functionCount();
        tiers.grow(functions);
        readings.grow(functions);
        slicer.grow(functions);
        estimates.grow(functions);
        told.grow(functions);
        pcs.grow(functions);
        for (int i = before; i < functions; i++) {
            tiers.begin(i, probes.tier(i), probes.isTierNamed(i));
            beginTiming(i);
            if (probes.isTierNamed(i)) {
                Allowance.lift(probes.function(i));
            }
        }
    }

    /// Times some of the calls of a function whose probes stay on.
    private void beginTiming(int function) {
        if (!tiers.isCounted(function) && tiers.hasRoom()) {
            chance.open(function, 1e9 * pace.running() * tiers.rate(function));
        }
        told.begin(function, 1, estimates.calls(function));
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
        look();
        changes.clear();
        for (int function : functions) {
            if (probes.isLeftOut(function) == on) {
                probes.leaveOut(function, !on);
                Memory.putInt(probes.function(function) + FunctionDescriptor.WHOLE, 0);
                endSlices(function);
                if (neverOn.remove(function)) {
                    new FunctionRecordWriter(probes.function(function)).removeFlags(FunctionDescriptor.FLAG_EVERY_CALL);
                    estimates.addUnseen(function);
                }
                beginTiming(function);
                changes.add(function, leaseTicks);
            }
        }
        if (on) {
            changes.arm();
        } else {
            changes.disarm();
        }
        slice();
    }

    @Override
    public void setTier(List<Integer> functions, Tier tier) {
        look();
        drainRings();
        changes.clear();
        for (int function : functions) {
            stay(function, tier, true);
            if (!probes.isLeftOut(function)) {
                changes.add(function, leaseTicks);
            }
        }
        changes.arm();
        slice();
    }

    /// The function's probes stay on from now on, or as soon as it is not left out.
    private void stay(int function, Tier tier, boolean named) {
        probes.setTier(function, tier);
        tiers.move(function, tier, named, readings.calls(function));
        if (named) {
            Allowance.lift(probes.function(function));
        }
        if (!probes.isLeftOut(function)) {
            endSlices(function);
            beginTiming(function);
        }
    }

    private void endSlices(int function) {
        if (estimates.isSliced(function)) {
            estimates.endSlices(function);
        }
    }

    /// Notes that the function will be sliced: its probes go off with `changes`.
    private void leaveTier(int function) {
        probes.setTier(function, Tier.SLICED);
        tiers.move(function, Tier.SLICED, probes.isTierNamed(function), readings.calls(function));
        new FunctionRecordWriter(probes.function(function)).setRemaining(0);
        changes.add(function);
    }

    @Override
    public double tick() {
        double left = (nextTsc - api.tsc()) / ticksPerNano;
        double samples = pcs.look();
        if (left > samples / 2 && urgentNanos() > 0) {
            return Math.min(left, samples);
        }
        double next = lookAround();
        nextTsc = api.tsc() + (long) (next * ticksPerNano);
        return Math.min(next, samples);
    }

    /// @return nanoseconds until the next time
    private double lookAround() {
        long begin = api.threadNanos();
        changes.disarm(probes.adoptLearnedSites());
        look();
        if (allowance.haveStopped()) {
            takeStopped();
        }
        chooseTiers(api.tsc());
        renewLeases();
        double unused = pcs.lookAtWaits();
        slice();
        tellCallers();
        if (rings.isDue()) {
            drainRings();
        }
        estimates.publish(readings);
        api.renewClocks();
        waiting.look(readings.tsc());
        double idle = idleness.lookNanos(api.tsc(), readings.cpu(), tiers.calls());
        if (idle > LookInterval.USUAL_NANOS && allowance.isSet()) {
            slicer.rest();
            return idle;
        }
        double age = (readings.tsc() - firstTsc) / ticksPerNano;
        return interval.after(api.threadNanos() - begin, age, budget * pace.used());
    }

    /// A thread has stopped functions: their calls until the next look are not counted.
    @Override
    public double urgentNanos() {
        return allowance.wouldHaveStopped()
                ? URGENT_NANOS - (api.tsc() - readings.tsc()) / ticksPerNano
                : Double.POSITIVE_INFINITY;
    }

    /// Counts the calls since the last time.
    private void readCalls() {
        slicer.take();
        readings.read();
        estimates.look(readings);
    }

    private void look() {
        readCalls();
        tiers.count(readings.calls());
        for (int i = 0; i < readings.functions(); i++) {
            if (estimates.isSliced(i)) {
                told.sliced(i, slicer.told(i), estimates.calls(i));
            }
        }
        pace.look(readings.tsc() / ticksPerNano, readings.cpu());
        Memory.putLong(header + HeaderDescriptor.PROGRAM_CPU_NANOS, readings.cpu());
        lookAtNamed();
    }

    /// Checks whether functions with a named tier exceed the budget.
    private void lookAtNamed() {
        double named = tiers.namedTicks() / ticksPerNano;
        double passed = readings.cpu() - cpuBefore;
        if (passed > LookInterval.USUAL_NANOS) {
            if (named - namedBefore > budget * passed && !exceeded) {
                exceeded = true;
                overBudget.run();
            }
            namedBefore = named;
            cpuBefore = readings.cpu();
        }
    }

    private void takeStopped() {
        drainRings();
        changes.clear();
        int goOn = 0;
        int[] again = new int[readings.functions()];
        List<Integer> frequent = new ArrayList<>();
        for (int i = 0; i < readings.functions(); i++) {
            if (!estimates.isSliced(i) && !probes.isLeftOut(i) && Allowance.isStopped(probes.function(i))) {
                if (stopped.goesOn(i, estimates.rate(i))) {
                    new FunctionRecordWriter(probes.function(i)).removeFlags(FunctionDescriptor.FLAG_EVERY_CALL);
                    again[goOn++] = i;
                } else {
                    frequent.add(i);
                    leaveTier(i);
                }
            }
        }
        startSlices(frequent, function -> Double.NaN);
        for (int i = 0; i < goOn; i++) {
            changes.add(again[i], leaseTicks);
        }
        changes.arm();
    }

    /// Switches off functions that have left their tiers, and slices them from now on. Calls so far were all counted:
    /// they are not those of slices.
    ///
    /// @param rate calls per nanosecond, NaN if unknown
    private void startSlices(List<Integer> functions, IntToDoubleFunction rate) {
        changes.disarm();
        changes.clear();
        if (!functions.isEmpty()) {
            readCalls();
        }
        for (int function : functions) {
            estimates.startSlices(function, rate.applyAsDouble(function));
        }
    }

    /// Chooses tiers by the functions' rates, when that is due.
    private void chooseTiers(long now) {
        int[] chosen = tiers.choose(
                now,
                readings.cpu(),
                pace.running(),
                pace.generosity() * (sliced > 0 && !slow ? SlicePolicy.PART_OF_OTHERS : 1),
                readings.calls(),
                i -> estimates.isSliced(i) ? estimates.rate(i) : -1,
                pcs::shares);
        if (chosen != null) {
            stopped.forget();
            allowance.set(pace.running());
            moveTo(chosen);
        }
    }

    private void moveTo(int[] means) {
        drainRings();
        changes.clear();
        List<Integer> frequent = new ArrayList<>();
        for (int i = 0; i < means.length; i++) {
            boolean slices = means[i] == TierChoice.SLICED && tiers.rate(i) > 0;
            if (slices && !estimates.isSliced(i) && !probes.isLeftOut(i)) {
                frequent.add(i);
                leaveTier(i);
            }
        }
        startSlices(frequent, tiers::rate);
        for (int i = 0; i < means.length; i++) {
            if (means[i] != TierChoice.SLICED && means[i] != tiers.mean(i) && !probes.isLeftOut(i)) {
                boolean sliced = estimates.isSliced(i);
                stay(i, new Tier(means[i]), false);
                if (sliced) {
                    changes.add(i, leaseTicks);
                }
            }
        }
        changes.arm();
    }

    /// Renews the leases of probes that stay on, and switches on probes whose lease expired because the agent
    /// was stopped.
    private void renewLeases() {
        long now = api.tsc();
        if (now - renewalTsc < leaseTicks / RENEWALS_PER_LEASE) {
            return;
        }
        renewalTsc = now;
        changes.clear();
        for (int i = 0; i < readings.functions(); i++) {
            long record = probes.function(i);
            if (estimates.isSliced(i) || probes.isLeftOut(i)) {
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

    private void slice() {
        int[] functions = IntStream.range(0, readings.functions())
                .filter(i -> estimates.isSliced(i) && !probes.isLeftOut(i))
                .toArray();
        sliced = functions.length;
        boolean room = tiers.hasRoom();
        SlicePolicy.Observation seen = new SlicePolicy.Observation(
                functions,
                estimates::rate,
                estimates::price,
                pcs::share,
                i -> room || pcs.share(i) > 0,
                pace.running(),
                pace.used(),
                slicer.waking(),
                slicer.switching());
        slicer.follow(policy.plan(seen), seen);
    }

    private void tellCallers() {
        long now = api.tsc();
        if (!told.isDue(now)) {
            return;
        }
        int called = (int) IntStream.range(0, readings.functions())
                .filter(i -> estimates.calls(i) > 0)
                .count();
        double each = told.ofEach(now, pace.used(), called);
        for (int i = 0; i < readings.functions(); i++) {
            if (estimates.calls(i) > 0 && !estimates.isSliced(i)) {
                told.begin(i, each, estimates.calls(i));
            }
        }
    }

    private void drainRings() {
        Memory.addLong(header + HeaderDescriptor.SAMPLES, told.drain(estimates));
    }

    @Override
    public @Nullable String hotImage() {
        return pcs.hotImage();
    }

    @Override
    public boolean settle() {
        double unused = pcs.lookAtWaits();
        look();
        drainRings();
        estimates.publish(readings);
        return true;
    }

    @Override
    public double lookAtWaits() {
        return pcs.lookAtWaits();
    }

    @Override
    public void rest() {
        slicer.rest();
        pcs.rest();
    }
}
