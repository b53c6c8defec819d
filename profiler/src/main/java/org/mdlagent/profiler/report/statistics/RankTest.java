package org.mdlagent.profiler.report.statistics;

import java.util.Map;
import java.util.TreeMap;
import org.mdlagent.arch.layout.RowBuckets;
import org.mdlagent.profiler.report.profile.Latency;

/// Whether durations have become longer, by the test of Mann and Whitney ("On a Test of Whether one of Two Random
/// Variables is Stochastically Larger than the Other", 1947), with its normal approximation and the correction for
/// ties: it asks for no shape of the distributions, and one long call in a million does not sway it.
///
/// Durations are known by slots of a histogram, so those in one slot are ties. A slot counts as often as the calls that
/// its samples stand for; how certain the result is depends on the samples alone.
///
/// @param slower how probable it is that a call after takes longer than one before, ties counting half: 0.5 for no
///               change; NaN where nothing can be said
/// @param z      how many standard deviations that is above what it would be by chance
record RankTest(double slower, double z) {
    static final RankTest UNKNOWN = new RankTest(Double.NaN, Double.NaN);

    /// Below, the normal approximation is none.
    private static final double SAMPLES_MIN = 8;

    /// Compares durations after with those before, each with a margin.
    ///
    /// @param samplesBefore independent ones
    /// @param samplesAfter  independent ones
    static RankTest of(Latency before, double samplesBefore, Latency after, double samplesAfter, Margin margin) {
        if (Math.min(samplesBefore, samplesAfter) < SAMPLES_MIN || !before.known() || !after.known()) {
            return UNKNOWN;
        }
        TreeMap<Integer, double[]> slots = new TreeMap<>();
        add(before, samplesBefore, margin, before.nanosPerTick(), 0, slots);
        add(after, samplesAfter, Margin.NONE, before.nanosPerTick(), 1, slots);
        double all = samplesBefore + samplesAfter;
        double below = 0;
        double pairs = 0;
        double ties = 0;
        for (Map.Entry<Integer, double[]> slot : slots.entrySet()) {
            double[] samples = slot.getValue();
            pairs += samples[1] * (below + samples[0] / 2);
            below += samples[0];
            double tied = samples[0] + samples[1];
            ties += tied * tied * tied - tied;
        }
        double product = samplesBefore * samplesAfter;
        double variance = product / 12 * (all + 1 - ties / (all * (all - 1)));
        double excess = pairs - product / 2;
        // All durations in one slot: there is nothing that could have changed.
        return new RankTest(pairs / product, variance <= 0 ? 0 : excess / Math.sqrt(variance));
    }

    /// Sorts the samples into the slots of one clock, that of the run before. Two runs measure a clock's frequency a
    /// little differently; the middle of a slot lies in the same slot then, so equal durations stay ties.
    private static void add(
            Latency latency,
            double samples,
            Margin margin,
            double nanosPerTick,
            int side,
            TreeMap<Integer, double[]> slots) {
        double calls = 0;
        for (int slot = 0; slot < latency.size(); slot++) {
            calls += latency.calls(slot);
        }
        for (int slot = 0; slot < latency.size(); slot++) {
            int index = RowBuckets.index(Math.round(margin.widen(latency.middle(slot)) / nanosPerTick));
            slots.computeIfAbsent(index, i -> new double[2])[side] += latency.calls(slot) * samples / calls;
        }
    }
}
