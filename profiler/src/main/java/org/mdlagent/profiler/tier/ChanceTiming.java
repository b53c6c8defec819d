package org.mdlagent.profiler.tier;

import java.util.Arrays;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.profiler.estimate.ProbeCost;

/// Which calls are timed of functions that are too frequent for the budget: one of some, by chance, while their probes
/// are on, as machine code does it for functions whose calls are all counted.
///
/// So a timed call finds the code around it warm, whatever the agent does, and durations go into the threads' rows.
/// What a call stands for is told before it begins: where windows choose, its mean times the part of time that
/// windows have stood for of late. So no single call ever stands for a whole window.
public final class ChanceTiming {
    /// Timing takes this part of a window, about, and this many calls of a function at most.
    private static final double WINDOW_PART = 0.05;

    private static final int TIMED_MAX = 64;
    private static final int TIMED_MIN = 2;

    /// Of an open function so many calls are timed in a second at most, and of all of them what this part of the
    /// budget pays for.
    private static final double OPEN_TIMED = 60;

    private static final double OPEN_PART = 0.1;

    /// What a window stands for is smoothed: this part is the newest one's. A first window is taken to stand for so
    /// many times its own time.
    private static final double STANDS_WEIGHT = 0.3;

    private static final double STANDS_FIRST = 10;
    private static final double STANDS_MAX = 100_000;

    private final Probes probes;

    /// Timed calls that a window has time for, and that the budget pays for in a second of a thread.
    private final double windowTimed;

    private final double openTimed;

    /// Functions that were left to windows at last, open ones among them.
    private int left = 1;

    /// By function: its mean, 0 where its calls are timed otherwise; and how much time its windows stand for.
    private int[] means = {};

    private double[] stands = {};

    /// @param windowTicks how long a window lasts
    /// @param income      what may be spent on measuring, in ticks for each second of a thread
    public ChanceTiming(Probes probes, ProbeCost cost, double windowTicks, double income) {
        this.probes = probes;
        windowTimed = WINDOW_PART * windowTicks / cost.timedByChance(1);
        openTimed = OPEN_PART * income / cost.timedByChance(1);
    }

    /// How many functions share what is left of the budget.
    public void setLeft(int functions) {
        left = Math.max(1, functions);
    }

    /// Makes room for functions that have come.
    public void grow(int functions) {
        int before = means.length;
        means = Arrays.copyOf(means, functions);
        stands = Arrays.copyOf(stands, functions);
        Arrays.fill(stands, before, functions, STANDS_FIRST);
    }

    /// Whether a function's calls are timed so.
    public boolean times(int function) {
        return means[function] != 0;
    }

    /// Of how many calls one is timed while probes are on.
    public int mean(int function) {
        return means[function];
    }

    /// They are timed otherwise from now on.
    public void forget(int function) {
        means[function] = 0;
    }

    /// The function's probes stay on.
    ///
    /// @param rate calls a second, 0 when that is not known
    public void open(int function, double rate) {
        int mean = ChanceMean.of(rate / Math.min(OPEN_TIMED, openTimed / left), 0);
        means[function] = mean;
        probes.timeByChance(function, mean, mean);
    }

    /// The function's probes are on for a turn.
    ///
    /// @param rate      calls a second
    /// @param functions that share it
    /// @param stands    turns that this one stands for
    public void turn(int function, double rate, int functions, double stands) {
        this.stands[function] = Math.clamp(stands, 1, STANDS_MAX);
        time(function, rate / Math.min(OPEN_TIMED, openTimed / functions));
    }

    /// Windows choose the function's calls.
    ///
    /// @param calls   in a window, as it is expected
    /// @param windows that are open at a time
    public void window(int function, double calls, int windows) {
        double wanted = Math.clamp(windowTimed / Math.max(1, windows), TIMED_MIN, TIMED_MAX);
        time(function, calls / wanted);
    }

    private void time(int function, double wanted) {
        int present = means[function];
        means[function] = ChanceMean.of(wanted, present);
        if (means[function] == present) {
            probes.setWeight(function, weight(function));
        } else {
            probes.timeByChance(function, means[function], weight(function));
        }
    }

    /// A window has ended.
    ///
    /// @param part of the time that it stands for, above 0
    public void endWindow(int function, double part) {
        double newest = Math.clamp(1 / part, 1, STANDS_MAX);
        stands[function] += STANDS_WEIGHT * (newest - stands[function]);
    }

    /// Above the mean: by that, readers tell functions that windows look at from others.
    private int weight(int function) {
        return Math.max(means[function] + 1, (int) Math.round(means[function] * stands[function]));
    }
}
