package org.mdlagent.profiler;

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
import org.mdlagent.profiler.tier.Allowance;
import org.mdlagent.profiler.tier.ChanceTiming;
import org.mdlagent.profiler.tier.TierChoice;
import org.mdlagent.profiler.tier.Tiers;

/// The sampled latency profiler ("Living on the Edge", PLDI 2016, section 9), with windows of time instead of windows
/// of calls.
///
/// Every function is open or windowed. An *open* one is called so rarely that its probes stay on: its count of calls
/// is exact. The *windowed* ones are divided into groups, which take turns in a *rotation*; then all rest, for as long
/// as the budget demands ([Governor]). Those that are too rare for a window to meet them, and too many for all to be
/// open, take longer turns ([Turns]). In either state some calls are timed, the others only counted: by chance, by
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
/// Long because rotation, windows and open functions read and write each other's state: it waits for being taken apart
/// into state machines with one writer each, and is not to grow before.
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

    private static final double CHEAP_PART_OF_ALL = 0.3;

    /// The part of the budget that goes into timing open functions' calls. It is spent by the second, not by the
    /// rotation: were it more, rests would become ever longer.
    private static final double OPEN_TIMED_PART = 0.1;

    /// What is done for each function by itself is done so often at most, for each of them: where they are many, it is
    /// dear.
    private static final double TURN_NANOS_OF_EACH = 50e3;

    private static final double PUBLISHED_NANOS_OF_EACH = 100e3;
    private static final double STOPPED_NANOS_OF_EACH = 20e3;

    /// Reading clock and calls is to take no more than this part of a window.
    private static final double READING_PART = 0.01;

    private static final int READINGS_MAX = 3;

    /// Calls of a window's function that tell their callers, where machine code times some.
    private static final int TOLD_IN_WINDOW = 4;

    /// Calls that tell their callers when functions begin to be timed by machine code, of all together.
    private static final int TOLD_MAX = 2048;

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

    private final Tiers tiers;
    private final Telling telling;
    private final Allowance allowance;
    private final Idleness idleness;

    /// When functions were found to be too hot to be counted that are not closed yet, else 0.
    private long demotionTsc;

    /// By function: calls so far, now and when the part of the windows that are open began.
    private long[] calls = {};

    private long[] callsAtPart = {};

    private final CallEstimates estimates;

    /// By open function: its calls when others of them were timed last.
    private long[] callsAtRenewal = {};

    private final ChanceTiming chance;
    private final SampleWeights weights = new SampleWeights();
    private final SampleRuns runs;
    private final Turns turns;

    /// Calls of an open function that are timed between two rotations: all, as long as that is not too dear.
    private int openTimed;

    /// CPU time of the program, in nanoseconds: now, when open functions were last looked at, when others of their
    /// calls began to be timed, and when the part of the windows that are open began.
    private long cpu;

    private long cpuAtLook;
    private long tscAtLook;
    private long cpuAtRenewal;

    /// When clock and calls were last read.
    private long readingTsc;

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

    /// What functions cost that went on after a thread had stopped them, since tiers were last chosen.
    private double goingOn;

    /// The group that is next.
    private int group;

    private boolean rotating;
    private long lookTsc;
    private double closeLookNanos = CLOSE_LOOK_NANOS;

    /// Calls that may have been timed since the rings were emptied.
    private long undrainedMax;

    /// CPU time that windows have cost the program, as predicted, in nanoseconds.
    private double lost;

    /// The functions whose windows are open.
    private final ArmList open;

    /// Those whose probes are switched in between.
    private final ArmList changes;

    /// When calls were last written down, a turn began, and functions were looked for that threads have stopped.
    private long publishTsc;

    private long turnTsc;
    private long stoppedTsc;

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
        open = new ArmList(api);
        changes = new ArmList(api);
        estimates = new CallEstimates(probes, windowNanos);
        turns = new Turns(api, probes, estimates, tiers, chance, runs, weights, budget);
    }

    /// Windows that are open now end.
    @Override
    public void open(List<Integer> functions, boolean whole) {
        int before = calls.length;
        drain.forgetCallSites();
        readClockAndCalls();
        closeWindows();
        grow();
        probes.activateOpenedUnknown();
        changes.clear();
        for (int function : functions) {
            if (function >= before || !whole) {
                Memory.putInt(probes.function(function) + FunctionDescriptor.WHOLE, whole ? 1 : 0);
            }
            if (!estimates.isWindowed(function) && !probes.isLeftOut(function)) {
                changes.add(function, FIRST_LEASE_FACTOR * leaseTicks);
            }
        }
        renewalTsc = api.tsc();
        changes.arm();
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
        changes.clear();
        for (int function : functions) {
            if (probes.isLeftOut(function) == on) {
                probes.leaveOut(function, !on);
                Memory.putInt(probes.function(function) + FunctionDescriptor.WHOLE, 0);
                endEstimate(function);
                beginTiming(function);
                changes.add(function, leaseTicks);
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
        readClockAndCalls();
        closeWindows();
        drainRings();
        changes.clear();
        for (int function : functions) {
            move(function, tier, true);
            if (!probes.isLeftOut(function)) {
                changes.add(function, leaseTicks);
            }
        }
        changes.arm();
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
            runs.tell(function, probes.function(function), Math.clamp(TOLD_MAX / calls.length, 1, runLength));
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
        if (isDue(stoppedTsc, 0, STOPPED_NANOS_OF_EACH)) {
            windowStopped();
        }
        int[] chosen = tiers.choose(
                now,
                cpu,
                spending.pace(),
                turns.partOfOthers(),
                calls,
                i -> estimates.isWindowed(i) ? estimates.rate(i) : -1);
        if (chosen != null) {
            goingOn = 0;
            allowance.set(tiers.pace());
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
            move(i, new Tier(means[i]), false);
            if (wasWindowed) {
                changes.add(i, leaseTicks);
            }
            if (means[i] == TierChoice.WINDOWED) {
                demotionTsc = api.tsc();
            }
        }
        changes.arm();
    }

    /// Windows choose the calls of functions that threads have stopped ([Allowance]), from then on. How often
    /// frequent ones are called is not known before the first. Some that cost little go on as before: a thread
    /// stops the one that it is about to call, not the one that is dear.
    private void windowStopped() {
        if (!allowance.haveStopped()) {
            return;
        }
        stoppedTsc = readingTsc;
        drainRings();
        changes.clear();
        for (int i = 0; i < calls.length; i++) {
            long record = probes.function(i);
            if (estimates.isWindowed(i) || probes.isLeftOut(i) || !Allowance.isStopped(record)) {
                continue;
            }
            double stopped = cpuAt(Memory.getLong(record + FunctionDescriptor.DEADLINE));
            Tier before = new Tier(tiers.mean(i));
            double rate = estimates.fresh(i, calls[i]) / Math.max(windowNanos, stopped - cpuAtLook);
            estimates.count(i, calls[i]);
            boolean cheap = tiers.isCounted(i) && goesOn(i, rate);
            if (tiers.isCounted(i)) {
                move(i, Tier.WINDOWED, false);
            }
            boolean rare = !isFrequent(rate);
            startWindows(i, stopped - lost, rate, rare);
            if (rare) {
                turns.need();
                turns.add(i);
            }
            weighOpen(i);
            if (cheap) {
                move(i, before, false);
                changes.add(i, leaseTicks);
            }
        }
        changes.arm();
    }

    /// CPU time of the program at a moment since open functions were last looked at, as if it had run evenly.
    private double cpuAt(long tsc) {
        double part = (double) (tsc - tscAtLook) / Math.max(1, readingTsc - tscAtLook);
        return cpuAtLook + Math.clamp(part, 0, 1) * (cpu - cpuAtLook);
    }

    /// Whether a function that a thread has stopped is to go on: when it was others that the thread could not afford.
    /// Those that go on must be cheap together, too.
    ///
    /// @param rate calls for each nanosecond of CPU time, of late
    private boolean goesOn(int function, double rate) {
        double part = tiers.price(function) / ticksPerNano * Math.max(rate, tiers.rate(function));
        boolean cheap = !turns.areNeeded() && part < CHEAP_PART * budget && goingOn + part < CHEAP_PART_OF_ALL * budget;
        goingOn += cheap ? part : 0;
        return cheap;
    }

    /// @param known whether the rate holds without a window
    private void startWindows(int function, double now, double rate, boolean known) {
        estimates.startWindows(function, now, rate, known);
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
        if (estimates.isWindowed(function)) {
            turns.remove(function);
            estimates.endWindows(function, progress(), calls[function]);
        }
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

    /// Makes room for functions that have come.
    private void grow() {
        int before = calls.length;
        int functions = probes.functionCount();
        tiers.grow(functions);
        calls = Arrays.copyOf(calls, functions);
        callsAtPart = Arrays.copyOf(callsAtPart, functions);
        callsAtRenewal = Arrays.copyOf(callsAtRenewal, functions);
        estimates.grow(functions);
        weights.grow(functions);
        runs.grow(functions);
        chance.grow(functions);
        turns.grow(functions);
        for (int i = before; i < functions; i++) {
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
        if (open.size() > 0) {
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
        readClockAndCalls();
        windowStopped();
        takeTurns();
        drainRings();
        publish();
        for (int i = 0; i < calls.length; i++) {
            long fresh = calls[i] - callsAtRenewal[i];
            if (!estimates.isWindowed(i) && fresh > 0 && !isTimedByMachine(i) && !probes.isLeftOut(i)) {
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
        takeTurns();
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
        windowStopped();
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
        return !turns.areNeeded()
                && spending.sampledNanos(tiers.callsSampled() - callsSampledAtLook, 0)
                        > Turns.PART * budget * (cpu - cpuAtLook);
    }

    /// Ends the turn of those that are open, and begins that of the next; or lets all be open for good, where that is
    /// not too dear any more.
    private void takeTurns() {
        if (!turns.areNeeded() || !isDue(turnTsc, CLOSE_LOOK_NANOS, TURN_NANOS_OF_EACH)) {
            return;
        }
        turnTsc = readingTsc;
        spending.addByChance(turns.end(calls, progress(), readingTsc, rateToWindow()));
        undrainedMax += turns.begin(calls, progress(), readingTsc, spending.pace(), leaseTicks);
        if (!turns.areNeeded()) {
            turns.end();
            for (int i = 0; i < calls.length; i++) {
                if (turns.has(i)) {
                    reopen(i);
                }
            }
        }
    }

    /// The function is open from now on. Its probes are on, or will be.
    private void reopen(int function) {
        endEstimate(function);
        beginOpen(function);
        beginTiming(function);
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
        groupSize = open.size();
        for (int i = 0; i < open.size(); i++) {
            observe(open.function(i), observed, slowdown);
        }
    }

    private boolean hasRuns() {
        for (int i = 0; i < open.size(); i++) {
            if (!chance.times(open.function(i))) {
                return true;
            }
        }
        return false;
    }

    private double time() {
        long now = api.tsc();
        for (int i = 0; i < open.size(); i++) {
            int function = open.function(i);
            if (chance.times(function)) {
                continue;
            }
            weights.begin(function, now);
            double expected = estimates.rate(function) * spending.pace() * TIMING * windowNanos;
            runs.timeOneRun(function, probes.function(function), expected);
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
            for (int i = 0; i < open.size(); i++) {
                if (!chance.times(open.function(i))) {
                    weighWindow(open.function(i), observed, slowdown);
                }
            }
        }
        open.disarm();
        boolean whole = part == Part.TIMES || part == Part.COUNTED;
        changes.clear();
        for (int i = 0; i < open.size(); i++) {
            int function = open.function(i);
            if (whole && chance.times(function)) {
                weighByChance(function);
            }
            // Half as much before a function is opened again, so that it does not change to and fro.
            if (2 * estimates.rate(function) < rateToWindow()) {
                reopen(function);
                changes.add(function, leaseTicks);
            } else if (chance.times(function)) {
                timeByChance(function, estimates.rate(function));
            }
        }
        changes.arm();
        open.clear();
    }

    /// How much longer than without probes the program took for what it did in the part of the windows that ends, as
    /// predicted; what it lost is taken off the clock of its progress.
    private double slowdown() {
        double observed = cpu - cpuAtPart;
        long counted = 0;
        long timed = 0;
        double byChance = 0;
        for (int i = 0; i < open.size(); i++) {
            int function = open.function(i);
            long count = calls[function] - callsAtPart[function];
            counted += count;
            if (chance.times(function)) {
                byChance += (double) count / chance.mean(function);
            } else if (part == Part.TIMES) {
                timed += (long) runs.recorded(function, count);
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
            double span = estimates.untimed(function, progress());
            weights.set(function, runs.calls(function, counted) * slowdown * span / observed, recorded);
        }
        estimates.endTiming(function, progress());
    }

    /// What the window of a function stood for, whose calls machine code times, and the callers that it told of.
    private void weighByChance(int function) {
        double span = estimates.untimed(function, progress());
        double observed = cpu - cpuAtOpening;
        estimates.endTiming(function, progress());
        if (observed > 0 && span > 0) {
            chance.endWindow(function, observed / span);
            weights.set(function, estimates.rate(function) * span, TOLD_IN_WINDOW);
        }
    }

    private void observe(int function, double observed, double slowdown) {
        double counted = calls[function] - callsAtPart[function];
        estimates.addWindow(function, progress(), counted, slowdown, observed, RATE_WEIGHT, WINDOWS_PER_BLOCK);
    }

    /// Lets the windows of open functions last, and opens those anew that have ended by themselves, because the
    /// agent was stopped.
    private void renewLeases() {
        long now = api.tsc();
        if (now - renewalTsc < leaseTicks / RENEWALS_PER_LEASE) {
            return;
        }
        renewalTsc = now;
        changes.clear();
        for (int i = 0; i < calls.length; i++) {
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

    /// Adds the calls of open functions to their estimates, and makes those that are hot windowed.
    ///
    /// @param renew whether others of their calls are to be timed
    private void estimateOpen(boolean renew) {
        double passed = cpu - cpuAtLook;
        double told = renew ? telling.ofEach(api.tsc(), spending.pace()) : 0;
        cpuAtLook = cpu;
        tscAtLook = readingTsc;
        callsSampledAtLook = tiers.callsSampled();
        changes.clear();
        long all = 0;
        long timed = 0;
        int called = 0;
        for (int i = 0; i < calls.length; i++) {
            if (estimates.isWindowed(i) || probes.isLeftOut(i)) {
                continue;
            }
            long fresh = estimates.fresh(i, calls[i]);
            if (fresh == 0) {
                continue;
            }
            boolean counted = tiers.isCounted(i);
            all += counted ? 0 : fresh;
            estimates.count(i, calls[i]);
            double rate = passed > 0 ? fresh / passed : 0;
            if (!counted && (isFrequent(rate) || turns.areNeeded())) {
                startWindows(i, progress(), rate, true);
                if (!isFrequent(rate)) {
                    turns.add(i);
                }
                weighOpen(i);
                changes.add(i);
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
        changes.disarm();
        telling.setFunctions(called);
        if (passed > 0 && spending.sampledNanos(all, 0) > Turns.PART * budget * passed) {
            turns.need();
        }
        if (renew) {
            limitOpen(timed);
        }
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
        if (isDue(publishTsc, CLOSE_LOOK_NANOS, PUBLISHED_NANOS_OF_EACH)) {
            publish();
        }
        for (int i = 0; i < calls.length; i++) {
            if (!estimates.isWindowed(i)) {
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

    /// Whether it is time for what was done at a moment, and is to be done so often at most.
    private boolean isDue(long lastTsc, double nanos, double nanosOfEach) {
        return api.tsc() - lastTsc >= Math.max(nanos, nanosOfEach * calls.length) * ticksPerNano;
    }

    /// Writes down the functions' calls.
    private void publish() {
        publishTsc = readingTsc;
        estimates.publish(calls, progress());
    }

    /// @return false when there are none to open
    private boolean openWindows(int group) {
        for (int i = group; i < calls.length; i += GROUPS) {
            if (estimates.isWindowed(i) && !turns.has(i)) {
                if (chance.times(i)) {
                    weights.begin(i, api.tsc());
                    runs.tell(i, probes.function(i), TOLD_IN_WINDOW);
                } else {
                    runs.timeNone(probes.function(i));
                }
                open.add(i, longestTicks);
            }
        }
        if (open.size() == 0) {
            return false;
        }
        cpuAtOpening = cpu;
        undrainedMax += (long) open.size() * runLength;
        if (undrainedMax > UNDRAINED_MAX) {
            drainRings();
        }
        openingTsc = api.tsc();
        begin(Part.SETTLES);
        open.arm();
        return true;
    }

    private void readClockAndCalls() {
        long before = api.programCpuNanos();
        calls = counters.read(calls.length);
        cpu = before + (api.programCpuNanos() - before) / 2;
        readingTsc = api.tsc();
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

    private boolean isFrequent(double rate) {
        return rate >= rateToWindow();
    }

    /// From which on a window has enough calls, for each nanosecond of CPU time.
    private double rateToWindow() {
        return CALLS_PER_SAMPLE * runLength / windowNanos;
    }
}
