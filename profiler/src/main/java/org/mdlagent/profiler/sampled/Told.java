package org.mdlagent.profiler.sampled;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.session.FunctionRecordWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.profiler.figures.ProbeCost;
import org.mdlagent.profiler.records.RingDrain;
import org.mdlagent.profiler.records.SampleWeights;

/// Asks timed calls to report their callers through the rings. Reports are expensive, so their number is
/// limited by a share of the budget, and functions take turns.
final class Told {
    /// Share of the budget for reports.
    private static final double PART = 0.05;

    /// Maximum pending reports, of all functions and of one, so that rings have room.
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

    /// By function: number of reports requested, and its calls at the request.
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

    /// Makes room for new functions.
    void grow(int functions) {
        weights.grow(functions);
        told = Arrays.copyOf(told, functions);
        callsAtBegin = Arrays.copyOf(callsAtBegin, functions);
    }

    /// Whether new reports may be requested; pending requests stay.
    boolean isDue(long now) {
        return now - lastTsc >= PERIOD_NANOS * ticksPerNano;
    }

    /// Mean number of reports to request from each function now.
    ///
    /// @param used   CPU time of the program per nanosecond of elapsed time
    /// @param called number of functions that are called
    double ofEach(long now, double used, int called) {
        double passed = now - lastTsc;
        lastTsc = now;
        return Math.min(
                Math.min(PART * budget * used * passed / cost.telling(1), MOST) / Math.max(1, called), MOST_OF_EACH);
    }

    /// Requests reports from calls of a function.
    ///
    /// @param mean  number of reports, rounded at random
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

    /// Accounts for reports from a sliced function's duration slices: they stand for all calls since the last
    /// such reports.
    ///
    /// @param n     number of reports
    /// @param calls of the function so far
    void sliced(int function, double n, double calls) {
        told[function] = 0;
        if (n > 0) {
            weights.set(function, Math.max(n, calls - callsAtBegin[function]), n);
            weights.begin(function, api.tsc());
            callsAtBegin[function] = calls;
        }
    }

    /// Weights the reports: they stand for all calls since the request.
    private void weigh(int function, double calls) {
        int left = Math.max(0, Memory.getInt(probes.function(function) + FunctionDescriptor.REMAINING));
        int used = told[function] - left;
        if (used > 0) {
            weights.set(function, Math.max(used, calls - callsAtBegin[function]), used);
        }
    }

    /// Moves reports to the edges.
    ///
    /// @return number of reports
    long drain(CallEstimates estimates) {
        for (int i = 0; i < told.length; i++) {
            if (told[i] > 0) {
                weigh(i, estimates.calls(i));
            }
        }
        return rings.drain(weights);
    }
}
