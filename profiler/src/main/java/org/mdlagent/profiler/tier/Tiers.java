package org.mdlagent.profiler.tier;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.estimate.ProbeCost;

/// The tiers of a session's functions ([Tier]): what their calls cost, how often they are called, and which tier
/// is the best for that ([TierChoice]).
///
/// A function's rate is its highest of late: what has been called often keeps the price of that for some
/// seconds. So a function that becomes hot loses its tier at once, and gets it back when it has been calm for a
/// while.
public final class Tiers {
    /// After so long without calls, a rate is taken to be a third of what it was.
    private static final double MEMORY_SECONDS = 2;

    /// Tiers are chosen so long after the first probes are in place, then after twice as long each time, up to a
    /// limit.
    private static final double FIRST_SECONDS = 0.02;

    private static final double SECONDS_MAX = 0.5;

    /// They are chosen at once where counted functions have cost so many times the budget since the last look.
    private static final double BURST = 1;

    /// But not before so many seconds for each function: a choice among many is dear. In the first seconds, what
    /// all begin with is dearer.
    private static final double SECONDS_OF_EACH = 1e-4;

    private static final double BURST_SECONDS_OF_EACH = 2e-5;
    private static final double FIRST_BURST_SECONDS_OF_EACH = 5e-6;
    private static final double YOUNG_SECONDS = 3;

    /// What a function's calls take is looked up where timing all of them took more than this part of the budget.
    private static final double DEAR_PART = 0.001;

    /// The part of the session's memory that threads' rows may take up, and what one takes with its chunks.
    private static final int ROWS_PART = 3;

    private static final int ROW_BYTES = 2500;

    /// Of a program that has taken less CPU time since, nothing new is known: tiers stay, for so many seconds at
    /// most. But the first choice is made when it is due: machine code limits what is spent from then on.
    private static final double CPU_SECONDS_MIN = 0.01;

    private static final double STAY_SECONDS_MAX = 5;

    /// A rate is of so many seconds of CPU time at least: a burst of some milliseconds is none. What keeps its
    /// tier for that reason costs what the budget has for its tier in so long, at most.
    private static final double RATE_SECONDS_MIN = 0.05;

    /// Of a function with fewer calls than these, a rate is of so many seconds of CPU time: what initializes a program
    /// is called some times in its first milliseconds, and then never again.
    private static final long FEW_CALLS = 100;

    private static final double RATE_SECONDS_MIN_FEW = 0.5;

    /// No clock of CPU time is finer.
    private static final double CPU_SECONDS_LEAST = 1e-6;

    private final long header;
    private final TimedTicks timed;
    private final double budget;
    private final double ticksPerNano;
    private final ProbeCost cost;
    private final TierChoice choice;

    /// By function: its mean; what recording one of its calls costs, in ticks, where all are counted, and 0 where
    /// it is sliced; and whether somebody has named its tier, so that it stays.
    private int[] means = {};

    private double[] prices = {};
    private boolean[] named = {};

    /// By function: its calls in a second of the program's CPU time; and its calls when that was last looked at.
    private double[] rates = {};

    private long[] callsAtChoice = {};

    /// Functions that were called, at the last choice.
    private int called;

    /// The calls of all functions; what those have cost that were all counted, in ticks; of that, what those have
    /// cost whose tier is named.
    private long calls;

    private double ticks;
    private double namedTicks;

    /// What the last two have of functions that were not then what they are now, or cost something else.
    private double ticksMoved;
    private double namedTicksMoved;

    /// When tiers were last chosen, and will be next; and the program's CPU time then.
    private long choiceTsc;

    private long startTsc;
    private long nextChoiceTsc;
    private long nextBurstTsc;
    private double secondsToNext = FIRST_SECONDS;
    private long cpuAtChoice;

    /// When functions were last looked at, and what counted ones had cost then.
    private long lookTsc;

    private double ticksAtLook;

    /// @param header address of the session's header
    /// @param budget the part of the program's time that measuring may cost
    public Tiers(ProbeCost cost, long header, double budget, double ticksPerNano) {
        this.cost = cost;
        this.header = header;
        timed = new TimedTicks(header);
        this.budget = budget;
        this.ticksPerNano = ticksPerNano;
        choice = new TierChoice(cost);
    }

    /// Makes room for functions that have come.
    public void grow(int functions) {
        means = Arrays.copyOf(means, functions);
        prices = Arrays.copyOf(prices, functions);
        named = Arrays.copyOf(named, functions);
        rates = Arrays.copyOf(rates, functions);
        callsAtChoice = Arrays.copyOf(callsAtChoice, functions);
        timed.grow(functions);
    }

    /// A function has a tier from its first call on.
    ///
    /// @param named whether it is to stay there
    public void begin(int function, Tier tier, boolean named) {
        means[function] = tier.mean();
        prices[function] = price(tier.mean(), rates[function]);
        this.named[function] = named;
    }

    /// A function that has had so many calls gets another tier.
    ///
    /// @param named whether it is to stay there
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

    /// Those that have had so many calls cost what suits their rates from now on.
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

    /// What recording one of a function's calls costs, in ticks, where all are counted.
    public double price(int function) {
        return prices[function];
    }

    public int mean(int function) {
        return means[function];
    }

    /// Adds up what has been called so far.
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

    /// What the calls of functions have cost while all were counted, in ticks.
    public double ticks() {
        return ticks;
    }

    /// The part of [#ticks] that is of functions whose tier is named, while it was the present one.
    public double namedTicks() {
        return namedTicks;
    }

    /// Functions are in place; when that is so for the first time, a choice will be due soon.
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

    /// When tiers are to be chosen again.
    public long nextChoice() {
        return nextChoiceTsc;
    }

    /// What slices say of rates.
    public interface SliceRates {
        /// @return calls for each nanosecond of CPU time; below 0 where the function is not sliced, and not a
        /// number
        ///         where slices do not tell yet
        double of(int function);
    }

    /// Chooses a tier for each function, when that is due.
    ///
    /// @param cpu      of the program so far, in nanoseconds
    /// @param lastPace for each nanosecond that has passed, of late
    /// @param part     of what the budget is for the CPU time, what there is for it
    /// @param calls    by function: so far
    /// @param clock    by function: its part of the program's CPU time, 0 where that is not known; asked for once
    /// @return by function: the mean of its tier; null when it is not due
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

    /// Calls in a second of CPU time.
    private static double rate(long calls, double cpuSeconds) {
        return calls / Math.max(cpuSeconds, calls < FEW_CALLS ? RATE_SECONDS_MIN_FEW : RATE_SECONDS_MIN);
    }

    /// By function: its part of the time of a thread, as its timed calls tell, but for those that cost next to
    /// nothing, or as the clock tells.
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

    /// Functions that there is memory for in the rows of all threads.
    private int rowsMost() {
        long limit = Memory.getLong(header + HeaderDescriptor.LIMIT);
        long threads = Math.max(1, Memory.getInt(header + HeaderDescriptor.THREAD_COUNT));
        return (int) Math.min(Integer.MAX_VALUE, limit / ROWS_PART / ROW_BYTES / threads);
    }

    /// A function's calls for each nanosecond of CPU time, as it was at the last choice.
    public double rate(int function) {
        return rates[function] / 1e9;
    }
}
