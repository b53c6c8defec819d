package org.mdlagent.profiler.report.statistics;

/// Tails of the standard normal distribution (Abramowitz and Stegun, "Handbook of Mathematical Functions", 7.1.5 and
/// 7.1.14), precise to ten digits also where they are small.
final class Normal {
    private static final double SERIES_MAX = 2;
    private static final int TERMS = 60;

    private Normal() {}

    /// How probable it is that a value is above `z`.
    static double above(double z) {
        double half = complementaryErrorFunction(Math.abs(z) / Math.sqrt(2)) / 2;
        return z >= 0 ? half : 1 - half;
    }

    /// How probable it is that a value is at least as far from 0 as `z`.
    static double beyond(double z) {
        return Math.min(1, complementaryErrorFunction(Math.abs(z) / Math.sqrt(2)));
    }

    private static double complementaryErrorFunction(double x) {
        return x < SERIES_MAX ? 1 - series(x) : fraction(x);
    }

    private static double series(double x) {
        double power = x;
        double sum = x;
        for (int n = 1; n < TERMS; n++) {
            power *= -x * x / n;
            sum += power / (2 * n + 1);
        }
        return 2 / Math.sqrt(Math.PI) * sum;
    }

    private static double fraction(double x) {
        double rest = x;
        for (int n = TERMS; n > 0; n--) {
            rest = x + n / 2.0 / rest;
        }
        return Math.exp(-x * x) / (Math.sqrt(Math.PI) * rest);
    }
}
