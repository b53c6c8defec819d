package org.mdlagent.calibrator;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.mdlagent.calibrator.Processors.Distance;
import org.mdlagent.calibrator.Processors.Pair;

/// Visibility latencies, from a store to code to its execution on another core, in rounds: each round measures
/// every pair of processors once.
///
/// An interrupted core executes neither old nor new code, and refetches when it resumes: its sample measures the
/// interruption, not the store. The trial drops samples with a gap of [#GAP_NANOS] in the writer's or executor's
/// loop. Timer interrupts take more than a microsecond; waiting for a contended line takes less.
final class VisibilityLatency {
    static final int ROUNDS = 10;
    private static final double GAP_NANOS = 800;
    private static final int DIGITS = 3;

    private final Map<Distance, Histogram> histograms = new EnumMap<>(Distance.class);
    private final Map<Distance, Long> interruptions = new EnumMap<>(Distance.class);
    private final List<Long> roundMaxima = new ArrayList<>();
    private long skewed;

    /// @param millis of a pair in a round
    void measureRound(Trial trial, double tscHz, List<Pair> pairs, int millis) throws IOException {
        long gapTicksMax = Math.round(GAP_NANOS * tscHz / 1e9);
        List<Trial.LatencyRun> runs = new ArrayList<>();
        for (Pair pair : pairs) {
            runs.add(trial.latency(
                    millis, gapTicksMax, pair.writer().number(), pair.executor().number()));
        }
        addRound(pairs, runs);
    }

    void addRound(List<Pair> pairs, List<Trial.LatencyRun> runs) {
        long max = 0;
        for (int i = 0; i < pairs.size(); i++) {
            Distance distance = pairs.get(i).distance();
            Histogram histogram = histograms.computeIfAbsent(distance, unused -> new Histogram(DIGITS));
            for (Trial.Sample sample : runs.get(i).samples()) {
                histogram.recordValueWithCount(sample.ticks(), sample.count());
                max = Math.max(max, sample.ticks());
            }
            long unused = interruptions.merge(distance, runs.get(i).interrupted(), Long::sum);
            skewed += runs.get(i).skewed();
        }
        roundMaxima.add(max);
    }

    Map<Distance, Histogram> histograms() {
        return histograms;
    }

    Histogram all() {
        Histogram all = new Histogram(DIGITS);
        histograms.values().forEach(all::add);
        return all;
    }

    long interrupted(Distance distance) {
        return interruptions.getOrDefault(distance, 0L);
    }

    /// Samples seen before they were stored, because the cores' counters differ.
    long skewed() {
        return skewed;
    }

    long samples() {
        return histograms.values().stream().mapToLong(Histogram::getTotalCount).sum();
    }

    long max() {
        return Collections.max(roundMaxima);
    }

    /// Lower bound for another run of as many rounds: its maximum is below the median of our rounds' maxima once
    /// in 2^[#ROUNDS] times.
    long repeatedMaxLow() {
        return roundMaxima.stream().sorted().toList().get((roundMaxima.size() - 1) / 2);
    }

    /// Upper bound for another run of as many rounds, if the rounds' maxima follow Gumbel's distribution, as for
    /// many samples with an exponential tail. A 99.9 % quantile, because its scale is estimated from few rounds:
    /// in simulations, one run in 200 exceeds it.
    long repeatedMaxHigh() {
        double mean = roundMaxima.stream().mapToLong(Long::longValue).average().orElseThrow();
        double variance = roundMaxima.stream()
                        .mapToDouble(max -> (max - mean) * (max - mean))
                        .sum()
                / Math.max(1, roundMaxima.size() - 1);
        double scale = Math.sqrt(6 * variance) / Math.PI;
        double eulerGamma = 0.5772;
        double quantile = -Math.log(-Math.log(0.999));
        return Math.max(max(), Math.round(mean + scale * (quantile + Math.log(roundMaxima.size()) - eulerGamma)));
    }
}
