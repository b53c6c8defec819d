package org.mdlagent.profiler.tier;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;
import org.mdlagent.profiler.figures.ProbeCost;

/// Chooses which calls of which function are timed: a knapsack problem over measured rates.
///
/// Calls of rare functions are all timed. Calls of frequent functions are all counted and timed by chance.
/// Functions that are too frequent even for that are sliced. The cost of a function is that of its calls; its
/// worth is its share of the program's time, if known, plus a constant. Functions are taken in the order of
/// worth per cost, as long as they fit into their tier's share of the budget (the greedy solution: Dantzig,
/// "Discrete-Variable Extremum Problems", Operations Research 5, 1957).
///
/// Hysteresis: a function may stay in its tier at a higher cost than that at which others enter.
///
/// A tier is represented by its mean: one of so many calls is timed ([org.mdlagent.fastinst.install.Tier]).
public final class TierChoice {
    public static final int SLICED = 0;
    public static final int EXACT = 1;

    /// Share of the budget for functions whose calls are all timed.
    static final double EXACT_PART = 0.3;

    /// Share of the budget for these and for counting all calls of others, without timing by chance.
    static final double COUNTED_PART = 0.65;

    /// Hysteresis: functions in a tier stay in it up to this multiple of its share, and up to the second
    /// multiple if rates cover a short time, because a program that shares its processors runs in bursts.
    private static final double STAY = 1.25;

    private static final double STAY_SHORT = 3;

    /// Hysteresis: in rankings, the cost of functions in a tier is divided by this.
    private static final double STAY_RANK = 2;
    private static final double SHORT_SECONDS = 0.3;

    /// Share of the budget for timing by chance, and limits of the calls of each function timed per second.
    private static final double BY_CHANCE_PART = 0.1;

    private static final double TIMED_MIN = 60;
    private static final double TIMED_MAX = 1000;

    /// Constant worth of each function, as a share of the program's time, and its limit for all functions
    /// together. Without the limit, a function with a tenth of the time would rank behind thousands of rare
    /// ones.
    private static final double WORTH = 1e-4;

    private static final double WORTH_OF_ALL = 0.1;

    /// Bits for a function's number in a key.
    private static final int NUMBER_BITS = 22;

    private static final long NUMBER_MASK = (1L << NUMBER_BITS) - 1;

    private final ProbeCost cost;
    private final double exactPart;

    /// By rank: cost per worth, with the function's number in the low bits, cheapest first.
    private long[] ranked = {};

    private int ranks;

    /// Number of functions that are called.
    private int called;

    /// @param exactPart share of the budget for functions whose calls are all timed
    TierChoice(ProbeCost cost, double exactPart) {
        this.cost = cost;
        this.exactPart = exactPart;
    }

    /// Chooses a tier for each function that is called; the others keep theirs.
    ///
    /// @param rates   by function: calls per second of the program's CPU time; below 0 for functions that
    ///     keep their tier
    /// @param shares  by function: its share of the program's time, 0 if unknown
    /// @param means   by function: its tier; overwritten by the chosen one
    /// @param income  what measuring may cost, in ticks per second of CPU time
    /// @param seconds that rates cover
    /// @param most    maximum number of functions whose calls can be recorded in threads' rows
    void choose(double[] rates, double[] shares, int[] means, double income, double seconds, int most) {
        double stay = seconds < SHORT_SECONDS ? STAY_SHORT : STAY;
        list(rates);
        rank(function -> price(exactTicks(rates[function]), means[function] == EXACT), shares);
        double spent = 0;
        int room = most;
        int left = 0;
        for (int rank = 0; rank < ranks; rank++) {
            int function = function(rank);
            double more = exactTicks(rates[function]);
            boolean inside = means[function] == EXACT;
            if (room > 0 && spent + more <= exactPart * income * (inside ? stay : 1)) {
                spent += more;
                room--;
                means[function] = EXACT;
            } else {
                ranked[left++] = ranked[rank];
            }
        }
        ranks = left;
        rank(function -> price(countedTicks(rates[function]), means[function] != SLICED), shares);
        count(spent, rates, means, income, stay, room);
    }

    /// Chooses the counted functions among the rest, in their order.
    private void count(double exact, double[] rates, int[] means, double income, double stay, int most) {
        double spent = exact;
        int counted = 0;
        for (int rank = 0; rank < ranks; rank++) {
            int function = function(rank);
            double more = countedTicks(rates[function]);
            boolean inside = means[function] != SLICED;
            if (counted < most && spent + more <= COUNTED_PART * income * (inside ? stay : 1)) {
                spent += more;
                ranked[counted++] = ranked[rank];
            } else {
                means[function] = SLICED;
            }
        }
        double part = BY_CHANCE_PART * income;
        double timed = Math.clamp(part / cost.timedByChance(1) / Math.max(1, counted), TIMED_MIN, TIMED_MAX);
        for (int rank = 0; rank < counted; rank++) {
            int function = function(rank);
            means[function] = ChanceMean.of(rates[function] / timed, means[function]);
        }
    }

    /// Lists the functions that are called.
    private void list(double[] rates) {
        if (ranked.length < rates.length) {
            ranked = new long[rates.length];
        }
        ranks = 0;
        for (int i = 0; i < rates.length; i++) {
            if (rates[i] > 0) {
                ranked[ranks++] = i;
            }
        }
        called = ranks;
    }

    /// Sorts the list by cost per worth, cheapest first.
    private void rank(IntToDoubleFunction ticks, double[] shares) {
        double worth = Math.min(WORTH, WORTH_OF_ALL / called);
        for (int rank = 0; rank < ranks; rank++) {
            int function = function(rank);
            double price = ticks.applyAsDouble(function) / (worth + shares[function]);
            // Positive doubles are in the order of their bits.
            ranked[rank] = Double.doubleToRawLongBits(price) & ~NUMBER_MASK | function;
        }
        Arrays.sort(ranked, 0, ranks);
    }

    private int function(int rank) {
        return (int) (ranked[rank] & NUMBER_MASK);
    }

    /// The cost used for ranking. It favours functions in the tier, because the rates of similar functions
    /// differ by chance.
    private static double price(double ticks, boolean inside) {
        return inside ? ticks / STAY_RANK : ticks;
    }

    private double exactTicks(double rate) {
        return rate * cost.exact(rate);
    }

    /// The cost of counting all calls of a function, in ticks per second.
    ///
    /// @param rate calls per second
    double countedTicks(double rate) {
        return rate * cost.counted(rate);
    }
}
