package org.mdlagent.profiler.records;

import java.util.Arrays;
import java.util.SplittableRandom;

/// How many calls each call stands for that tells its caller, by function.
///
/// A function's time is divided into spans: each begins when some of its calls are asked to tell. Those that do share
/// all calls of the span.
///
/// What counts is when a call began: one that outlasts its span is one of few that end then, and would else stand for
/// all that have been made since.
public final class SampleWeights {
    /// How long a call can last and still be given the weight of its own span: so many spans of its function.
    private static final int SPANS = 8;

    private final SplittableRandom random = new SplittableRandom();

    /// Of the calls that began in each of a function's last spans; 1 until it is known.
    private double[] weights = {};

    /// When these spans began, in ticks of the time-stamp counter.
    private long[] begins = {};

    /// The newest span of each function.
    private int[] newest = {};

    /// Makes room for functions that have come.
    public void grow(int functions) {
        int known = weights.length;
        weights = Arrays.copyOf(weights, functions * SPANS);
        Arrays.fill(weights, known, weights.length, 1);
        begins = Arrays.copyOf(begins, functions * SPANS);
        newest = Arrays.copyOf(newest, functions);
    }

    /// A span begins. Until [#set], its calls are taken to weigh what those before do.
    public void begin(int function, long tsc) {
        double last = weights[at(function, 0)];
        newest[function]++;
        weights[at(function, 0)] = last;
        begins[at(function, 0)] = tsc;
    }

    /// The weight of the calls of the newest span is known.
    ///
    /// @param calls that the span stands for
    /// @param told  of these, have told their callers, above 0
    public void set(int function, double calls, double told) {
        weights[at(function, 0)] = calls / told;
    }

    /// For how many calls one stands, at least 1. To be asked once for each call, in the order of their ends.
    ///
    /// @param start when it began, in ticks of the time-stamp counter
    long of(int function, long start) {
        int age = 0;
        while (age < SPANS - 1 && start < begins[at(function, age)]) {
            age++;
        }
        // At random up or down: to the nearest, all weights of 1.4 would be 1.
        return Math.max(1, (long) (weights[at(function, age)] + random.nextDouble()));
    }

    private int at(int function, int age) {
        return function * SPANS + (newest[function] - age & SPANS - 1);
    }
}
