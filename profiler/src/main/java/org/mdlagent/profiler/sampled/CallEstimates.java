package org.mdlagent.profiler.sampled;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.profiler.figures.ProbeCost;
import org.mdlagent.profiler.tier.Allowance;

/// Calls so far by function: counted while its probes stay on, estimated while it is sliced ([CallEstimate]).
///
/// Counting slows the program down. Its predicted cost is subtracted from the CPU time of slices.
final class CallEstimates {
    /// At least this share of the CPU time in slices was the program's, however wrong the prediction is.
    private static final double PASSED_MIN = 0.25;

    private final Probes probes;
    private final Slicer slicer;
    private final CountingCost counting;
    private final long header;

    /// Null for functions that were not called yet.
    private @Nullable CallEstimate[] estimates = {};

    /// By function: CPU time of the program when it got its probes, in nanoseconds.
    private long[] begins = {};

    /// By function: counted calls that its estimate includes.
    private long[] counted = {};

    /// By function: whether its estimate has changed since it was published.
    private boolean[] changed = {};

    /// CPU time of the program at the last look, and when the first functions got their probes.
    private long cpuAtLook;

    private long cpuAtFirst = -1;
    private long tscAtLook;

    CallEstimates(Probes probes, Slicer slicer, ProbeCost cost, long header, double ticksPerNano) {
        this.probes = probes;
        this.slicer = slicer;
        counting = new CountingCost(cost, ticksPerNano);
        this.header = header;
    }

    /// Makes room for new functions.
    void grow(int functions) {
        int before = estimates.length;
        estimates = Arrays.copyOf(estimates, functions);
        begins = Arrays.copyOf(begins, functions);
        Arrays.fill(begins, before, functions, cpuAtLook);
        cpuAtFirst = cpuAtFirst < 0 ? cpuAtLook : cpuAtFirst;
        counted = Arrays.copyOf(counted, functions);
        changed = Arrays.copyOf(changed, functions);
        counting.grow(functions);
    }

    private CallEstimate estimate(int function) {
        CallEstimate known = estimates[function];
        if (known == null) {
            known = new CallEstimate(Math.max(0, cpuAtLook - begins[function]));
            estimates[function] = known;
        }
        return known;
    }

    /// Notes that the function has got its probes only now, though it could have been called since the session began.
    void addUnseen(int function) {
        if (estimates[function] == null) {
            CallEstimate estimate = new CallEstimate(0);
            estimate.addGap(cpuAtLook - cpuAtFirst);
            estimates[function] = estimate;
        }
    }

    boolean isSliced(int function) {
        CallEstimate known = estimates[function];
        return known != null && known.isSliced();
    }

    /// Recent calls per nanosecond of CPU time; NaN while unknown.
    double rate(int function) {
        CallEstimate known = estimates[function];
        return known == null ? Double.NaN : known.rate();
    }

    /// The predicted cost of counting one of its calls in a slice, in ticks.
    double price(int function) {
        return counting.price(function, rate(function));
    }

    /// The function's calls so far.
    double calls(int function) {
        CallEstimate known = estimates[function];
        return known == null ? 0 : known.calls();
    }

    /// Counted calls that the estimate does not include yet. Calls counted outside count slices never are.
    private long fresh(int function, Readings readings) {
        return readings.calls(function) - slicer.apart(function) - counted[function];
    }

    /// Adds what happened since the last look.
    void look(Readings readings) {
        double all = readings.cpu() - cpuAtLook;
        double[] nanos = new double[Slicer.NUMBERS];
        double[] doubtful = new double[Slicer.NUMBERS];
        for (int i = 0; i < estimates.length; i++) {
            int slicing = slicer.slicingOf(i);
            if (slicing >= 0 && isSliced(i)) {
                long calls = fresh(i, readings);
                long cpuNanos = slicer.cpuNanos(slicing);
                nanos[slicing] += counting.add(i, calls, cpuNanos);
                doubtful[slicing] += counting.doubtful(calls, cpuNanos);
            }
        }
        for (int s = 0; s < nanos.length; s++) {
            double in = slicer.cpuNanos(s);
            double passed = Math.max(PASSED_MIN * in, in - nanos[s]);
            all -= in - passed;
            nanos[s] = passed;
        }
        for (int i = 0; i < estimates.length; i++) {
            long fresh = fresh(i, readings);
            CallEstimate known = estimates[i];
            if (known == null && fresh == 0) {
                continue;
            }
            if (isSliced(i)) {
                int slicing = slicer.slicingOf(i);
                if (slicing < 0) {
                    estimate(i).addSlices(all, fresh, 0, 0, 0);
                } else {
                    Slicer.Spread spread = slicer.takeSpread(i);
                    double passed = Math.max(PASSED_MIN, nanos[slicing] / Math.max(1, slicer.cpuNanos(slicing)));
                    estimate(i).addSpread(spread.squares() / passed, spread.pairs());
                    estimate(i).addSlices(all, fresh, slicer.slices(slicing), nanos[slicing], doubtful[slicing]);
                }
            } else if (probes.isLeftOut(i)) {
                estimate(i).addExact(fresh, 0); // the time does not count
            } else {
                double open = all * openPart(i, readings);
                estimate(i).addExact(fresh, open);
                if (open < all) {
                    estimate(i).addStop(fresh, open, all - open);
                }
            }
            counted[i] += fresh;
            changed[i] |= isSliced(i) || fresh != 0 || (estimate(i).unseen() > 0 && !probes.isLeftOut(i));
        }
        cpuAtLook = readings.cpu();
        tscAtLook = readings.tsc();
    }

    /// The part of the time since the last look in which a function's probes were on: less than 1 if a thread
    /// has stopped it.
    private double openPart(int function, Readings readings) {
        long record = probes.function(function);
        if (!Allowance.isStopped(record)) {
            return 1;
        }
        double open = Memory.getLong(record + FunctionDescriptor.DEADLINE) - tscAtLook;
        return Math.clamp(open / Math.max(1, readings.tsc() - tscAtLook), 0, 1);
    }

    /// Slices the function from now on.
    ///
    /// @param rate calls per nanosecond, if a better rate is known; else NaN
    void startSlices(int function, double rate) {
        slicer.forgetRate(function);
        estimate(function).startSlices(rate);
    }

    /// Ends slicing: the function's probes stay on from now on.
    void endSlices(int function) {
        estimate(function).endSlices();
    }

    /// Publishes all functions' calls in the session.
    void publish(Readings readings) {
        for (int i = 0; i < estimates.length; i++) {
            if (changed[i]) {
                changed[i] = false;
                long record = probes.function(i);
                Memory.putDouble(record + FunctionDescriptor.CALLS, estimate(i).calls());
                putFloat(record + FunctionDescriptor.CALLS_VARIANCE, estimate(i).variance());
                putFloat(record + FunctionDescriptor.UNSEEN, estimate(i).unseen());
            }
        }
        Memory.putLong(header + HeaderDescriptor.CALLS_TSC, readings.tsc());
    }

    private static void putFloat(long address, double value) {
        Memory.putInt(address, Float.floatToRawIntBits((float) value));
    }
}
