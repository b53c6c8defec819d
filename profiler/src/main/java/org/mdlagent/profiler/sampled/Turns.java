package org.mdlagent.profiler.sampled;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.profiler.cpu.PcSamples;
import org.mdlagent.profiler.records.RingDrain;
import org.mdlagent.profiler.records.SampleWeights;
import org.mdlagent.profiler.tier.Allowance;
import org.mdlagent.profiler.tier.ChanceTiming;
import org.mdlagent.profiler.tier.Tiers;

/// Turns of windowed functions that are too rare for short windows, which would hardly meet a call of theirs, and
/// together too frequent for all of their calls to be counted. Some are open at a time, as many as a part of the budget
/// pays for; at the next look it is the next ones' turn. So a turn is a window of a quarter of a second and more, and
/// switching probes costs next to nothing.
final class Turns {
    /// The part of the budget that counting their calls may take, or that of rare functions that are open for good.
    static final double PART = 0.25;

    /// The part that there is then for functions whose calls are all counted.
    private static final double PART_OF_OTHERS = 0.65;

    /// Functions that are open at a time: the agent makes each ready by itself.
    private static final int OPEN_MAX = 2000;

    /// Calls that tell their callers: in a turn, and of one function.
    private static final int TOLD = 64;

    private static final int TOLD_OF_EACH = 4;

    /// A turn's rate counts for as much as what was known before when so many calls were seen in it, and for a part at
    /// least.
    private static final double CALLS_KNOWN = 8;

    private static final double RATE_WEIGHT_MIN = 0.3;

    /// A turn takes so long at least, for each function: each is made ready by itself.
    private static final double NANOS_OF_EACH = 50e3;

    /// Numbers of unseen calls that are told apart: from 2^-16 on.
    private static final int ORDERS = 64;

    /// A function with this part of the CPU time comes first.
    private static final double MUCH_TIME = 0.01;

    /// Those come next that had no turn for so much of the program's time: what was rare may be so no more. Many cost
    /// little, for threads stop those that are dear after some calls.
    private static final double FORGOTTEN_NANOS = 10e9;

    private final Probes probes;
    private final CallEstimates estimates;
    private final Tiers tiers;
    private final ChanceTiming chance;
    private final SampleRuns runs;
    private final SampleWeights weights;
    private final Readings readings;
    private final Spending spending;
    private final RingDrain rings;
    private final PcSamples pcs;
    private final double budget;
    private final SplittableRandom random = new SplittableRandom();
    private final ArmList list;
    private final ArmList ended;

    private boolean[] members = {};
    private int size;
    private boolean needed;

    /// The function whose turn is next.
    private int next;

    /// By function: its calls, and those that are to tell their callers, when its turn began.
    private long[] callsAtBegin = {};

    private int[] told = {};

    /// The program's progress when this turn began, and how long one takes, in nanoseconds.
    private double begin;

    private long beginTsc;

    private double length = SampledProfiler.CLOSE_LOOK_NANOS;

    Turns(Sampling sampling) {
        probes = sampling.probes();
        estimates = sampling.estimates();
        tiers = sampling.tiers();
        chance = sampling.chance();
        runs = sampling.runs();
        weights = sampling.weights();
        readings = sampling.readings();
        spending = sampling.spending();
        rings = sampling.rings();
        pcs = sampling.pcs();
        budget = sampling.budget();
        list = new ArmList(sampling.api());
        ended = new ArmList(sampling.api());
    }

    /// Makes room for functions that have come.
    void grow(int functions) {
        members = Arrays.copyOf(members, functions);
        callsAtBegin = Arrays.copyOf(callsAtBegin, functions);
        told = Arrays.copyOf(told, functions);
    }

    /// Functions that are open for good have cost more than their part of the budget.
    void need() {
        needed = true;
    }

    boolean areNeeded() {
        return needed;
    }

    /// The part of the budget that functions have whose calls are all counted, while there are turns: the sum of all
    /// that machine code spends is to be within what it allows a thread.
    double partOfOthers() {
        return needed ? PART_OF_OTHERS : 1;
    }

    boolean has(int function) {
        return members[function];
    }

    void add(int function) {
        members[function] = true;
        size++;
    }

    void remove(int function) {
        size -= members[function] ? 1 : 0;
        members[function] = false;
    }

    /// Ends the turn of those that are open and begins that of the next, when it is time.
    ///
    /// @param tooMany      calls for each nanosecond from which on a function is no longer rare
    /// @param longestTicks after which probes switch themselves off
    /// @return whether that is not needed any more: all that take turns can be open for good
    boolean take(double tooMany, long longestTicks) {
        if (!needed || !readings.isDue(beginTsc, SampledProfiler.CLOSE_LOOK_NANOS, NANOS_OF_EACH)) {
            return false;
        }
        end(tooMany);
        begin(longestTicks);
        if (!needed) {
            list.clear();
        }
        return !needed;
    }

    private void end(double tooMany) {
        double now = readings.progress();
        double observed = now - begin;
        double timed = 0;
        ended.clear();
        for (int i = 0; i < list.size(); i++) {
            int function = list.function(i);
            if (!members[function]) {
                continue;
            }
            ended.add(function);
            double counted = readings.calls(function) - callsAtBegin[function];
            timed += chance.times(function) ? counted / chance.mean(function) : 0;
            double open = observed * openPart(probes.function(function));
            if (open > 0 && (open == observed || counted > 1)) {
                // A thread that has stopped it did so at a call, which the time until then has not for its part. One
                // call by itself tells nothing then.
                double unbiased = open < observed ? Math.max(0, counted - 1) : counted;
                double weight = Math.max(RATE_WEIGHT_MIN, unbiased / (unbiased + CALLS_KNOWN));
                estimates.addWindow(function, now, unbiased, 1, open, weight, 1);
                if (counted > 0 && told[function] > 0) {
                    double all = unbiased * estimates.untimed(function, now) / open;
                    weights.set(function, all, Math.min(counted, told[function]));
                }
                estimates.endTiming(function, now);
                length = observed;
            }
            if (open > 0 && counted / open >= tooMany) {
                remove(function);
            }
        }
        ended.disarm();
        list.clear();
        spending.addByChance(timed);
    }

    /// The part of the turn that a function was open: less than all when a thread has stopped it.
    private double openPart(long record) {
        if (!Allowance.isStopped(record)) {
            return 1;
        }
        double open = Memory.getLong(record + FunctionDescriptor.DEADLINE) - beginTsc;
        return Math.clamp(open / Math.max(1, readings.tsc() - beginTsc), 0, 1);
    }

    private void begin(long longestTicks) {
        double now = readings.progress();
        choose(longestTicks);
        for (int i = 0; i < list.size(); i++) {
            int function = list.function(i);
            callsAtBegin[function] = readings.calls(function);
            weights.begin(function, readings.tsc());
            if (tiers.hasRoom()) {
                double stands = 1 + estimates.untimed(function, now) / length;
                chance.turn(function, 1e9 * spending.pace() * estimates.rate(function), list.size(), stands);
            }
            told[function] = (int) (Math.min(TOLD_OF_EACH, (double) TOLD / list.size()) + random.nextDouble());
            runs.tell(function, probes.function(function), told[function]);
            rings.expect(told[function]);
        }
        list.arm();
        // Making them ready has taken time, in which no call of theirs was counted.
        begin = readings.progressNow();
        beginTsc = readings.tscNow();
    }

    /// Those of which the most calls have not been seen, by powers of two; of those that are alike in this, the next
    /// ones.
    private void choose(long longestTicks) {
        double left = PART * budget;
        double[] parts = new double[ORDERS];
        for (int i = 0; i < members.length; i++) {
            if (members[i]) {
                parts[order(i)] += tiers.countedPart(estimates.rate(i));
            }
        }
        int last = ORDERS - 1;
        for (double sum = 0; last > 0 && sum + parts[last] < left; last--) {
            sum += parts[last];
        }
        double taken = 0;
        for (int i = 0; i < members.length; i++) {
            if (members[i] && order(i) > last) {
                taken += admit(i, longestTicks);
            }
        }
        for (int looked = 0; looked < members.length && taken < left; looked++) {
            next = next < members.length - 1 ? next + 1 : 0;
            if (members[next] && order(next) == last) {
                taken += admit(next, longestTicks);
            }
        }
        needed = list.size() < size || taken > left / 2;
    }

    /// @return what it takes, as a part of the program's time
    private double admit(int function, long longestTicks) {
        if (list.size() < OPEN_MAX) {
            list.add(function, longestTicks);
        }
        return tiers.countedPart(estimates.rate(function));
    }

    /// The binary order of how many calls of a function have not been seen; the highest two where it has much of the
    /// time, or had no turn for long.
    private int order(int function) {
        if (pcs.share(function) >= MUCH_TIME) {
            return ORDERS - 1;
        }
        double untimed = estimates.untimed(function, readings.progress());
        if (untimed > FORGOTTEN_NANOS) {
            return ORDERS - 2;
        }
        double unseen = estimates.rate(function) * untimed;
        return Math.clamp(Math.getExponent(unseen) + ORDERS / 4, 0, ORDERS - 3);
    }
}
