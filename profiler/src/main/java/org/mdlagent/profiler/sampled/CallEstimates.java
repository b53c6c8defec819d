package org.mdlagent.profiler.sampled;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.fastinst.Probes;

/// By function: its calls so far, counted while it is *open*, and estimated while it is *windowed* ([CallEstimate]).
///
/// CPU times are in nanoseconds.
final class CallEstimates {
    /// They are written down so often at most, for each function that there is.
    private static final double PUBLISHED_NANOS_OF_EACH = 100e3;

    private final Probes probes;
    private final Readings readings;
    private final long header;
    private final double windowNanos;

    /// Null of functions that were not called yet.
    private @Nullable CallEstimate[] estimates = {};

    private boolean[] windowed = {};

    /// By windowed function: calls for each nanosecond of CPU time, smoothed; not a number while it is not known.
    private double[] rates = {};

    /// By open function: calls that are in its estimate; and whether that has changed since it was written down.
    private long[] counted = {};

    private boolean[] changed = {};

    /// By windowed function: the program's progress when calls of it were last timed.
    private double[] timed = {};

    private long publishTsc;

    /// @param windowNanos how long a window's calls are counted
    CallEstimates(Probes probes, Readings readings, long header, double windowNanos) {
        this.probes = probes;
        this.readings = readings;
        this.header = header;
        this.windowNanos = windowNanos;
    }

    /// Makes room for functions that have come.
    void grow(int functions) {
        estimates = Arrays.copyOf(estimates, functions);
        windowed = Arrays.copyOf(windowed, functions);
        rates = Arrays.copyOf(rates, functions);
        counted = Arrays.copyOf(counted, functions);
        changed = Arrays.copyOf(changed, functions);
        timed = Arrays.copyOf(timed, functions);
    }

    private CallEstimate estimate(int function) {
        CallEstimate known = estimates[function];
        if (known == null) {
            known = new CallEstimate();
            estimates[function] = known;
        }
        return known;
    }

    boolean isWindowed(int function) {
        return windowed[function];
    }

    /// Of a windowed function: calls for each nanosecond of CPU time; not a number while that is not known.
    double rate(int function) {
        return rates[function];
    }

    /// @param calls of an open function, so far
    /// @return those that are not in its estimate yet
    long fresh(int function, long calls) {
        return calls - counted[function];
    }

    /// Adds what is fresh.
    ///
    /// @param nanos CPU time of the program since the last look
    void count(int function, long calls, double nanos) {
        estimate(function).addExact(fresh(function, calls), readings.progress(), nanos);
        counted[function] = calls;
        changed[function] = true;
    }

    /// The function is windowed from now on.
    ///
    /// @param rate  as far as that is known, where it was not counted of late
    /// @param known whether a window is not needed to know how often it is called
    void startWindows(int function, double now, double rate, boolean known) {
        windowed[function] = true;
        double late = estimate(function).lateRate(readings.progress());
        double best = late > 0 ? late : rate;
        rates[function] = known ? best : Double.NaN;
        timed[function] = now;
        estimate(function).startWindows(now, best, windowNanos);
    }

    /// @param now      its end
    /// @param calls    in the window
    /// @param slowdown how much longer than without it the program took for them, as predicted
    /// @param observed CPU time of the program in the window
    /// @param weight   of the window's rate, beside what is known of it: above 0 and up to 1
    /// @param block    of so many windows one estimate is made
    void addWindow(int function, double now, double calls, double slowdown, double observed, double weight, int block) {
        CallEstimate estimate = estimate(function);
        estimate.addWindow(now, calls, slowdown, observed);
        if (estimate.windows() >= block) {
            estimate.endBlock(now);
        }
        if (observed > 0) {
            double rate = calls * slowdown / observed;
            double before = Double.isNaN(rates[function]) ? rate : rates[function];
            rates[function] = before + weight * (rate - before);
        }
    }

    /// For how long timed calls of a windowed function stand now: since others were.
    double untimed(int function, double now) {
        return now - timed[function];
    }

    /// Calls of a windowed function have been timed.
    void endTiming(int function, double now) {
        timed[function] = now;
    }

    /// The function is open from now on.
    void endWindows(int function, double now, long calls) {
        windowed[function] = false;
        estimate(function).endWindows(now);
        counted[function] = calls;
        changed[function] = true;
    }

    /// Whether it is time to write calls down, while nobody asks for them.
    boolean arePublishedLongAgo() {
        return readings.isDue(publishTsc, SampledProfiler.CLOSE_LOOK_NANOS, PUBLISHED_NANOS_OF_EACH);
    }

    /// Writes down all functions' calls, where readers of the session find them.
    void publish() {
        publishTsc = readings.tsc();
        double now = readings.progress();
        for (int i = 0; i < estimates.length; i++) {
            long fresh = fresh(i, readings.calls(i));
            if (!windowed[i] && fresh == 0 && !changed[i]) {
                continue;
            }
            double estimate = estimate(i).calls(now);
            // Of an open function the calls since the last look are not in the estimate yet.
            double all = windowed[i] ? estimate : estimate + fresh;
            changed[i] = false;
            long record = probes.function(i);
            Memory.putDouble(record + FunctionDescriptor.CALLS, all);
            Memory.putDouble(
                    record + FunctionDescriptor.CALLS_VARIANCE, estimate(i).variance(now));
        }
        Memory.putLong(header + HeaderDescriptor.CALLS_TSC, readings.tsc());
    }
}
