package org.mdlagent.profiler.tier;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;
import org.mdlagent.profiler.estimate.ProbeCost;

/// Which calls of which function are timed: a knapsack over measured rates.
///
/// What is rare is timed wholly, what is frequent is counted wholly and timed by chance, and what is too frequent even
/// for that is left to slices. A function costs what it is called. It is worth its part of the program's time, as far
/// as that is known, and something by itself. Those that are worth the most for what they cost come first, as long as
/// they fit into their tier's part of the budget (the greedy solution: Dantzig, "Discrete-Variable Extremum Problems",
/// Operations Research 5, 1957).
///
/// A function stays in its tier up to a higher mark than that at which others enter, so that it does not go to and fro.
///
/// A tier is told by its mean: of how many calls one is timed ([org.mdlagent.fastinst.install.Tier]).
public final class TierChoice {
    public static final int SLICED = 0;
    public static final int EXACT = 1;

    /// The part of the budget up to which functions are timed wholly.
    private static final double EXACT_PART = 0.3;

    /// The same with those of which all calls are counted, but for timing some of these.
    private static final double COUNTED_PART = 0.65;

    /// Those in a tier stay in it up to so many times its part, and up to more where rates are of a short time: a
    /// program that shares its processors runs by fits and starts.
    private static final double STAY = 1.25;

    private static final double STAY_SHORT = 3;

    /// Of those in a tier, what they cost is taken to be so many times less when they are compared.
    private static final double STAY_RANK = 2;
    private static final double SHORT_SECONDS = 0.3;

    /// The part of the budget for that, and how many calls of each are timed in a second.
    private static final double BY_CHANCE_PART = 0.1;

    private static final double TIMED_MIN = 60;
    private static final double TIMED_MAX = 1000;

    /// What is known of a function is worth as much as this part of the program's time, whatever its own is; but of all
    /// functions together no more than the other part. Else one with a tenth of the time came behind thousands of
    /// rare ones.
    private static final double WORTH = 1e-4;

    private static final double WORTH_OF_ALL = 0.1;

    /// Bits for a function's number in a key.
    private static final int NUMBER_BITS = 22;

    private static final long NUMBER_MASK = (1L << NUMBER_BITS) - 1;

    private final ProbeCost cost;

    /// By rank: what functions cost for what they are worth, with their numbers, the cheapest first.
    private long[] ranked = {};

    private int ranks;

    /// Functions that are called.
    private int called;

    TierChoice(ProbeCost cost) {
        this.cost = cost;
    }

    /// Chooses a tier for each function that is called; the others keep theirs.
    ///
    /// @param rates   by function: calls in a second of the program's CPU time; below 0 for those that are to stay
    /// @param shares  by function: its part of the program's time, 0 where that is not known
    /// @param means   by function: its tier, which becomes the chosen one
    /// @param income  what may be spent on measuring, in ticks for each second of CPU time
    /// @param seconds that rates are of
    /// @param most    functions that there is memory to record calls of in threads' rows
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
            if (room > 0 && spent + more <= EXACT_PART * income * (inside ? stay : 1)) {
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

    /// The same of those that are left, in their order.
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

    /// Those that are called.
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

    /// Sorts those in the list, first what is worth the most for what it costs.
    private void rank(IntToDoubleFunction ticks, double[] shares) {
        double worth = Math.min(WORTH, WORTH_OF_ALL / called);
        for (int rank = 0; rank < ranks; rank++) {
            int function = function(rank);
            double price = ticks.applyAsDouble(function) / (worth + shares[function]);
            // Numbers above 0 are in the order of their bits.
            ranked[rank] = Double.doubleToRawLongBits(price) & ~NUMBER_MASK | function;
        }
        Arrays.sort(ranked, 0, ranks);
    }

    private int function(int rank) {
        return (int) (ranked[rank] & NUMBER_MASK);
    }

    /// What a function is ranked by: of many that are alike, rates differ by chance.
    private static double price(double ticks, boolean inside) {
        return inside ? ticks / STAY_RANK : ticks;
    }

    private double exactTicks(double rate) {
        return rate * cost.exact(rate);
    }

    /// What counting all calls of a function takes in a second.
    ///
    /// @param rate calls a second
    double countedTicks(double rate) {
        return rate * cost.counted(rate);
    }
}
