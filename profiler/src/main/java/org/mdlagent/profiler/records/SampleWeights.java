package org.mdlagent.profiler.records;

import java.util.Arrays;
import java.util.SplittableRandom;

/// How many calls each call that reports its caller stands for, by function.
///
/// A function's time is divided into spans. A span begins when some of the function's calls are asked to
/// report; the calls that do report share all calls of the span.
///
/// The span in which a call began is the one that counts. A call that outlasts its span is one of few that
/// end in a later one, and would otherwise stand for all calls made since.
public final class SampleWeights {
    /// How many spans of its function a call may last and still get the weight of its own span.
    private static final int SPANS = 8;

    private final SplittableRandom random = new SplittableRandom();

    /// Weights of a function's last spans; 1 until known.
    private double[] weights = {};

    /// Starts of these spans, in ticks of the time-stamp counter.
    private long[] begins = {};

    /// Index of each function's newest span.
    private int[] newest = {};

    /// Makes room for new functions.
    public void grow(int functions) {
        int known = weights.length;
        weights = Arrays.copyOf(weights, functions * SPANS);
        Arrays.fill(weights, known, weights.length, 1);
        begins = Arrays.copyOf(begins, functions * SPANS);
        newest = Arrays.copyOf(newest, functions);
    }

    /// Begins a span. Until [#set], its calls have the weight of the span before.
    public void begin(int function, long tsc) {
        double last = weights[at(function, 0)];
        newest[function]++;
        weights[at(function, 0)] = last;
        begins[at(function, 0)] = tsc;
    }

    /// Sets the weight of the newest span.
    ///
    /// @param calls that the span stands for
    /// @param told  of these, calls that have reported their callers, above 0
    public void set(int function, double calls, double told) {
        weights[at(function, 0)] = calls / told;
    }

    /// The number of calls that one call stands for, at least 1. To be called once for each call, in the
    /// order of their ends.
    ///
    /// @param start when the call began, in ticks of the time-stamp counter
    long of(int function, long start) {
        int age = 0;
        while (age < SPANS - 1 && start < begins[at(function, age)]) {
            age++;
        }
        // Rounded up or down at random: to the nearest, all weights of 1.4 would become 1.
        return Math.max(1, (long) (weights[at(function, age)] + random.nextDouble()));
    }

    private int at(int function, int age) {
        return function * SPANS + (newest[function] - age & SPANS - 1);
    }
}
