package org.mdlagent.profiler.sampled;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.session.FunctionRecordWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.profiler.estimate.ProbeCost;
import org.mdlagent.profiler.records.RingDrain;
import org.mdlagent.profiler.records.SampleWeights;

/// Timed calls that tell who has made them, through the rings. That is dear, so there are as many as a part of the
/// budget pays for, in turn for all functions.
final class Told {
    /// The part of the budget for it.
    private static final double PART = 0.05;

    /// So many at once at most, so that rings have room: of all functions, and of one.
    private static final double MOST = 2048;

    private static final int MOST_OF_EACH = 16;

    private static final double PERIOD_NANOS = 250e6;

    private final NativeApi api;
    private final Probes probes;
    private final RingDrain rings;
    private final ProbeCost cost;
    private final double budget;
    private final double ticksPerNano;
    private final SampleWeights weights = new SampleWeights();
    private final SplittableRandom random = new SplittableRandom();
    private long lastTsc;

    /// By function: how many are to tell, and its calls when that was asked for.
    private int[] told = {};

    private double[] callsAtBegin = {};

    Told(NativeApi api, Probes probes, RingDrain rings, ProbeCost cost, double budget, double ticksPerNano) {
        this.api = api;
        this.probes = probes;
        this.rings = rings;
        this.cost = cost;
        this.budget = budget;
        this.ticksPerNano = ticksPerNano;
    }

    /// Makes room for functions that have come.
    void grow(int functions) {
        weights.grow(functions);
        told = Arrays.copyOf(told, functions);
        callsAtBegin = Arrays.copyOf(callsAtBegin, functions);
    }

    /// Whether others are to tell: those that are to, still are.
    boolean isDue(long now) {
        return now - lastTsc >= PERIOD_NANOS * ticksPerNano;
    }

    /// How many calls of each function are to tell from now on, in the mean.
    ///
    /// @param used   CPU time of the program for each nanosecond that has passed
    /// @param called functions that are called
    double ofEach(long now, double used, int called) {
        double passed = now - lastTsc;
        lastTsc = now;
        return Math.min(
                Math.min(PART * budget * used * passed / cost.telling(1), MOST) / Math.max(1, called), MOST_OF_EACH);
    }

    /// Lets calls of a function tell.
    ///
    /// @param mean  how many, in the mean
    /// @param calls of the function so far
    void begin(int function, double mean, double calls) {
        int n = (int) (mean + random.nextDouble());
        weigh(function, calls);
        weights.begin(function, api.tsc());
        told[function] = n;
        callsAtBegin[function] = calls;
        new FunctionRecordWriter(probes.function(function)).setRemaining(n);
        rings.expect(n);
    }

    /// A sliced function's calls have told in its duration slices: they stand for all calls since the last time that
    /// there were any.
    ///
    /// @param n     how many
    /// @param calls of the function so far
    void sliced(int function, double n, double calls) {
        told[function] = 0;
        if (n > 0) {
            weights.set(function, Math.max(n, calls - callsAtBegin[function]), n);
            weights.begin(function, api.tsc());
            callsAtBegin[function] = calls;
        }
    }

    /// Those that have told stand for all calls since then.
    private void weigh(int function, double calls) {
        int left = Math.max(0, Memory.getInt(probes.function(function) + FunctionDescriptor.REMAINING));
        int used = told[function] - left;
        if (used > 0) {
            weights.set(function, Math.max(used, calls - callsAtBegin[function]), used);
        }
    }

    /// Moves what was told into the edges.
    ///
    /// @return how many
    long drain(CallEstimates estimates) {
        for (int i = 0; i < told.length; i++) {
            if (told[i] > 0) {
                weigh(i, estimates.calls(i));
            }
        }
        return rings.drain(weights);
    }
}
