package org.mdlagent.profiler.sampled;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SlowdownTest {
    private static final double PREDICTED = 0.1;

    @Test
    void shouldKeepToThePredictionWhileNothingIsKnown() {
        assertEquals(1, new Slowdown().factor());
    }

    @Test
    void shouldLearnWhatWindowsCost() {
        assertEquals(4, learned(0.6, 100, 0), 0.3);
        assertEquals(1, learned(0.9, 100, 0), 0.1);
        assertEquals(0.5, learned(1, 100, 0), 0.2);
    }

    @Test
    void shouldLearnItFromWindowsThatDiffer() {
        assertEquals(4, learned(0.6, 100, 0.3), 1.2);
    }

    @Test
    void shouldNotBelieveAFewCalls() {
        assertEquals(1, learned(0.6, 0.2, 0), 1);
    }

    @Test
    void shouldNotTakeAnotherPhaseForACost() {
        Slowdown slowdown = new Slowdown();
        for (int i = 0; i < 100; i++) {
            slowdown.observed(0, 100, PREDICTED);
            slowdown.observed(900, 100, PREDICTED);
        }
        assertEquals(1, slowdown.factor());
    }

    /// @param progress of the program in windows, for each nanosecond
    /// @param spread   by what part windows differ
    private static double learned(double progress, double calls, double spread) {
        Slowdown slowdown = new Slowdown();
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 200; i++) {
            double met = calls * (1 + spread * (2 * random.nextDouble() - 1));
            slowdown.observed(progress * met, calls, PREDICTED);
        }
        return slowdown.factor();
    }
}
