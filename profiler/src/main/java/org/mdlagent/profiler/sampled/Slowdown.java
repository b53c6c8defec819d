package org.mdlagent.profiler.sampled;

/// How much more than predicted the program loses by the windows of one group.
///
/// What a call costs in a window is predicted by how long the code takes that counts it. What it does to caches and to
/// the processor's predictions is not in that, and differs from program to program. But some functions are counted
/// always. Where fewer of their calls come in a nanosecond of CPU time while windows are open than in the rest before,
/// the program has lost as much by the windows: their calls are the auxiliary variable of a ratio estimate (Cochran,
/// "Sampling Techniques", 3rd edition, chapter 6).
///
/// Windows are at random moments, so phases of the program are met alike within and without, on average. What they
/// make windows differ by is a reason to keep to what is likely.
final class Slowdown {
    /// Windows that are remembered, about.
    private static final double MEMORY = 24;

    private static final double FACTOR_LIKELY = 1;

    /// Where calls are fewer or more by so many times, the program was in another phase.
    private static final double OFF_MAX = 4;

    private static final double FACTOR_MIN = 0.5;
    private static final double FACTOR_MAX = 6;

    /// Calls of functions that are counted always, in windows; how many there would have been but for the windows; and
    /// how many fewer there are for what windows cost, as predicted.
    private double calls;

    private double expected;
    private double fewer;

    /// The squares of what calls were off.
    private double squares;

    private double factor = FACTOR_LIKELY;

    /// What the prediction is to be multiplied by.
    double factor() {
        return factor;
    }

    /// A window was open.
    ///
    /// @param calls     of functions that are counted always, meanwhile
    /// @param expected  such calls in as much CPU time, as they came while windows rested
    /// @param predicted the part of that time that the windows have cost, as predicted
    void observed(double calls, double expected, double predicted) {
        if (OFF_MAX * calls < expected || calls > OFF_MAX * expected) {
            return;
        }
        double off = calls - expected * (1 - factor * predicted);
        squares += off * off - squares / MEMORY;
        this.calls += calls - this.calls / MEMORY;
        this.expected += expected - this.expected / MEMORY;
        fewer += expected * predicted - fewer / MEMORY;
        // As if there had been so many calls more, of windows that are as is likely: few that differ prove nothing.
        double doubt = 1 + Math.sqrt(squares);
        double most = (this.expected - this.calls + FACTOR_LIKELY * doubt) / (fewer + doubt);
        factor = Math.clamp(most, FACTOR_MIN, FACTOR_MAX);
    }
}
