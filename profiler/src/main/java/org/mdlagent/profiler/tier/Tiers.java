package org.mdlagent.profiler.tier;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.figures.ProbeCost;

/// The tiers of a session's functions ([Tier]): the cost and the rate of their calls, and the best tier for
/// them ([TierChoice]).
///
/// A function's rate is its recent maximum, which decays over some seconds. So a function that becomes hot
/// loses its tier at once, and regains it after it has been calm for a while.
public final class Tiers {
    /// Decay time constant of a rate without calls.
    private static final double MEMORY_SECONDS = 2;

    /// Interval from the first probes to the first choice. It doubles after each choice, up to a limit.
    private static final double FIRST_SECONDS = 0.02;

    private static final double SECONDS_MAX = 0.5;

    /// Tiers are chosen at once if counted functions have cost this multiple of the budget since the last
    /// look.
    private static final double BURST = 1;

    /// Minimum interval per function: a choice among many is expensive. Bursts have a shorter one, and in the
    /// first seconds an even shorter one, because the initial tiers are more expensive than a choice.
    private static final double SECONDS_OF_EACH = 1e-4;

    private static final double BURST_SECONDS_OF_EACH = 2e-5;
    private static final double FIRST_BURST_SECONDS_OF_EACH = 5e-6;
    private static final double YOUNG_SECONDS = 3;

    /// The duration of a function's calls is looked up if timing all of them would take more than this share
    /// of the budget.
    private static final double DEAR_PART = 0.001;

    /// Threads' rows may take 1 / this of the session's memory; and the size of a row with its chunks.
    private static final int ROWS_PART = 3;

    private static final int ROW_BYTES = 2500;

    /// Minimum CPU time for new information: with less, tiers are kept, up to a maximum time. The first
    /// choice is made on schedule, because machine code limits the cost only from then on.
    private static final double CPU_SECONDS_MIN = 0.01;

    private static final double STAY_SECONDS_MAX = 5;

    /// Rates are averaged over at least this CPU time, because a burst of some milliseconds is not a rate. A
    /// function that keeps its tier for that reason costs at most its tier's budget for this time.
    private static final double RATE_SECONDS_MIN = 0.05;

    /// Functions with fewer calls have their rate averaged over at least the second value of CPU time:
    /// initialization code is called a few times in the first milliseconds and never again.
    private static final long FEW_CALLS = 100;

    private static final double RATE_SECONDS_MIN_FEW = 0.5;

    /// Resolution limit of CPU clocks.
    private static final double CPU_SECONDS_LEAST = 1e-6;

    private final long header;
    private final TimedTicks timed;
    private final double budget;
    private final double ticksPerNano;
    private final ProbeCost cost;
    private final TierChoice choice;

    /// By function: its mean; the cost of recording one of its calls, in ticks, 0 if it is sliced; and
    /// whether its tier was named by the user, so that it is kept.
    private int[] means = {};

    private double[] prices = {};
    private boolean[] named = {};

    /// By function: its calls per second of the program's CPU time; and its calls at the last choice.
    private double[] rates = {};

    private long[] callsAtChoice = {};

    /// Functions that were called, at the last choice.
    private int called;

    /// The calls of all functions; the cost in ticks of functions while all their calls were counted; of
    /// that, the cost of functions with a named tier.
    private long calls;

    private double ticks;
    private double namedTicks;

    /// Corrections of these two costs for functions whose tier or price has changed.
    private double ticksMoved;
    private double namedTicksMoved;

    /// Times of the last and the next choice, and the program's CPU time at the last one.
    private long choiceTsc;

    private long startTsc;
    private long nextChoiceTsc;
    private long nextBurstTsc;
    private double secondsToNext = FIRST_SECONDS;
    private long cpuAtChoice;

    /// Time of the last look, and the cost of counted functions at that time.
    private long lookTsc;

    private double ticksAtLook;

    /// @param header address of the session's header
    /// @param budget the share of the program's time that measuring may cost
    public Tiers(ProbeCost cost, long header, double budget, double ticksPerNano) {
        this.cost = cost;
        this.header = header;
        timed = new TimedTicks(header);
        this.budget = budget;
        this.ticksPerNano = ticksPerNano;
        // A slow call is seen only if its function is exact.
        boolean slow = (Memory.getInt(header + HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_SLOW) != 0;
        choice = new TierChoice(cost, slow ? TierChoice.COUNTED_PART : TierChoice.EXACT_PART);
    }

    /// Makes room for new functions.
    public void grow(int functions) {
        means = Arrays.copyOf(means, functions);
        prices = Arrays.copyOf(prices, functions);
        named = Arrays.copyOf(named, functions);
        rates = Arrays.copyOf(rates, functions);
        callsAtChoice = Arrays.copyOf(callsAtChoice, functions);
        timed.grow(functions);
    }

    /// Sets a function's initial tier, at its first call.
    ///
    /// @param named whether it is to stay there
    public void begin(int function, Tier tier, boolean named) {
        means[function] = tier.mean();
        prices[function] = price(tier.mean(), rates[function]);
        this.named[function] = named;
    }

    /// Moves a function to another tier.
    ///
    /// @param named whether it is to stay there
    /// @param calls of the function so far
    public void move(int function, Tier tier, boolean named, long calls) {
        double spent = prices[function] * calls;
        begin(function, tier, named);
        ticksMoved += spent - prices[function] * calls;
    }

    private double price(int mean, double rate) {
        return switch (mean) {
            case TierChoice.SLICED -> 0;
            case TierChoice.EXACT -> cost.exact(rate);
            default -> cost.counted(rate) + cost.timedByChance(1.0 / mean);
        };
    }

    /// Updates prices to the current rates.
    ///
    /// @param calls by function: so far
    private void reprice(long[] calls) {
        for (int i = 0; i < calls.length; i++) {
            double price = price(means[i], rates[i]);
            double more = (prices[i] - price) * calls[i];
            ticksMoved += more;
            namedTicksMoved += named[i] ? more : 0;
            prices[i] = price;
        }
    }

    /// Whether all calls of a function are counted.
    public boolean isCounted(int function) {
        return prices[function] > 0;
    }

    /// The cost of recording one call of a function whose calls are all counted, in ticks.
    public double price(int function) {
        return prices[function];
    }

    public int mean(int function) {
        return means[function];
    }

    /// Adds up calls and costs so far.
    public void count(long[] calls) {
        this.calls = 0;
        ticks = ticksMoved;
        namedTicks = namedTicksMoved;
        for (int i = 0; i < calls.length; i++) {
            double price = prices[i];
            this.calls += calls[i];
            ticks += price * calls[i];
            namedTicks += named[i] ? price * calls[i] : 0;
        }
    }

    /// The calls of all functions.
    public long calls() {
        return calls;
    }

    /// The cost in ticks of functions while all of their calls were counted.
    public double ticks() {
        return ticks;
    }

    /// The part of [#ticks] of functions while they had their present, named tier.
    public double namedTicks() {
        return namedTicks;
    }

    /// Functions are in place; the first time, a choice becomes due soon.
    public void start(long now) {
        if (choiceTsc == 0) {
            startTsc = now;
            choiceTsc = now;
            lookTsc = now;
            nextChoiceTsc = now + ticks(secondsToNext);
        }
    }

    private long ticks(double seconds) {
        return (long) (1e9 * seconds * ticksPerNano);
    }

    /// Time of the next choice.
    public long nextChoice() {
        return nextChoiceTsc;
    }

    /// Rates by slices.
    public interface SliceRates {
        /// @return calls per nanosecond of CPU time; below 0 if the function is not sliced, NaN if slices
        ///     have no result yet
        double of(int function);
    }

    /// Chooses a tier for each function, when that is due.
    ///
    /// @param cpu      of the program so far, in nanoseconds
    /// @param lastPace recent CPU time per nanosecond of elapsed time
    /// @param part     ratio of the available budget to its share of the CPU time
    /// @param calls    by function: so far
    /// @param clock    by function: its share of the program's CPU time by samples, 0 if unknown; called once
    ///     per function
    /// @return by function: the mean of its tier; null when no choice is due
    public int @Nullable [] choose(
            long now,
            long cpu,
            double lastPace,
            double part,
            long[] calls,
            SliceRates slices,
            Supplier<IntToDoubleFunction> clock) {
        boolean burst = ticks - ticksAtLook > BURST * budget * lastPace * (now - lookTsc);
        lookTsc = now;
        ticksAtLook = ticks;
        if (burst ? now < nextBurstTsc : now < nextChoiceTsc) {
            return null;
        }
        double seconds = Math.max(1, now - choiceTsc) / ticksPerNano / 1e9;
        double cpuSeconds = (cpu - cpuAtChoice) / 1e9;
        secondsToNext = Math.max(Math.min(2 * secondsToNext, SECONDS_MAX), SECONDS_OF_EACH * calls.length);
        nextChoiceTsc = now + ticks(secondsToNext);
        boolean young = now - startTsc < ticks(YOUNG_SECONDS);
        nextBurstTsc = now + ticks((young ? FIRST_BURST_SECONDS_OF_EACH : BURST_SECONDS_OF_EACH) * calls.length);
        boolean first = cpuAtChoice == 0;
        if (!first && cpuSeconds < CPU_SECONDS_MIN && seconds < STAY_SECONDS_MAX) {
            return null;
        }
        choiceTsc = now;
        cpuAtChoice = cpu;
        return choose(seconds, Math.max(cpuSeconds, CPU_SECONDS_LEAST), part * budget, calls, slices, clock.get());
    }

    private int[] choose(
            double seconds,
            double cpuSeconds,
            double budget,
            long[] calls,
            SliceRates slices,
            IntToDoubleFunction clock) {
        double kept = Math.exp(-seconds / MEMORY_SECONDS);
        double[] free = new double[calls.length];
        double taken = 0;
        for (int i = 0; i < calls.length; i++) {
            double seen = slices.of(i);
            if (Double.isNaN(seen)) {
                free[i] = -1;
                continue;
            }
            double rate = seen >= 0 ? seen * 1e9 : rate(calls[i] - callsAtChoice[i], cpuSeconds);
            rates[i] = Math.max(rate, kept * rates[i]);
            free[i] = named[i] ? -1 : rates[i];
            taken += named[i] ? prices[i] * rates[i] : 0;
        }
        called = (int) Arrays.stream(rates).filter(rate -> rate > 0).count();
        System.arraycopy(calls, 0, callsAtChoice, 0, calls.length);
        reprice(calls);
        int[] chosen = means.clone();
        double income = budget * ticksPerNano * 1e9;
        choice.choose(
                free,
                shares(income, calls, clock),
                chosen,
                Math.max(0, income - taken),
                Math.min(seconds, cpuSeconds),
                rowsMost());
        return chosen;
    }

    /// Calls per second of CPU time.
    private static double rate(long calls, double cpuSeconds) {
        return calls / Math.max(cpuSeconds, calls < FEW_CALLS ? RATE_SECONDS_MIN_FEW : RATE_SECONDS_MIN);
    }

    /// By function: its share of a thread's time, by its timed calls or by CPU samples, whichever is more.
    /// Timed calls are not looked up for functions that cost next to nothing.
    private double[] shares(double income, long[] calls, IntToDoubleFunction clock) {
        double[] shares = new double[calls.length];
        timed.forgetSome();
        for (int i = 0; i < calls.length; i++) {
            shares[i] = clock.applyAsDouble(i);
            if (cost.exact(rates[i]) * rates[i] > DEAR_PART * income) {
                double part = rates[i] * timed.ofEach(i, calls[i]) / (1e9 * ticksPerNano);
                shares[i] = Math.clamp(part, shares[i], 1);
            }
        }
        return shares;
    }

    /// Whether there is memory for the rows of all functions that are called, in all threads.
    public boolean hasRoom() {
        return called <= rowsMost();
    }

    /// Maximum number of functions whose rows in all threads fit into memory.
    private int rowsMost() {
        long limit = Memory.getLong(header + HeaderDescriptor.LIMIT);
        long threads = Math.max(1, Memory.getInt(header + HeaderDescriptor.THREAD_COUNT));
        return (int) Math.min(Integer.MAX_VALUE, limit / ROWS_PART / ROW_BYTES / threads);
    }

    /// A function's calls per nanosecond of CPU time at the last choice.
    public double rate(int function) {
        return rates[function] / 1e9;
    }
}
