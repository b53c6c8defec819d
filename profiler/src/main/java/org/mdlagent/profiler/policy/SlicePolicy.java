package org.mdlagent.profiler.policy;

import java.util.Arrays;
import java.util.function.IntPredicate;
import java.util.function.IntToDoubleFunction;
import org.mdlagent.profiler.estimate.ProbeCost;

/// When the probes of sliced functions are on: those that are too frequent for the budget to stay on.
///
/// *Count slices* only count, since that is what costs the least. As many functions are on together as do not
/// make the program much slower. *Duration slices* time the calls of a few functions while all others are off,
/// so that a caller's duration does not contain the probes of its callees. Functions that have much of the CPU
/// time have their turn more often.
///
/// Slices of frequent functions are short and many, those of rarer ones long and few: a slice lasts as long as
/// some hundred calls take, so that switching probes costs less than counting does. Where there are so few functions
/// that switching them costs next to nothing, all slices are short and many.
public final class SlicePolicy {
    /// The part of the budget that functions have whose probes stay on, while others are sliced.
    public static final double PART_OF_OTHERS = 0.6;

    /// Parts of the budget: for counting in slices, for timing in slices, and for the agent to open and close
    /// them.
    static final double COUNT_PART = 0.25;

    static final double TIME_PART = 0.08;
    static final double SWITCH_PART = 0.15;

    /// Count slices take no more than so many times the budget as a part of the time: 5 % at a budget of 1 %. More
    /// slices than these tell little more.
    static final double DUTY_OF_BUDGET = 5;

    static final double DUTY_MAX = 0.5;

    /// Counting makes the program slower by no more than this part while it is on, as it is predicted: else not
    /// all functions of a group are on together, but some in turn.
    static final double LOAD_MAX = 0.06;

    static final int GROUPS_MAX = 8;

    /// Frequent functions have at least so many calls in a second of CPU time: 25 in a slice.
    static final double FREQUENT = 50_000;

    /// Of what there is for counting in slices, the part for these.
    static final double FREQUENT_PART = 0.75;

    /// The shortest periods and slices, in nanoseconds: of frequent functions, and of the others.
    static final double PERIOD_NANOS = 20e6;

    static final double PERIOD_NANOS_RARE = 200e6;

    /// Where nothing limits what measuring may cost, periods are so many times shorter.
    static final double UNLIMITED = 10;
    static final double LENGTH_NANOS = 300e3;
    static final double LENGTH_NANOS_RARE = 3e6;

    /// How long probes are on before a slice begins: code that was just switched on, its stubs and its counters
    /// are in no cache, so the program makes fewer calls meanwhile.
    public static final double SETTLING_NANOS = 150e3;

    /// Duration slices last longer: calls must end in them.
    static final double TIMED_LENGTH_NANOS = 1e6;

    static final double TIMED_LENGTH_NANOS_OTHERS = 5e6;

    /// Functions that are timed together.
    static final int TIMED_TOGETHER = 16;

    /// Functions with this part of the CPU time are timed more often than others.
    static final double MUCH_TIME = 0.001;

    /// Timing takes this part of a duration slice, about, and this many calls of a function.
    static final double TIMING_PART = 0.05;

    static final double TIMED_MIN = 2;
    static final double TIMED_MAX = 64;

    /// What it takes the agent to wake up twice, and to open and close a slice without functions, in nanoseconds.
    public static final double FIXED_NANOS = 20e3;

    private final ProbeCost cost;
    private final double budget;
    private final double ticksPerNano;

    /// @param budget the part of the program's time that measuring may cost, above 0 and up to 1
    public SlicePolicy(ProbeCost cost, double budget, double ticksPerNano) {
        this.cost = cost;
        this.budget = budget;
        this.ticksPerNano = ticksPerNano;
    }

    /// What is known of the program.
    ///
    /// @param functions that are sliced
    /// @param rate      by function: calls for each nanosecond of CPU time
    /// @param share     by function: its part of the CPU time, 0 where that is not known
    /// @param timeable  by function: whether there is memory for its durations
    /// @param pace      CPU time of the program for each nanosecond that passes while it runs, 1 or more
    /// @param used      the same of late, idle time included
    /// @param switching what it takes to open and close a slice of one function, in nanoseconds
    public record Observation(
            int[] functions,
            IntToDoubleFunction rate,
            IntToDoubleFunction share,
            IntPredicate timeable,
            double pace,
            double used,
            double switching) {}

    /// What to do until the next plan: count slices of frequent functions and of others, and duration slices of
    /// functions with much of the CPU time and of others.
    ///
    /// @param frequent counted in short slices
    /// @param rare     counted in long slices
    /// @param dear     timed often
    /// @param others   timed now and then
    public record Plan(Slicing frequent, Slicing rare, Slicing dear, Slicing others) {}

    /// @return what suits this
    public Plan plan(Observation seen) {
        // The more slices there are, the fewer phases fall between them.
        boolean affordable = switchingNanos(seen, seen.functions.length) <= SWITCH_PART * income(seen) * PERIOD_NANOS;
        IntPredicate often = i -> affordable || 1e9 * seen.rate.applyAsDouble(i) >= FREQUENT;
        int[] frequent = which(seen, often);
        int[] rare = which(seen, often.negate());
        int[] dear = which(seen, i -> seen.timeable.test(i) && seen.share.applyAsDouble(i) >= MUCH_TIME);
        int[] others = which(seen, i -> seen.timeable.test(i) && seen.share.applyAsDouble(i) < MUCH_TIME);
        boolean both = frequent.length > 0 && rare.length > 0;
        double most = COUNT_PART * (both ? FREQUENT_PART : 1);
        double rest = both ? COUNT_PART - most : COUNT_PART;
        return new Plan(
                counted(seen, frequent, most, PERIOD_NANOS, LENGTH_NANOS),
                counted(seen, rare, rest, PERIOD_NANOS_RARE, LENGTH_NANOS_RARE),
                timed(seen, dear, 0.75, TIMED_LENGTH_NANOS),
                timed(seen, others, 0.25, TIMED_LENGTH_NANOS_OTHERS));
    }

    private static int[] which(Observation seen, IntPredicate belongs) {
        return Arrays.stream(seen.functions).filter(belongs).toArray();
    }

    private Slicing counted(Observation seen, int[] functions, double part, double shortestPeriod, double shortest) {
        if (functions.length == 0) {
            return Slicing.none(false);
        }
        double load = load(seen, functions);
        int groups = Math.clamp((int) Math.ceil(load / LOAD_MAX), 1, Math.min(GROUPS_MAX, functions.length));
        int step = Math.ceilDiv(functions.length, groups);
        double duty = Math.min(DUTY_MAX, Math.min(DUTY_OF_BUDGET * budget, part * budget / Math.max(load, 1e-9)));
        double affordable = groups * switchingNanos(seen, step) / (part * SWITCH_PART / COUNT_PART * income(seen));
        double longEnough = Math.max(shortestPeriod / (budget < 1 ? 1 : UNLIMITED), affordable);
        double length = Math.max(shortest, duty * longEnough - SETTLING_NANOS);
        double period = Math.max(longEnough, (SETTLING_NANOS + length) / duty);
        return new Slicing(apart(functions, groups), step, false, period / groups, length);
    }

    /// Those that are neighbours in a file, and call each other, are on at different times.
    private static int[] apart(int[] functions, int groups) {
        int[] apart = new int[functions.length];
        int at = 0;
        for (int group = 0; group < groups; group++) {
            for (int i = group; i < functions.length; i += groups) {
                apart[at++] = functions[i];
            }
        }
        return apart;
    }

    private Slicing timed(Observation seen, int[] functions, double part, double length) {
        if (functions.length == 0) {
            return Slicing.none(true);
        }
        int step = Math.min(TIMED_TOGETHER, functions.length);
        double load = load(seen, functions) * step / functions.length + TIMING_PART;
        double duty = Math.min(DUTY_MAX, part * TIME_PART * budget / load);
        double period = Math.max(
                (SETTLING_NANOS + length) / duty, switchingNanos(seen, step) / (part * SWITCH_PART / 2 * income(seen)));
        return new Slicing(functions, step, true, period, length);
    }

    /// What the agent may spend, as a part of the time that passes.
    private double income(Observation seen) {
        return budget * Math.max(0.1, seen.used);
    }

    private static double switchingNanos(Observation seen, int functions) {
        return FIXED_NANOS + functions * seen.switching;
    }

    /// What counting calls of these functions takes while it is on, as a part of the program's time.
    private double load(Observation seen, int[] functions) {
        double ticks = 0;
        for (int function : functions) {
            double rate = seen.rate.applyAsDouble(function);
            ticks += rate > 0 ? rate * cost.sliced(1e9 * rate) : 0;
        }
        return ticks / ticksPerNano;
    }

    /// Of how many calls of a function one is timed in its duration slices; a power of two, above 1.
    ///
    /// @param rate calls for each nanosecond of CPU time
    public int mean(Slicing slicing, double rate, double pace) {
        double room = TIMING_PART * slicing.lengthNanos() * ticksPerNano / cost.timedByChance(1) / slicing.step();
        double expected = rate * pace * slicing.lengthNanos();
        double wanted = expected / Math.clamp(room, TIMED_MIN, TIMED_MAX);
        return Integer.highestOneBit((int) Math.clamp(wanted * Math.sqrt(2), 2, 1 << 20));
    }
}
