package org.mdlagent.profiler;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.session.FunctionRecordWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.estimate.ProbeCost;

/// The sampled latency profiler ("Living on the Edge", PLDI 2016, section 9), with windows of time instead of windows
/// of calls.
///
/// Every function is open or windowed. An *open* one is called so rarely that its probes stay on: its count of calls
/// is exact. The *windowed* ones are divided into groups, which take turns in a *rotation*; then all rest, for as long
/// as the budget demands ([Governor]). In either state some calls are timed, the others only counted: by chance, by
/// machine code ([ChanceTiming]), or where there is no memory for that, in runs ([SampleRuns]).
///
/// The calls of a windowed function are its calls in windows, scaled by the program's CPU time over its CPU time in
/// these windows ([CallEstimate]). Three things would spoil that, and are why it is done so:
///
/// - A window that ends with its n-th call, as in the paper, favours bursts. So its end does not depend on the calls
///   in it.
/// - On a busy machine the agent opens a window while it has a processor and the program has not. So CPU time counts,
///   and not elapsed time.
/// - Probes that are on make the program slower, and most of all those that were just switched on, and calls that are
///   timed. So only some are on at a time, and a window has parts ([Part]): its calls are counted when its code is in
///   the caches, and before runs are timed. What remains is predicted.
///
/// The agent ends a window. Should it be late, the trampolines switch themselves off ([#LONGEST_FACTOR]), and the
/// window does not count.
///
/// That is for what is too frequent. Functions whose calls are all counted ([Tiers] chooses them) are open, however
/// often they are called. Some of their timed calls are written into the rings, for their callers. What they cost
/// counts, but the others keep a part of the budget.
///
/// Used by one thread, the agent's.
///
/// Long because rotation, windows, open functions and spending read and write each other's state: it waits for being
/// taken apart into state machines with one writer each, and is not to grow before.
public final class SampledProfiler implements Collector {
    /// Turns in a rotation.
    private static final int GROUPS = 4;

    /// How long calls are counted in a window, as a part of an epoch.
    private static final int WINDOWS_PER_EPOCH = 16;

    /// How long the other parts of a window take, for each nanosecond of that.
    private static final double SETTLING = 0.2;

    private static final double TIMING = 0.5;

    /// Parts of windows vary by this part of their length to either side, so that periodic work of the program is not
    /// always met in the same phase.
    private static final double JITTER = 0.25;

    /// Open functions are looked at so often, while windows rest: the first answer to a program that has changed.
    static final double LOOK_NANOS = 60e6;

    /// Functions that are too hot to be counted are closed so long after that was found: their exits are on until calls
    /// have ended that were recorded.
    private static final double IN_FLIGHT_NANOS = 2e6;

    /// Each of them is looked at so often, else what they cost together. A close look is dear, for nothing is in a
    /// cache: it is rarer, up to a limit, where it would use up more than a part of the budget.
    static final double CLOSE_LOOK_NANOS = 250e6;

    private static final double CLOSE_LOOK_NANOS_MAX = 2e9;
    private static final double CLOSE_LOOK_PART = 0.1;

    /// A function that costs less than this part of the budget is not what a thread cannot afford.
    private static final double CHEAP_PART = 0.1;

    /// The part of the budget that open functions may use up.
    private static final double OPEN_PART = 0.25;

    /// The part of it that goes into timing their calls. It is spent by the second, not by the rotation: were it more,
    /// rests would become ever longer.
    private static final double OPEN_TIMED_PART = 0.1;

    /// How much rarer calls must be for a function to be open, when open ones have used up too much; and how fast that
    /// is taken back.
    private static final double RARER = 0.5;

    private static final double OFTENER = 1.02;

    /// Reading clock and calls is to take no more than this part of a window.
    private static final double READING_PART = 0.01;

    private static final int READINGS_MAX = 3;

    /// Calls of a window's function that tell their callers, where machine code times some.
    private static final int TOLD_IN_WINDOW = 4;

    /// Rings are emptied when they may be half full, else after a rotation.
    private static final int UNDRAINED_MAX = 4096;

    /// More calls of an open function tell little more: what is timed shall be of many.
    private static final int OPEN_TIMED_MAX = 256;

    /// Windows end by themselves after so many times their length.
    private static final int LONGEST_FACTOR = 4;

    /// Calls that a window should see, as a multiple of those that are timed: a function with fewer is open.
    private static final int CALLS_PER_SAMPLE = 5;

    /// Few, so that phases of the program stay apart; and a fixed number, for one that depends on what they show
    /// would make the estimate biased.
    private static final int WINDOWS_PER_BLOCK = 4;

    /// However wrong the predicted cost is, this part of the CPU time was the program's.
    private static final double PASSED_MIN = 0.25;

    private static final double RATE_WEIGHT = 0.05;

    /// An open function's window ends by itself so long after the last sign of life of this profiler, should its
    /// process be killed and others of the family go on.
    private static final double LEASE_NANOS = 5e9;

    private static final int RENEWALS_PER_LEASE = 5;

    /// The first lease, as a multiple: the agent reads line tables before it comes back.
    private static final int FIRST_LEASE_FACTOR = 12;

    private final NativeApi api;
    private final Probes probes;
    private final RingDrain drain;
    private final EnteredCalls counters;
    private final Spending spending;
    private final double budget;
    private final SplittableRandom random = new SplittableRandom();
    private final int runLength;
    private final double windowNanos;
    private final double ticksPerNano;
    private final long longestTicks;
    private final long leaseTicks;
    private long renewalTsc;
    private final long header;

    private boolean[] windowed = {};

    private final Tiers tiers;
    private final Telling telling;
    private final Allowance allowance;
    private final Idleness idleness;

    /// When functions were found to be too hot to be counted that are not closed yet, else 0.
    private long demotionTsc;

    /// By function: calls so far, now and when the part of the windows that are open began.
    private long[] calls = {};

    private long[] callsAtPart = {};

    /// By open function: calls that are in its estimate.
    private long[] callsEstimated = {};

    /// By windowed function: calls for each nanosecond of CPU time, smoothed; not a number while it is not known.
    private double[] rates = {};

    private CallEstimate[] estimates = {};

    /// By open function: its calls when others of them were timed last, and whether they have changed since they were
    /// written down.
    private long[] callsAtRenewal = {};

    private boolean[] changed = {};

    /// By windowed function: [#progress] when calls of it were last timed.
    private double[] progressAtTiming = {};

    private final ChanceTiming chance;
    private final SampleWeights weights = new SampleWeights();
    private final SampleRuns runs;

    /// Calls of an open function that are timed between two rotations: all, as long as that is not too dear.
    private int openTimed;

    /// CPU time of the program, in nanoseconds: now, when open functions were last looked at, when others of their
    /// calls began to be timed, and when the part of the windows that are open began.
    private long cpu;

    private long cpuAtLook;
    private long cpuAtRenewal;
    private long cpuAtPart;
    private long cpuAtOpening;
    private long openingTsc;

    /// Of the windows that are open.
    private Part part = Part.SETTLES;

    private enum Part {
        /// What was just switched on comes into the caches.
        SETTLES,
        COUNTS,
        /// What was counted is known.
        COUNTED,
        /// A run of each function.
        TIMES
    }

    /// All calls when they were last written down.
    private long callsSettled;

    /// The calls of functions while they were sampled, when open ones were last looked at.
    private long callsSampledAtLook;

    /// The group that is next.
    private int group;

    private boolean rotating;
    private long lookTsc;
    private double closeLookNanos = CLOSE_LOOK_NANOS;

    /// Calls that may have been timed since the rings were emptied.
    private long undrainedMax;

    /// Calls of an open function, for each nanosecond of CPU time, at most.
    private double openRate;

    /// CPU time that windows have cost the program, as predicted, in nanoseconds.
    private double lost;

    /// Arguments for the shim: the functions whose windows are open, and how long these may last.
    private long armed;

    private long longest;
    private int opened;

    /// Windows that were open at a time.
    private int groupSize;

    /// @param sampleSize calls recorded in each window, rounded down to a power of two
    /// @param epochNanos between the begins of two rotations at least, on average; windows count for a sixteenth
    /// @param budget     the part of the program's time that measuring may cost, above 0 and up to 1
    /// @param tscHz      frequency of the time-stamp counter, roughly
    /// @param overBudget what is done when functions whose calls are all counted cost more than the budget by
    ///                   themselves, for the first time
    public SampledProfiler(
            NativeApi api,
            Probes probes,
            int sampleSize,
            double epochNanos,
            double budget,
            double tscHz,
            Runnable overBudget) {
        this.api = api;
        this.probes = probes;
        runLength = Integer.highestOneBit(sampleSize);
        runs = new SampleRuns(runLength);
        openTimed = runLength;
        this.budget = budget;
        windowNanos = epochNanos / WINDOWS_PER_EPOCH;
        openRate = rateToWindow();
        ticksPerNano = tscHz / 1e9;
        longestTicks = (long) (LONGEST_FACTOR * windowNanos * ticksPerNano);
        leaseTicks = (long) (LEASE_NANOS * ticksPerNano);
        header = api.session();
        ProbeCost cost =
                new ProbeCost((Memory.getInt(header + HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_CPU_TIME) != 0);
        tiers = new Tiers(cost, header, budget, ticksPerNano);
        spending = new Spending(api, cost, tiers, budget, epochNanos, ticksPerNano, overBudget);
        allowance = new Allowance(header, budget);
        idleness = new Idleness(ticksPerNano);
        chance = new ChanceTiming(probes, cost, windowNanos * ticksPerNano, budget * tscHz);
        telling = new Telling(budget, ticksPerNano, runLength);
        counters = new EnteredCalls(header);
        drain = new RingDrain(api, probes.returnSites()::at);
    }

    /// Windows that are open now end.
    @Override
    public void open(List<Integer> functions, boolean whole) {
        int before = windowed.length;
        drain.forgetCallSites();
        readClockAndCalls();
        closeWindows();
        grow();
        probes.activateOpenedUnknown();
        int arming = 0;
        for (int function : functions) {
            if (function >= before || !whole) {
                Memory.putInt(probes.function(function) + FunctionDescriptor.WHOLE, whole ? 1 : 0);
            }
            if (!windowed[function] && !probes.isLeftOut(function)) {
                arm(arming++, function, FIRST_LEASE_FACTOR * leaseTicks);
            }
        }
        renewalTsc = api.tsc();
        long unused = api.arm(armed, longest, arming);
        tiers.start(api.tsc());
    }

    /// Windows that are open now end.
    @Override
    public void reopen(List<Integer> functions) {
        record(functions, true);
    }

    /// Windows that are open now end.
    @Override
    public void close(List<Integer> functions) {
        record(functions, false);
    }

    private void record(List<Integer> functions, boolean on) {
        readClockAndCalls();
        closeWindows();
        int changed = 0;
        for (int function : functions) {
            if (probes.isLeftOut(function) == on) {
                probes.leaveOut(function, !on);
                Memory.putInt(probes.function(function) + FunctionDescriptor.WHOLE, 0);
                endEstimate(function);
                beginTiming(function);
                arm(changed++, function, leaseTicks);
            }
        }
        long unused = on ? api.arm(armed, longest, changed) : api.disarm(armed, changed);
    }

    /// Windows that are open now end.
    @Override
    public void setTier(List<Integer> functions, Tier tier) {
        readClockAndCalls();
        closeWindows();
        drainRings();
        int opening = 0;
        for (int function : functions) {
            move(function, tier, true);
            if (!probes.isLeftOut(function)) {
                arm(opening++, function, leaseTicks);
            }
        }
        long unused = api.arm(armed, longest, opening);
    }

    /// The function is open from now on.
    private void move(int function, Tier tier, boolean named) {
        probes.setTier(function, tier);
        chance.forget(function);
        tiers.move(function, tier, named, calls[function]);
        if (named) {
            Allowance.lift(probes.function(function));
        }
        if (!probes.isLeftOut(function)) {
            endEstimate(function);
            beginOpen(function);
            beginTiming(function);
        }
    }

    /// Of an open function, times some of the calls that come.
    private void beginTiming(int function) {
        if (!tiers.isCounted(function) && tiers.hasRoom()) {
            chance.open(function, 1e9 * spending.pace() * tiers.rate(function));
        }
        if (isTimedByMachine(function)) {
            runs.tell(function, probes.function(function), runLength);
        } else {
            runs.timeFirst(function, probes.function(function));
        }
    }

    /// Whether machine code chooses the calls that are timed, and not runs ([SampleRuns]).
    private boolean isTimedByMachine(int function) {
        return tiers.isCounted(function) || chance.times(function);
    }

    /// Of how many of a function's calls one is timed; 1 where runs are.
    private int meanOf(int function) {
        return Math.max(1, chance.times(function) ? chance.mean(function) : tiers.mean(function));
    }

    /// Gives functions the tiers that suit their rates, when that is due. No windows are open.
    private void chooseTiers(long now) {
        windowStopped(now);
        int[] chosen = tiers.choose(now, cpu, spending.pace(), calls, i -> windowed[i] ? rates[i] : -1);
        if (chosen != null) {
            allowance.set(tiers.pace());
            moveTo(chosen);
        }
    }

    private void moveTo(int[] means) {
        chance.setLeft((int)
                Arrays.stream(means).filter(mean -> mean == TierChoice.WINDOWED).count());
        int opening = 0;
        int moved = 0;
        for (int i = 0; i < means.length; i++) {
            boolean crowdedOut = chance.times(i) && !tiers.hasRoom();
            if (means[i] == tiers.mean(i) && !crowdedOut || probes.isLeftOut(i)) {
                continue;
            }
            if (moved++ == 0) {
                drainRings();
            }
            boolean wasWindowed = windowed[i];
            move(i, new Tier(means[i]), false);
            if (wasWindowed) {
                arm(opening++, i, leaseTicks);
            }
            if (means[i] == TierChoice.WINDOWED) {
                demotionTsc = api.tsc();
            }
        }
        long unused = api.arm(armed, longest, opening);
    }

    /// Windows choose the calls of functions that threads have stopped ([Allowance]), from then on. How often they
    /// are called is not known before the first. Functions that cost little go on as before: a thread stops the one
    /// that it is about to call, not the one that is dear.
    private void windowStopped(long now) {
        if (!allowance.haveStopped()) {
            return;
        }
        drainRings();
        int reopening = 0;
        for (int i = 0; i < windowed.length; i++) {
            long record = probes.function(i);
            if (windowed[i] || probes.isLeftOut(i) || !Allowance.isStopped(record)) {
                continue;
            }
            double ago = (now - Memory.getLong(record + FunctionDescriptor.DEADLINE)) / ticksPerNano;
            double since = cpu - Math.clamp(spending.pace() * ago, 0, (double) cpu - cpuAtLook);
            long fresh = calls[i] - callsEstimated[i];
            estimates[i].addExact(fresh);
            Tier before = new Tier(tiers.mean(i));
            double rate = fresh / Math.max(windowNanos, since - cpuAtLook);
            boolean cheap = tiers.isCounted(i) && isCheap(i, rate);
            if (tiers.isCounted(i)) {
                move(i, Tier.WINDOWED, false);
            }
            callsEstimated[i] = calls[i];
            changed[i] = true;
            startWindows(i, since - lost, rate);
            rates[i] = Double.NaN;
            weighOpen(i);
            if (cheap) {
                move(i, before, false);
                arm(reopening++, i, leaseTicks);
            }
        }
        long unused = api.arm(armed, longest, reopening);
    }

    /// Whether it was the others that a thread could not afford, when it stopped a function.
    ///
    /// @param rate calls for each nanosecond of CPU time, of late
    private boolean isCheap(int function, double rate) {
        double nanos = tiers.price(function) / ticksPerNano;
        return nanos * Math.max(rate, tiers.rate(function)) < CHEAP_PART * budget;
    }

    private void startWindows(int function, double now, double rate) {
        windowed[function] = true;
        rates[function] = rate;
        estimates[function].startWindows(now, rate, windowNanos);
        progressAtTiming[function] = now;
        if (tiers.hasRoom()) {
            timeByChance(function, rate);
        }
    }

    /// @param rate calls for each nanosecond of CPU time
    private void timeByChance(int function, double rate) {
        chance.window(function, rate * spending.pace() * windowNanos, groupSize);
    }

    /// The function is open from now on, without calls.
    private void endEstimate(int function) {
        if (windowed[function]) {
            windowed[function] = false;
            endWindows(function);
        }
    }

    private void endWindows(int function) {
        estimates[function].endWindows(progress());
        callsEstimated[function] = calls[function];
        changed[function] = true;
    }

    /// Sites that were found to be of functions that are left out are on still.
    private void keepOut(Set<Integer> functions) {
        int out = 0;
        for (int function : functions) {
            if (probes.isLeftOut(function)) {
                arm(out++, function, 0);
            }
        }
        long unused = api.disarm(armed, out);
    }

    /// Makes room for functions that have come.
    private void grow() {
        int before = windowed.length;
        int functions = probes.functionCount();
        if (before == 0 && functions > 0) {
            int most = Memory.getInt(header + HeaderDescriptor.FUNCTION_CAPACITY);
            armed = Arena.global().allocate(ValueLayout.JAVA_INT, most).address();
            longest = Arena.global().allocate(ValueLayout.JAVA_LONG, most).address();
        }
        windowed = Arrays.copyOf(windowed, functions);
        tiers.grow(functions);
        calls = Arrays.copyOf(calls, functions);
        callsAtPart = Arrays.copyOf(callsAtPart, functions);
        callsEstimated = Arrays.copyOf(callsEstimated, functions);
        rates = Arrays.copyOf(rates, functions);
        estimates = Arrays.copyOf(estimates, functions);
        callsAtRenewal = Arrays.copyOf(callsAtRenewal, functions);
        progressAtTiming = Arrays.copyOf(progressAtTiming, functions);
        weights.grow(functions);
        runs.grow(functions);
        chance.grow(functions);
        changed = Arrays.copyOf(changed, functions);
        for (int i = before; i < functions; i++) {
            estimates[i] = new CallEstimate();
            tiers.begin(i, probes.tier(i), probes.isTierNamed(i));
            beginTiming(i);
            if (probes.isTierNamed(i)) {
                Allowance.lift(probes.function(i));
            }
        }
    }

    /// Goes on with the windows of one group or opens those of the next, or looks at the open functions.
    @Override
    public double tick() {
        if (opened > 0) {
            readClockAndCallsAtOnce();
            if (part == Part.SETTLES && !isLate()) {
                return count();
            }
            if (part == Part.COUNTS && !isLate()) {
                observeWindows();
                if (hasRuns()) {
                    return time();
                }
            }
        } else {
            readClockAndCalls();
        }
        Set<Integer> learned = probes.adoptLearnedSites();
        closeWindows();
        keepOut(learned);
        if (!rotating) {
            chooseTiers(api.tsc());
        }
        return rotating ? goOn() : rest();
    }

    /// Not in the midst of a rotation.
    @Override
    public boolean settle() {
        if (rotating) {
            return false;
        }
        drainRings();
        for (int i = 0; i < windowed.length; i++) {
            long fresh = calls[i] - callsAtRenewal[i];
            if (!windowed[i] && fresh > 0 && !isTimedByMachine(i) && !probes.isLeftOut(i)) {
                renew(i, fresh);
            }
        }
        return true;
    }

    private double rest() {
        long now = api.tsc();
        double look = idleness.lookNanos(now, cpu, tiers.calls());
        boolean settled = tiers.calls() == callsSettled && demotionTsc == 0;
        if (look > LOOK_NANOS && settled && allowance.isSet()) {
            api.renewClocks();
            renewLeases();
            return look;
        }
        long beginTsc = spending.nextRotation(now);
        boolean demoting = demotionTsc != 0 && now - demotionTsc < IN_FLIGHT_NANOS * ticksPerNano;
        if (now >= beginTsc && !demoting) {
            rotating = true;
            spending.beginRotation(now);
            group = 0;
            return goOn();
        }
        boolean demoted = demotionTsc != 0 && !demoting;
        if (now - lookTsc > closeLookNanos * ticksPerNano || demoted || (haveOpenBecomeHot() && !demoting)) {
            lookTsc = now;
            demotionTsc = 0;
            estimateOpen(false);
            publish();
            callsSettled = tiers.calls();
            double took = (api.tsc() - now) / ticksPerNano;
            closeLookNanos = Math.clamp(took / (CLOSE_LOOK_PART * budget), CLOSE_LOOK_NANOS, CLOSE_LOOK_NANOS_MAX);
        }
        double wait = Math.min(LOOK_NANOS, (Math.min(beginTsc, tiers.nextChoice()) - now) / ticksPerNano);
        return demoting ? IN_FLIGHT_NANOS : wait;
    }

    private double goOn() {
        while (group < GROUPS) {
            if (openWindows(group++)) {
                return SETTLING * windowNanos;
            }
        }
        rotating = false;
        windowStopped(api.tsc());
        drainRings();
        // Not before the windows: a function that is found to be hot now would be seen so at once, and be taken to be
        // so until its next window.
        estimateOpen(true);
        callsSettled = tiers.calls();
        renewLeases();
        long now = api.tsc();
        double rest = spending.endRotation(now, cpu);
        return Math.min(LOOK_NANOS, Math.min(rest, (tiers.nextChoice() - now) / ticksPerNano));
    }

    /// Whether open functions have used up their part of the budget since they were last looked at. No windows are
    /// open.
    private boolean haveOpenBecomeHot() {
        return spending.sampledNanos(tiers.callsSampled() - callsSampledAtLook, 0)
                > OPEN_PART * budget * (cpu - cpuAtLook);
    }

    private double count() {
        slowdown();
        begin(Part.COUNTS);
        return varied(windowNanos);
    }

    private void observeWindows() {
        double observed = cpu - cpuAtPart;
        double slowdown = slowdown();
        part = Part.COUNTED;
        groupSize = opened;
        for (int i = 0; i < opened; i++) {
            observe(armedFunction(i), observed, slowdown);
        }
    }

    private boolean hasRuns() {
        for (int i = 0; i < opened; i++) {
            if (!chance.times(armedFunction(i))) {
                return true;
            }
        }
        return false;
    }

    private double time() {
        long now = api.tsc();
        for (int i = 0; i < opened; i++) {
            int function = armedFunction(i);
            if (chance.times(function)) {
                continue;
            }
            weights.begin(function, now);
            runs.timeOneRun(
                    function, probes.function(function), rates[function] * spending.pace() * TIMING * windowNanos);
        }
        begin(Part.TIMES);
        return varied(TIMING * windowNanos);
    }

    private void begin(Part next) {
        part = next;
        System.arraycopy(calls, 0, callsAtPart, 0, calls.length);
        cpuAtPart = cpu;
    }

    private double varied(double nanos) {
        return nanos * (1 + JITTER * (2 * random.nextDouble() - 1));
    }

    /// All or none: only those that were called late have ended by themselves.
    private boolean isLate() {
        return api.tsc() - openingTsc > longestTicks;
    }

    private void closeWindows() {
        double observed = cpu - cpuAtPart;
        if (part == Part.TIMES && !isLate() && observed > 0) {
            double slowdown = slowdown();
            for (int i = 0; i < opened; i++) {
                if (!chance.times(armedFunction(i))) {
                    weighWindow(armedFunction(i), observed, slowdown);
                }
            }
        }
        long unused = api.disarm(armed, opened);
        boolean whole = part == Part.TIMES || part == Part.COUNTED;
        for (int i = 0; i < opened; i++) {
            int function = armedFunction(i);
            if (whole && chance.times(function)) {
                weighByChance(function);
            }
            if (!windowed[function]) {
                reopen(i);
            } else if (chance.times(function)) {
                timeByChance(function, rates[function]);
            }
        }
        opened = 0;
    }

    /// How much longer than without probes the program took for what it did in the part of the windows that ends, as
    /// predicted; what it lost is taken off the clock of its progress.
    private double slowdown() {
        double observed = cpu - cpuAtPart;
        long counted = 0;
        long timed = 0;
        double byChance = 0;
        for (int i = 0; i < opened; i++) {
            long count = calls[armedFunction(i)] - callsAtPart[armedFunction(i)];
            counted += count;
            if (chance.times(armedFunction(i))) {
                byChance += (double) count / chance.mean(armedFunction(i));
            } else if (part == Part.TIMES) {
                timed += (long) runs.recorded(armedFunction(i), count);
            }
        }
        spending.addByChance(byChance);
        double taken = spending.sampledNanos(counted, timed) + spending.byChanceNanos(byChance);
        double passed = Math.max(PASSED_MIN * observed, observed - taken);
        lost += observed - passed;
        return observed > 0 ? observed / passed : 1;
    }

    /// CPU time that the program would have taken so far without windows, in nanoseconds.
    private double progress() {
        return cpu - lost;
    }

    private void weighWindow(int function, double observed, double slowdown) {
        long counted = calls[function] - callsAtPart[function];
        double recorded = runs.recorded(function, counted);
        if (counted > 0 && recorded > 0) {
            double span = progress() - progressAtTiming[function];
            weights.set(function, runs.calls(function, counted) * slowdown * span / observed, recorded);
        }
        progressAtTiming[function] = progress();
    }

    /// What the window of a function stood for, whose calls machine code times, and the callers that it told of.
    private void weighByChance(int function) {
        double span = progress() - progressAtTiming[function];
        double observed = cpu - cpuAtOpening;
        progressAtTiming[function] = progress();
        if (observed > 0 && span > 0) {
            chance.endWindow(function, observed / span);
            weights.set(function, rates[function] * span, TOLD_IN_WINDOW);
        }
    }

    private void observe(int function, double observed, double slowdown) {
        double counted = calls[function] - callsAtPart[function];
        CallEstimate estimate = estimates[function];
        estimate.addWindow(progress(), counted, slowdown, observed);
        if (estimate.windows() == WINDOWS_PER_BLOCK) {
            estimate.endBlock(progress());
        }
        if (observed > 0) {
            double rate = counted * slowdown / observed;
            double before = Double.isNaN(rates[function]) ? rate : rates[function];
            rates[function] = before + RATE_WEIGHT * (rate - before);
        }
        // Half as much before a function is opened again, so that it does not change to and fro.
        windowed[function] = isHot(2 * rates[function]);
    }

    private void reopen(int position) {
        int function = armedFunction(position);
        endWindows(function);
        beginOpen(function);
        beginTiming(function);
        arm(position, function, leaseTicks);
        long unused = api.arm(armed + (long) position * Integer.BYTES, longest + (long) position * Long.BYTES, 1);
    }

    /// Lets the windows of open functions last, and opens those anew that have ended by themselves, because the
    /// agent was stopped.
    private void renewLeases() {
        long now = api.tsc();
        if (now - renewalTsc < leaseTicks / RENEWALS_PER_LEASE) {
            return;
        }
        renewalTsc = now;
        int ended = 0;
        for (int i = 0; i < windowed.length; i++) {
            long record = probes.function(i);
            if (windowed[i] || probes.isLeftOut(i)) {
                continue;
            }
            Memory.putLong(record + FunctionDescriptor.DEADLINE, now + leaseTicks);
            if (Memory.getIntAcquire(record + FunctionDescriptor.STATE) != FunctionDescriptor.STATE_SAMPLING) {
                new FunctionRecordWriter(record).removeFlags(FunctionDescriptor.FLAG_EVERY_CALL);
                arm(ended++, i, leaseTicks);
            }
        }
        long unused = api.arm(armed, longest, ended);
    }

    /// Adds the calls of open functions to their estimates, and makes those that are hot windowed.
    ///
    /// @param renew whether others of their calls are to be timed
    private void estimateOpen(boolean renew) {
        double passed = cpu - cpuAtLook;
        double told = renew ? telling.ofEach(api.tsc(), spending.pace()) : 0;
        cpuAtLook = cpu;
        callsSampledAtLook = tiers.callsSampled();
        int closing = 0;
        long all = 0;
        long timed = 0;
        int called = 0;
        for (int i = 0; i < windowed.length; i++) {
            long fresh = calls[i] - callsEstimated[i];
            if (windowed[i] || fresh == 0 || probes.isLeftOut(i)) {
                continue;
            }
            all += tiers.isCounted(i) ? 0 : fresh;
            callsEstimated[i] = calls[i];
            changed[i] = true;
            estimates[i].addExact(fresh);
            double rate = passed > 0 ? fresh / passed : 0;
            if (isHot(rate) && !tiers.isCounted(i)) {
                startWindows(i, progress(), rate);
                weighOpen(i);
                arm(closing++, i, 0);
            } else if (isTimedByMachine(i)) {
                called++;
                spending.addByChance(chance.times(i) ? (double) fresh / chance.mean(i) : 0);
                if (told > 0) {
                    tell(i, told);
                }
            } else if (renew) {
                timed += Math.min(fresh, openTimed);
                renew(i, fresh);
            }
        }
        long unused = api.disarm(armed, closing);
        telling.setFunctions(called);
        double part = passed > 0 ? spending.sampledNanos(all, 0) / passed : 0;
        if (renew) {
            limitOpen(timed);
        }
        openRate = part > OPEN_PART * budget ? RARER * openRate : Math.min(OFTENER * openRate, rateToWindow());
    }

    /// Lets more of the open functions' calls be timed, or fewer.
    ///
    /// @param timed as many as there would have been since the last rotation
    private void limitOpen(long timed) {
        double part = spending.sampledNanos(0, timed) / (cpu - cpuAtRenewal);
        cpuAtRenewal = cpu;
        if (part > OPEN_TIMED_PART * budget || timed > UNDRAINED_MAX / 2) {
            openTimed = Math.max(openTimed / 2, runLength);
        } else if (part < OPEN_TIMED_PART * budget / 2) {
            openTimed = Math.min(openTimed * 2, OPEN_TIMED_MAX);
        }
    }

    private void drainRings() {
        publish();
        for (int i = 0; i < windowed.length; i++) {
            if (!windowed[i]) {
                weighOpen(i);
            }
        }
        Memory.addLong(header + HeaderDescriptor.SAMPLES, drain.drain(weights));
        undrainedMax = 0;
    }

    private void weighOpen(int function) {
        long fresh = calls[function] - callsAtRenewal[function];
        double recorded = runs.recorded(function, Math.ceilDiv(fresh, meanOf(function)));
        if (recorded > 0) {
            weights.set(function, runs.calls(function, fresh), recorded);
        }
    }

    /// Lets others of an open function's calls be timed, of which there may be as many as there were.
    private void renew(int function, long fresh) {
        beginOpen(function);
        runs.time(function, probes.function(function), fresh, openTimed);
        undrainedMax += Math.min(fresh, openTimed);
    }

    private void tell(int function, double mean) {
        int told = (int) (mean + random.nextDouble());
        beginOpen(function);
        runs.tell(function, probes.function(function), told);
        undrainedMax += told;
    }

    private void beginOpen(int function) {
        weights.begin(function, api.tsc());
        callsAtRenewal[function] = calls[function];
    }

    /// Writes down the functions' calls.
    private void publish() {
        double progress = progress();
        for (int i = 0; i < windowed.length; i++) {
            long fresh = calls[i] - callsEstimated[i];
            if (!windowed[i] && fresh == 0 && !changed[i]) {
                continue;
            }
            double estimate = estimates[i].calls(progress);
            // Of an open function the calls since the last look are not in the estimate yet.
            double all = windowed[i] ? estimate : estimate + fresh;
            changed[i] = false;
            long record = probes.function(i);
            Memory.putDouble(record + FunctionDescriptor.CALLS, all);
            Memory.putDouble(record + FunctionDescriptor.CALLS_VARIANCE, estimates[i].variance(progress));
        }
    }

    /// @return false when there are none to open
    private boolean openWindows(int group) {
        for (int i = group; i < windowed.length; i += GROUPS) {
            if (windowed[i]) {
                if (chance.times(i)) {
                    weights.begin(i, api.tsc());
                    runs.tell(i, probes.function(i), TOLD_IN_WINDOW);
                } else {
                    runs.timeNone(probes.function(i));
                }
                arm(opened++, i, longestTicks);
            }
        }
        if (opened == 0) {
            return false;
        }
        cpuAtOpening = cpu;
        undrainedMax += (long) opened * runLength;
        if (undrainedMax > UNDRAINED_MAX) {
            drainRings();
        }
        openingTsc = api.tsc();
        begin(Part.SETTLES);
        long unused = api.arm(armed, longest, opened);
        return true;
    }

    private void readClockAndCalls() {
        long before = api.programCpuNanos();
        calls = counters.read(calls.length);
        cpu = before + (api.programCpuNanos() - before) / 2;
        tiers.count(calls);
    }

    /// At a window's begin or end: once more when it took long. Code that has slept is in no cache, so calls were read
    /// later after the clock at ends than at begins, and all windows seemed to have seen more than they did.
    private void readClockAndCallsAtOnce() {
        long start;
        int readings = 0;
        do {
            start = api.tsc();
            readClockAndCalls();
        } while (api.tsc() - start > READING_PART * windowNanos * ticksPerNano && ++readings < READINGS_MAX);
    }

    private boolean isHot(double rate) {
        return rate >= openRate;
    }

    /// From which on a window has enough calls, for each nanosecond of CPU time.
    private double rateToWindow() {
        return CALLS_PER_SAMPLE * runLength / windowNanos;
    }

    private void arm(int position, int function, long longestTicks) {
        Memory.putInt(armed + (long) position * Integer.BYTES, function);
        Memory.putLong(longest + (long) position * Long.BYTES, longestTicks);
    }

    private int armedFunction(int position) {
        return Memory.getInt(armed + (long) position * Integer.BYTES);
    }
}
