package org.mdlagent.profiler.policy;

import java.util.Arrays;
import java.util.Comparator;
import java.util.function.IntPredicate;
import java.util.function.IntToDoubleFunction;
import org.mdlagent.profiler.figures.ProbeCost;

/// Decides when the probes of sliced functions are on. Sliced functions are too frequent for their probes to
/// stay on within the budget.
///
/// *Count slices* only count, because that costs least. As many functions are on together as the limit on the
/// program's slowdown allows. *Duration slices* time the calls of a few functions while all others are off,
/// so that a caller's duration does not contain its callees' probes. Functions with a large share of the CPU
/// time are sliced more often.
///
/// Slices of frequent functions are short and many; slices of rare ones are long and few. A slice lasts as
/// long as some hundred calls take, so that switching probes costs less than counting. If there are so few
/// functions that switching costs next to nothing, all slices are short and many.
public final class SlicePolicy {
    /// Functions whose probes are on in equal slices of time.
    ///
    /// @param functions   their numbers
    /// @param step        how many of them are on in one slice; the next slice has the next ones
    /// @param timed       whether calls are timed, or only counted
    /// @param periodNanos time from one slice to the next
    /// @param lengthNanos of a slice
    public record Slicing(int[] functions, int step, boolean timed, double periodNanos, double lengthNanos) {
        static Slicing none(boolean timed) {
            return new Slicing(new int[0], 0, timed, 0, 0);
        }
    }

    /// Share of the budget for functions whose probes stay on while others are sliced.
    public static final double PART_OF_OTHERS = 0.56;

    /// Shares of the budget: for count slices, for duration slices, and for the agent to open and close slices. With
    /// the agent's looks ([LookInterval]) and samples of the CPU time they add up to one and a half: with less, the
    /// estimates of frequent functions are several times as far off.
    static final double COUNT_PART = 0.25;

    static final double TIME_PART = 0.12;
    static final double SWITCH_PART = 0.25;

    /// How often the agent wakes up for a slice.
    static final int COUNT_WAKINGS = 2;

    static final int TIME_WAKINGS = 3;

    /// Upper limit of the duty cycle of count slices, as a multiple of the budget: 5 % at a budget of 1 %. A
    /// higher duty cycle adds little information.
    static final double DUTY_OF_BUDGET = 5;

    static final double DUTY_MAX = 0.5;

    /// Upper limit of the predicted slowdown while counting is on; above it, the functions of a group take
    /// turns.
    static final double LOAD_MAX = 0.2;

    static final int GROUPS_MAX = 8;

    /// Minimum rate of a frequent function, in calls per second of CPU time: 25 calls in a slice.
    static final double FREQUENT = 50_000;

    /// Share of the count-slice budget for frequent functions.
    static final double FREQUENT_PART = 0.75;

    /// The shortest periods and slices in nanoseconds, for frequent functions and for the others.
    static final double PERIOD_NANOS = 20e6;

    static final double PERIOD_NANOS_RARE = 200e6;

    /// Factor by which periods are shorter when the cost is not limited.
    static final double UNLIMITED = 10;
    static final double LENGTH_NANOS = 300e3;
    static final double LENGTH_NANOS_RARE = 3e6;

    /// Warm-up of duration slices: how long probes are on before calls are timed. The code, stubs and counters just
    /// switched on are in no cache, so the first calls take longer.
    public static final double SETTLING_NANOS = 150e3;

    /// Duration slices of frequent functions and those with much time are short: many of them meet more phases of
    /// the program than few long ones, at the same cost. Calls must end within the slice.
    static final double TIMED_LENGTH_NANOS = 300e3;

    static final double TIMED_LENGTH_NANOS_OTHERS = 5e6;

    /// Upper limits of the functions timed together: their number, and the slowdown by counting their calls. Calls
    /// of callees that are timed together with their caller prolong its durations.
    static final int TIMED_TOGETHER = 16;

    static final double TIMED_LOAD_MAX = 0.05;

    /// Functions with at least this share of the CPU time are timed more often.
    static final double MUCH_TIME = 0.001;

    /// Approximate share of a duration slice that timing takes, and the limits of timed calls per function.
    static final double TIMING_PART = 0.05;

    static final double TIMED_MIN = 2;
    static final double TIMED_MAX = 64;

    /// The least sampling factor of a frequent function. It may be called in bursts: then, if half of its calls were
    /// timed, so would be half of its callees', which prolongs it.
    static final int MEAN_MIN = 8;

    private final ProbeCost cost;
    private final double budget;
    private final double ticksPerNano;

    /// @param budget the share of the program's time that measuring may cost, above 0 and up to 1
    public SlicePolicy(ProbeCost cost, double budget, double ticksPerNano) {
        this.cost = cost;
        this.budget = budget;
        this.ticksPerNano = ticksPerNano;
    }

    /// The observed state of the program.
    ///
    /// @param functions that are sliced
    /// @param rate      by function: calls per nanosecond of CPU time
    /// @param price     by function: predicted ticks to count one of its calls
    /// @param share     by function: its share of the CPU time, 0 if unknown
    /// @param timeable  by function: whether there is memory for its durations
    /// @param pace      CPU time per nanosecond of wall time while the program runs, 1 or more
    /// @param used      recent CPU time per nanosecond of wall time, idle time included
    /// @param waking    nanoseconds of the agent's CPU time to sleep and wake up once
    /// @param switching nanoseconds to open and close a slice, per function in it
    public record Observation(
            int[] functions,
            IntToDoubleFunction rate,
            IntToDoubleFunction price,
            IntToDoubleFunction share,
            IntPredicate timeable,
            double pace,
            double used,
            double waking,
            double switching) {}

    /// The slicing until the next plan.
    ///
    /// @param frequent frequent functions, counted in short slices
    /// @param rare     other functions, counted in long slices
    /// @param dear     functions with a large share of the CPU time, timed often
    /// @param brief    other frequent functions, timed now and then in short slices
    /// @param others   the rest, timed now and then in long slices
    public record Plan(Slicing frequent, Slicing rare, Slicing dear, Slicing brief, Slicing others) {}

    /// @return the plan for this state
    public Plan plan(Observation seen) {
        // With more slices, fewer phases of the program fall between them.
        boolean affordable = countingNanos(seen, seen.functions.length) <= SWITCH_PART * income(seen) * PERIOD_NANOS;
        IntPredicate often = i -> affordable || isFrequent(seen, i);
        int[] frequent = which(seen, often);
        int[] rare = which(seen, often.negate());
        int[] dear = which(seen, i -> seen.timeable.test(i) && seen.share.applyAsDouble(i) >= MUCH_TIME);
        IntPredicate cheap = i -> seen.timeable.test(i) && seen.share.applyAsDouble(i) < MUCH_TIME;
        int[] brief = which(seen, cheap.and(i -> isFrequent(seen, i)));
        int[] others = which(seen, cheap.and(i -> !isFrequent(seen, i)));
        boolean both = frequent.length > 0 && rare.length > 0;
        double most = COUNT_PART * (both ? FREQUENT_PART : 1);
        double rest = both ? COUNT_PART - most : COUNT_PART;
        return new Plan(
                counted(seen, frequent, most, PERIOD_NANOS, LENGTH_NANOS),
                counted(seen, rare, rest, PERIOD_NANOS_RARE, LENGTH_NANOS_RARE),
                timed(seen, dear, 0.6, TIMED_LENGTH_NANOS),
                timed(seen, brief, 0.25, TIMED_LENGTH_NANOS),
                timed(seen, others, 0.15, TIMED_LENGTH_NANOS_OTHERS));
    }

    private static boolean isFrequent(Observation seen, int function) {
        return 1e9 * seen.rate.applyAsDouble(function) >= FREQUENT;
    }

    private static int[] which(Observation seen, IntPredicate belongs) {
        int[] which = new int[seen.functions.length];
        int count = 0;
        for (int function : seen.functions) {
            if (belongs.test(function)) {
                which[count++] = function;
            }
        }
        return Arrays.copyOf(which, count);
    }

    private Slicing counted(Observation seen, int[] functions, double part, double shortestPeriod, double shortest) {
        if (functions.length == 0) {
            return Slicing.none(false);
        }
        double load = load(seen, functions);
        int groups = Math.clamp((int) Math.ceil(load / LOAD_MAX), 1, Math.min(GROUPS_MAX, functions.length));
        int step = Math.ceilDiv(functions.length, groups);
        double duty = Math.min(DUTY_MAX, Math.min(DUTY_OF_BUDGET * budget, part * budget / Math.max(load, 1e-9)));
        double affordable = groups * countingNanos(seen, step) / (part * SWITCH_PART / COUNT_PART * income(seen));
        double longEnough = Math.max(shortestPeriod / (budget < 1 ? 1 : UNLIMITED), affordable);
        double length = Math.max(shortest, duty * longEnough);
        double period = Math.max(longEnough, length / duty);
        return new Slicing(apart(functions, groups), step, false, period / groups, length);
    }

    /// Puts neighbours in a file, which call each other, into different groups.
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

    /// A frequent function is timed with few others, and not with its equals: functions that are called as often
    /// as each other may call each other.
    private Slicing timed(Observation seen, int[] functions, double part, double length) {
        if (functions.length == 0) {
            return Slicing.none(true);
        }
        double all = load(seen, functions);
        int most = Math.min(functions.length, TIMED_TOGETHER);
        int step = Math.clamp((int) (functions.length * TIMED_LOAD_MAX / Math.max(all, 1e-9)), 1, most);
        double load = all * step / functions.length + TIMING_PART;
        double duty = Math.min(DUTY_MAX, part * TIME_PART * budget / load);
        double period = Math.max(
                (SETTLING_NANOS + length) / duty,
                (TIME_WAKINGS * seen.waking + step * seen.switching) / (part * SWITCH_PART / 2 * income(seen)));
        int[] byRate = Arrays.stream(functions)
                .boxed()
                .sorted(Comparator.comparingDouble(function -> -seen.rate.applyAsDouble(function)))
                .mapToInt(Integer::intValue)
                .toArray();
        return new Slicing(apart(byRate, Math.ceilDiv(functions.length, step)), step, true, period, length);
    }

    /// The share of wall time that the agent may spend.
    private double income(Observation seen) {
        return budget * Math.max(0.1, seen.used);
    }

    /// The agent's CPU time for a count slice.
    private static double countingNanos(Observation seen, int functions) {
        return COUNT_WAKINGS * seen.waking + functions * seen.switching;
    }

    /// The predicted share of the program's time that counting these functions takes while it is on.
    private double load(Observation seen, int[] functions) {
        double ticks = 0;
        for (int function : functions) {
            double rate = seen.rate.applyAsDouble(function);
            ticks += rate > 0 ? rate * seen.price.applyAsDouble(function) : 0;
        }
        return ticks / ticksPerNano;
    }

    /// The sampling factor of a function's duration slices: one of so many calls is timed. A power of two,
    /// above 1.
    ///
    /// @param rate calls per nanosecond of CPU time
    public int mean(Slicing slicing, double rate, double pace) {
        double room = TIMING_PART * slicing.lengthNanos() * ticksPerNano / cost.timedByChance(1) / slicing.step();
        double expected = rate * pace * slicing.lengthNanos();
        double wanted = expected / Math.clamp(room, TIMED_MIN, TIMED_MAX);
        int least = 1e9 * rate >= FREQUENT ? MEAN_MIN : 2;
        return Integer.highestOneBit((int) Math.clamp(wanted * Math.sqrt(2), least, 1 << 20));
    }
}
