package org.mdlagent.profiler.sampled;

import java.util.Arrays;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.RateSpreadDescriptor;
import org.mdlagent.arch.layout.SlicePlanDescriptor;
import org.mdlagent.arch.layout.SlicingDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.NativeBuffer;
import org.mdlagent.profiler.policy.SlicePolicy;
import org.mdlagent.profiler.policy.SlicePolicy.Slicing;

/// Has the shim slice functions by a plan (`record/slices.h`), and reads the results.
final class Slicer {
    /// Bounds of [#switching] and [#waking], and their smoothing weight.
    private static final double EACH_NANOS_MIN = 20;

    private static final double EACH_NANOS_MAX = 2_000;
    private static final double WAKING_NANOS_MIN = 1e3;
    private static final double WAKING_NANOS_MAX = 100e3;
    private static final double WEIGHT = 0.2;

    private final NativeApi api;
    private final SlicePolicy policy;
    private final double ticksPerNano;

    /// `struct mdl_slice_plan`, 0 before the first plan; and its arrays.
    private long plan;

    private final long[] lists = new long[SlicePlanDescriptor.SLICINGS];
    private long apart;
    private long means;
    private long spreads;
    private boolean planned;

    /// By function: the number of the slices that count its calls, and the slicing that times them; -1 for
    /// none.
    private int[] slicingOf = {};

    private int[] timingOf = {};

    /// By slicing: mean number of slices since the last look that each of its functions was in.
    private final double[] slicesOfEach = new double[SlicePlanDescriptor.SLICINGS];

    /// Results since the last look, by slicing and step: number of slices, and the program's CPU time in
    /// them.
    static final int NUMBERS = SlicePlanDescriptor.SLICINGS * SlicingDescriptor.SLICE_STEPS;

    private final long[] slices = new long[NUMBERS];
    private final long[] cpuNanos = new long[NUMBERS];

    /// Nanoseconds to open and close a slice, per function in it; and to sleep and wake up once.
    private double switching = 50;

    private double waking = 10e3;

    Slicer(NativeApi api, SlicePolicy policy, double ticksPerNano) {
        this.api = api;
        this.policy = policy;
        this.ticksPerNano = ticksPerNano;
    }

    /// Makes room for new functions.
    void grow(int functions) {
        int before = slicingOf.length;
        slicingOf = Arrays.copyOf(slicingOf, functions);
        timingOf = Arrays.copyOf(timingOf, functions);
        Arrays.fill(slicingOf, before, functions, -1);
        Arrays.fill(timingOf, before, functions, -1);
        if (plan == 0 && functions > 0) {
            long most = Memory.getInt(api.session() + HeaderDescriptor.FUNCTION_CAPACITY);
            plan = NativeBuffer.forEver(SlicePlanDescriptor.SIZE);
            apart = NativeBuffer.forEver(most * Long.BYTES);
            means = NativeBuffer.forEver(most * Integer.BYTES);
            for (int i = 0; i < lists.length; i++) {
                lists[i] = NativeBuffer.forEver(most * Integer.BYTES);
                Memory.putLong(slicing(i) + SlicingDescriptor.FUNCTIONS, lists[i]);
            }
            Memory.putLong(plan + SlicePlanDescriptor.APART, apart);
            Memory.putLong(plan + SlicePlanDescriptor.MEANS, means);
            long begun = NativeBuffer.forEver(most * Long.BYTES);
            Memory.putLong(plan + SlicePlanDescriptor.BEGUN, begun);
            spreads = NativeBuffer.forEver(most * RateSpreadDescriptor.SIZE);
            Memory.putLong(plan + SlicePlanDescriptor.SPREADS, spreads);
            Memory.putDouble(plan + SlicePlanDescriptor.TICKS_PER_NANO, ticksPerNano);
        }
    }

    private long slicing(int i) {
        return plan + SlicePlanDescriptor.OF + i * SlicingDescriptor.SIZE;
    }

    /// A function's calls so far that were counted outside count slices.
    long apart(int function) {
        return Memory.getLong(apart + (long) function * Long.BYTES);
    }

    /// How much a function's rate varied between neighbouring slices since the last look. See
    /// `struct mdl_rate_spread` of `mdl/api.h`.
    ///
    /// @param squares in calls^2 per nanosecond of CPU time, the cost of counting included
    record Spread(double squares, long pairs) {}

    Spread takeSpread(int function) {
        long at = spread(function);
        double squares = Double.longBitsToDouble(Memory.getLong(at + RateSpreadDescriptor.SQUARES));
        Memory.putDouble(at + RateSpreadDescriptor.SQUARES, 0);
        return new Spread(squares, take(at + RateSpreadDescriptor.PAIRS));
    }

    /// Does not compare the function's next slice with the last one, which was long ago.
    void forgetRate(int function) {
        Memory.putDouble(spread(function) + RateSpreadDescriptor.RATE_NANOS, 0);
    }

    private long spread(int function) {
        return spreads + function * RateSpreadDescriptor.SIZE;
    }

    /// Nanoseconds to open and close a slice, per function in it.
    double switching() {
        return switching;
    }

    /// Nanoseconds of the agent's CPU time to sleep and wake up once.
    double waking() {
        return waking;
    }

    /// Takes the results of slices.
    void take() {
        for (int i = 0; plan != 0 && i < lists.length; i++) {
            long at = slicing(i);
            long all = 0;
            for (int step = 0; step < SlicingDescriptor.SLICE_STEPS; step++) {
                int number = i * SlicingDescriptor.SLICE_STEPS + step;
                slices[number] = take(at + SlicingDescriptor.SLICES + (long) step * Long.BYTES);
                cpuNanos[number] = take(at + SlicingDescriptor.CPU_NANOS + (long) step * Long.BYTES);
                all += slices[number];
            }
            long nanos = take(at + SlicingDescriptor.AGENT_NANOS);
            long functions = Memory.getLong(at + SlicingDescriptor.STEP);
            slicesOfEach[i] = (double) all * functions / Math.max(1, Memory.getLong(at + SlicingDescriptor.COUNT));
            if (all > 0 && functions > 0) {
                double each = (double) nanos / all / functions;
                switching += WEIGHT * (Math.clamp(each, EACH_NANOS_MIN, EACH_NANOS_MAX) - switching);
                // Once settled, where calls are timed, and at the end.
                int wakings = Memory.getLong(at + SlicingDescriptor.TIMED) == 0 ? 1 : 2;
                double woken = (double) take(at + SlicingDescriptor.WAKING_NANOS) / all / wakings;
                waking += WEIGHT * (Math.clamp(woken, WAKING_NANOS_MIN, WAKING_NANOS_MAX) - waking);
            }
        }
    }

    private static long take(long at) {
        long value = Memory.getLong(at);
        Memory.putLong(at, 0);
        return value;
    }

    /// The number of the slices that count the calls of a function, -1 for none.
    int slicingOf(int function) {
        return slicingOf[function];
    }

    /// Mean number of a sliced function's calls that reported their callers since the last look: one per
    /// slice.
    double told(int function) {
        return timingOf[function] < 0 ? 0 : slicesOfEach[timingOf[function]];
    }

    /// Number of slices in the last results.
    long slices(int number) {
        return slices[number];
    }

    /// CPU time of the program in these, in nanoseconds.
    long cpuNanos(int number) {
        return cpuNanos[number];
    }

    /// Slices by this plan from now on.
    void follow(SlicePolicy.Plan next, SlicePolicy.Observation seen) {
        if (plan == 0) {
            return;
        }
        Arrays.fill(slicingOf, -1);
        Arrays.fill(timingOf, -1);
        write(0, next.frequent());
        write(1, next.rare());
        write(2, next.dear());
        write(3, next.brief());
        write(4, next.others());
        for (Slicing timed : new Slicing[] {next.dear(), next.brief(), next.others()}) {
            for (int function : timed.functions()) {
                time(function, timed, seen);
            }
        }
        if (!planned) {
            planned = true;
            api.planSlices(plan);
        }
    }

    /// No slices from now on, until the next plan.
    void rest() {
        if (planned) {
            planned = false;
            api.planSlices(0);
        }
    }

    private void write(int i, Slicing slicing) {
        int[] functions = slicing.functions();
        for (int k = 0; k < functions.length; k++) {
            Memory.putInt(lists[i] + (long) k * Integer.BYTES, functions[k]);
            if (slicing.timed()) {
                timingOf[functions[k]] = i;
            } else {
                int step = Math.min(k / slicing.step(), SlicingDescriptor.SLICE_STEPS - 1);
                slicingOf[functions[k]] = i * SlicingDescriptor.SLICE_STEPS + step;
            }
        }
        long at = slicing(i);
        Memory.putLong(at + SlicingDescriptor.COUNT, functions.length);
        Memory.putLong(at + SlicingDescriptor.STEP, slicing.step());
        Memory.putLong(at + SlicingDescriptor.TIMED, slicing.timed() ? 1 : 0);
        Memory.putLong(at + SlicingDescriptor.PERIOD_NANOS, (long) slicing.periodNanos());
        Memory.putLong(at + SlicingDescriptor.SETTLING_NANOS, slicing.timed() ? (long) SlicePolicy.SETTLING_NANOS : 0);
        Memory.putLong(at + SlicingDescriptor.LENGTH_NANOS, (long) slicing.lengthNanos());
    }

    private void time(int function, Slicing slicing, SlicePolicy.Observation seen) {
        double rate = seen.rate().applyAsDouble(function);
        int mean = policy.mean(slicing, rate > 0 ? rate : 0, seen.pace());
        Memory.putInt(means + (long) function * Integer.BYTES, mean);
    }
}
