package org.mdlagent.bench.patching;

import static java.lang.String.format;

import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.bench.report.Curves;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Plot.Axis;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.wordpatch.Pending;

/// Latency of single activations and deactivations while another thread executes the sites ("Living on the Edge",
/// PLDI 2016, figure 10).
///
/// Each is timed individually by two clock readings, whose own cost is measured and subtracted.
public final class PatchLatency {
    private static final int ROUNDS = 1_000;
    private static final int WARM_UP_ROUNDS = 100;
    private static final int BATCHES = 100;
    private static final double[] PERCENTILES = {50, 90, 99, 99.9, 100};

    private final NativeApi api = SourceTree.harness();
    private final Map<String, double[]> latencies = new LinkedHashMap<>();
    private double clock;

    /// Patches one of the executed sites.
    private interface Patch {
        /// @param round even: activates the site, or stores the first of two instructions; odd: the opposite
        void of(int site, int round);
    }

    private PatchLatency() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        PatchLatency latency = new PatchLatency();
        Machine machine = Machine.of(latency.api);
        latency.measure();
        try (Report report = new Report("latency", machine)) {
            latency.print(report);
        }
    }

    private void measure() throws InterruptedException {
        clock = Percentile.median(samples((site, round) -> {}, 0));
        measureCallPatch();
        measureWordPatch();
    }

    private void measureCallPatch() throws InterruptedException {
        CallPatchBenchmark.Sites sites = new CallPatchBenchmark.Sites();
        sites.code.execute();
        Patch toggle = (site, round) -> sites.toggle(site, round % 2 == 0);
        add("callpatch, activation", toggle, 0);
        add("callpatch, deactivation", toggle, 1);
        sites.code.stopExecuting();
        latencies.put("callpatch, batch of 20,000, each", batches(sites::toggleAll, CallPatchBenchmark.SITES));
    }

    private void measureWordPatch() throws InterruptedException {
        WordPatchBenchmark.Straddling sites = new WordPatchBenchmark.Straddling();
        sites.code.execute();
        add("wordpatch, straddler, sync", (site, round) -> sites.patchByTmax(site, word(round)), 0);
        latencies.put("wordpatch, straddler, async", startedAndFinished(sites));
        add("wordpatch, straddler, membarrier", (site, round) -> sites.patchByMembarrier(site, word(round)), 0);
        sites.code.stopExecuting();
        latencies.put("wordpatch, batch of 20,000, each", batches(sites::patchTogether, WordPatchBenchmark.SITES));
    }

    private static long word(int round) {
        return WordPatchBenchmark.Sites.word(round);
    }

    private void add(String what, Patch patch, int parity) {
        latencies.put(what, samples(patch, parity));
    }

    /// In ticks, for rounds of one parity; each round patches all sites.
    private double[] samples(Patch patch, int parity) {
        double[] samples = new double[ROUNDS * PatchedCode.EXECUTED];
        int count = 0;
        for (int round = 0; round < WARM_UP_ROUNDS + 2 * ROUNDS; round++) {
            for (int site = 0; site < PatchedCode.EXECUTED; site++) {
                long start = api.tsc();
                patch.of(site, round);
                long ticks = api.tsc() - start;
                if (round >= WARM_UP_ROUNDS && round % 2 == parity) {
                    samples[count++] = withoutClock(ticks);
                }
            }
        }
        return samples;
    }

    /// For each site the time of starting, and of finishing once the others have been started.
    private double[] startedAndFinished(WordPatchBenchmark.Straddling sites) {
        double[] samples = new double[ROUNDS * PatchedCode.EXECUTED];
        Pending[] pending = new Pending[PatchedCode.EXECUTED];
        double[] ticks = new double[PatchedCode.EXECUTED];
        for (int round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
            for (int site = 0; site < pending.length; site++) {
                long start = api.tsc();
                pending[site] = sites.start(site, word(round));
                ticks[site] = withoutClock(api.tsc() - start);
            }
            boolean finished;
            do {
                finished = true;
                for (int site = 0; site < pending.length; site++) {
                    long start = api.tsc();
                    finished &= pending[site].finish();
                    ticks[site] += withoutClock(api.tsc() - start);
                }
            } while (!finished);
            if (round >= WARM_UP_ROUNDS) {
                System.arraycopy(ticks, 0, samples, (round - WARM_UP_ROUNDS) * ticks.length, ticks.length);
            }
        }
        return samples;
    }

    private double[] batches(Runnable batch, int sites) {
        double[] samples = new double[BATCHES];
        for (int i = -BATCHES; i < BATCHES; i++) {
            long start = api.tsc();
            batch.run();
            double ticks = api.tsc() - start;
            if (i >= 0) {
                samples[i] = ticks / sites;
            }
        }
        return samples;
    }

    private double withoutClock(long ticks) {
        return Math.max(1, ticks - clock);
    }

    private void print(Report report) throws IOException {
        report.line(format(
                Locale.ROOT,
                "Ticks for one, T_max %d, while a thread executes the %d sites; reading the clock, %.0f, is taken off",
                Machine.TMAX_TICKS,
                PatchedCode.EXECUTED,
                clock));
        report.line(format(
                Locale.ROOT,
                "%-36s %10s %10s %10s %10s %10s %10s",
                "",
                "SAMPLES",
                "P50",
                "P90",
                "P99",
                "P99.9",
                "MAX"));
        Curves histograms = new Curves(
                "Latency of one activation or deactivation",
                Axis.logarithmic("ticks"),
                Axis.linear("% of the samples"));
        for (Map.Entry<String, double[]> entry : latencies.entrySet()) {
            StringBuilder line =
                    new StringBuilder(format(Locale.ROOT, "%-36s %,10d", entry.getKey(), entry.getValue().length));
            for (double percentile : PERCENTILES) {
                line.append(format(Locale.ROOT, " %10s", cell(entry.getValue(), percentile)));
            }
            report.line(line.toString());
            histograms.histogram(entry.getKey(), mostOf(entry.getValue()));
        }
        report.line(
                "Batches are of sites that nobody executes; the others of wordpatch replace an operand, back and forth.");
        report.plot("histograms", histograms);
    }

    /// A dash if all samples but the greatest are below.
    private static String cell(double[] samples, double percentile) {
        boolean known = percentile == 100 || samples.length * (100 - percentile) >= 100;
        return known ? format(Locale.ROOT, "%,.0f", Percentile.of(samples, percentile)) : "-";
    }

    /// Without outliers caused by other processes, which would compress the plot.
    private static double[] mostOf(double[] samples) {
        double limit = Percentile.of(samples, 99);
        return Arrays.stream(samples).filter(ticks -> ticks <= limit).toArray();
    }
}
