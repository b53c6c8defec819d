package org.mdlagent.profiler.sampled;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.profiler.records.RingDrain;
import org.mdlagent.profiler.records.SampleWeights;
import org.mdlagent.profiler.tier.ChanceTiming;
import org.mdlagent.profiler.tier.Tiers;

/// Short windows of functions that are too frequent to be counted always. Those of a group are open at a time.
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
final class Windows {
    /// Turns in a rotation.
    static final int GROUPS = 4;

    /// How long the other parts of a window take, for each nanosecond that calls are counted.
    private static final double SETTLING = 0.6;

    private static final double TIMING = 0.5;

    /// Parts of windows vary by this part of their length to either side, so that periodic work of the program is not
    /// always met in the same phase.
    private static final double JITTER = 0.25;

    /// Calls that tell their callers, where machine code times some, in one of so many windows of a function, at
    /// random. Telling takes a thousand ticks, which are in the durations of those calls that are going on: were it
    /// done in each window, half of the timed calls of a short function had those of its callees in them.
    private static final int TOLD = 4;

    private static final int WINDOWS_OF_TELLING = 4;

    /// Windows end by themselves after so many times their length.
    private static final int LONGEST_FACTOR = 4;

    /// Calls that a window should see, as a multiple of those that are timed: a function with fewer is open.
    private static final int CALLS_PER_SAMPLE = 5;

    /// Few, so that phases of the program stay apart; and a fixed number, for one that depends on what they show
    /// would make the estimate biased.
    private static final int PER_BLOCK = 4;

    /// However wrong the predicted cost is, this part of the CPU time was the program's.
    private static final double PASSED_MIN = 0.25;

    private static final double RATE_WEIGHT = 0.05;

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
    private final int runLength;
    private final double windowNanos;
    private final long longestTicks;
    private final SplittableRandom random = new SplittableRandom();

    /// The functions whose windows are open.
    private final ArmList open;

    private Part part = Part.SETTLES;

    /// By group: what its windows cost beside what is predicted; and which one it is.
    private final Slowdown[] slowdowns = new Slowdown[GROUPS];

    private int group;

    /// Calls of functions that are counted always, and CPU time, when this part began; and when this rest began.
    private long countedAtPart;

    private long countedAtRest;
    private long cpuAtRest;

    /// Calls of such functions for each nanosecond of CPU time while windows rested last, 0 when that is not known.
    private double restRate;

    /// What windows have cost in the part that ended last, as predicted, in nanoseconds.
    private double predicted;

    /// By function: its calls when this part began.
    private long[] callsAtPart = {};

    private long cpuAtPart;
    private long cpuAtOpening;
    private long openingTsc;

    /// Windows that were open at a time.
    private int groupSize;

    private enum Part {
        /// What was just switched on comes into the caches.
        SETTLES,
        COUNTS,
        /// What was counted is known.
        COUNTED,
        /// A run of each function.
        TIMES
    }

    /// @param windowNanos how long a window's calls are counted
    Windows(Sampling sampling, double windowNanos) {
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
        runLength = sampling.runLength();
        this.windowNanos = windowNanos;
        longestTicks = (long) (LONGEST_FACTOR * windowNanos * sampling.ticksPerNano());
        open = new ArmList(api);
        Arrays.setAll(slowdowns, any -> new Slowdown());
    }

    /// Makes room for functions that have come.
    void grow(int functions) {
        callsAtPart = Arrays.copyOf(callsAtPart, functions);
    }

    /// Windows choose the calls of the function from now on.
    ///
    /// @param now   the program's progress
    /// @param rate  calls for each nanosecond of CPU time, as far as that is known
    /// @param known whether it holds without a window
    void start(int function, double now, double rate, boolean known) {
        estimates.startWindows(function, now, rate, known);
        if (tiers.hasRoom()) {
            timeByChance(function, rate);
        }
    }

    private void timeByChance(int function, double rate) {
        chance.window(function, rate * spending.pace() * windowNanos, groupSize);
    }

    /// Whether a window has enough calls.
    ///
    /// @param rate calls for each nanosecond of CPU time
    boolean isFrequent(double rate) {
        return rate >= rateToWindow();
    }

    /// From which on it has.
    double rateToWindow() {
        return CALLS_PER_SAMPLE * runLength / windowNanos;
    }

    boolean areOpen() {
        return open.size() > 0;
    }

    /// Makes a group's windows ready to be opened.
    ///
    /// @return whether there are any
    boolean choose(int group, Turns turns) {
        this.group = group;
        for (int i = group; i < readings.functions(); i += GROUPS) {
            if (estimates.isWindowed(i) && !turns.has(i)) {
                if (chance.times(i)) {
                    weights.begin(i, api.tsc());
                    runs.tell(i, probes.function(i), random.nextInt(WINDOWS_OF_TELLING) == 0 ? TOLD : 0);
                } else {
                    runs.timeNone(probes.function(i));
                }
                open.add(i, longestTicks);
            }
        }
        rings.expect((long) open.size() * runLength);
        return open.size() > 0;
    }

    /// Opens those that were chosen.
    ///
    /// @return how long they are left alone, in nanoseconds
    double open() {
        cpuAtOpening = readings.cpu();
        double rested = cpuAtOpening - cpuAtRest;
        if (cpuAtRest > 0 && rested > windowNanos) {
            restRate = (tiers.callsCounted() - countedAtRest) / rested;
        }
        openingTsc = api.tsc();
        begin(Part.SETTLES);
        open.arm();
        return SETTLING * windowNanos;
    }

    /// Goes on to the next part. The program has just been looked at.
    ///
    /// @return how long that part takes, in nanoseconds; 0: the windows are to be closed
    double goOn() {
        if (part == Part.SETTLES && !isLate()) {
            slowdown();
            begin(Part.COUNTS);
            return varied(windowNanos);
        }
        if (part == Part.COUNTS && !isLate()) {
            observe();
            if (hasRuns()) {
                time();
                begin(Part.TIMES);
                return varied(TIMING * windowNanos);
            }
        }
        return 0;
    }

    private void observe() {
        double observed = readings.cpu() - cpuAtPart;
        double slowdown = slowdown();
        if (observed > 0 && restRate > 0) {
            long calls = tiers.callsCounted() - countedAtPart;
            slowdowns[group].observed(calls, restRate * observed, predicted / observed);
        }
        part = Part.COUNTED;
        groupSize = open.size();
        for (int i = 0; i < open.size(); i++) {
            int function = open.function(i);
            double counted = counted(function);
            estimates.addWindow(function, readings.progress(), counted, slowdown, observed, RATE_WEIGHT, PER_BLOCK);
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

    private void time() {
        long now = api.tsc();
        for (int i = 0; i < open.size(); i++) {
            int function = open.function(i);
            if (!chance.times(function)) {
                weights.begin(function, now);
                double expected = estimates.rate(function) * spending.pace() * TIMING * windowNanos;
                runs.timeOneRun(function, probes.function(function), expected);
            }
        }
    }

    private void begin(Part next) {
        part = next;
        System.arraycopy(readings.calls(), 0, callsAtPart, 0, callsAtPart.length);
        cpuAtPart = readings.cpu();
        countedAtPart = tiers.callsCounted();
    }

    private long counted(int function) {
        return readings.calls(function) - callsAtPart[function];
    }

    private double varied(double nanos) {
        return nanos * (1 + JITTER * (2 * random.nextDouble() - 1));
    }

    /// All or none: only those that were called late have ended by themselves.
    private boolean isLate() {
        return api.tsc() - openingTsc > longestTicks;
    }

    /// Closes those that are open.
    ///
    /// @return those of them that have become so rare that windows do not suit them any more
    List<Integer> close() {
        double observed = readings.cpu() - cpuAtPart;
        if (part == Part.TIMES && !isLate() && observed > 0) {
            double slowdown = slowdown();
            for (int i = 0; i < open.size(); i++) {
                if (!chance.times(open.function(i))) {
                    weighRun(open.function(i), observed, slowdown);
                }
            }
        }
        open.disarm();
        if (open.size() > 0) {
            beginRest();
        }
        List<Integer> rare = new ArrayList<>();
        boolean whole = part == Part.TIMES || part == Part.COUNTED;
        for (int i = 0; i < open.size(); i++) {
            int function = open.function(i);
            if (whole && chance.times(function)) {
                weighByChance(function);
            }
            // Half as much before a function is opened again, so that it does not change to and fro.
            if (2 * estimates.rate(function) < rateToWindow()) {
                rare.add(function);
            } else if (chance.times(function)) {
                timeByChance(function, estimates.rate(function));
            }
        }
        open.clear();
        return rare;
    }

    /// From now on nothing changes until windows open.
    void beginRest() {
        countedAtRest = tiers.callsCounted();
        cpuAtRest = readings.cpu();
    }

    /// How much longer than without probes the program took for what it did in the part of the windows that ends, as
    /// predicted; what it lost is taken off the clock of its progress.
    private double slowdown() {
        double observed = readings.cpu() - cpuAtPart;
        double counted = 0;
        long timed = 0;
        double byChance = 0;
        for (int i = 0; i < open.size(); i++) {
            int function = open.function(i);
            long count = counted(function);
            counted += spending.countedNanos(count, count / Math.max(1, observed));
            if (chance.times(function)) {
                byChance += (double) count / chance.mean(function);
            } else if (part == Part.TIMES) {
                timed += (long) runs.recorded(function, count);
            }
        }
        spending.addByChance(byChance);
        predicted = counted + spending.runNanos(timed) + spending.byChanceNanos(byChance);
        double passed = Math.max(PASSED_MIN * observed, observed - slowdowns[group].factor() * predicted);
        readings.lose(observed - passed);
        return observed > 0 ? observed / passed : 1;
    }

    private void weighRun(int function, double observed, double slowdown) {
        long counted = counted(function);
        double recorded = runs.recorded(function, counted);
        if (counted > 0 && recorded > 0) {
            double span = estimates.untimed(function, readings.progress());
            weights.set(function, runs.calls(function, counted) * slowdown * span / observed, recorded);
        }
        estimates.endTiming(function, readings.progress());
    }

    /// What the window of a function stood for, whose calls machine code times, and the callers that it told of.
    private void weighByChance(int function) {
        double span = estimates.untimed(function, readings.progress());
        double observed = readings.cpu() - cpuAtOpening;
        estimates.endTiming(function, readings.progress());
        if (observed > 0 && span > 0) {
            chance.endWindow(function, observed / span);
            weights.set(function, WINDOWS_OF_TELLING * estimates.rate(function) * span, TOLD);
        }
    }
}
