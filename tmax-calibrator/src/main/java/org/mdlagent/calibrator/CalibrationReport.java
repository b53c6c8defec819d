package org.mdlagent.calibrator;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;
import org.mdlagent.arch.cpu.Calibration;
import org.mdlagent.arch.cpu.CpuIdentity;
import org.mdlagent.calibrator.Processors.Distance;

/// The result of a calibration, in 80 columns.
record CalibrationReport(Calibration calibration, Processors processors, VisibilityLatency latency, CrashTest crashes) {
    private static final int BAR = 44;
    private static final String EIGHTHS = " ▏▎▍▌▋▊▉";

    /// Buckets of the plot for each doubling.
    private static final int BUCKETS_PER_OCTAVE = 4;

    private static final double[] PERCENTILES = {50, 99, 99.9, 99.99};

    void write(PrintWriter out) {
        writeMachine(out);
        writeLatency(out);
        writeCrashes(out);
        writeResult(out);
    }

    private void writeMachine(PrintWriter out) {
        CpuIdentity cpu = calibration.cpu();
        out.printf(
                Locale.ROOT,
                "CPU         %s, family %d, model %d, stepping %d%n",
                cpu.modelName(),
                cpu.family(),
                cpu.model(),
                cpu.stepping());
        out.printf(
                Locale.ROOT,
                "            %s, microcode %s, %s%n",
                cpu.vendor(),
                cpu.microcode().isEmpty() ? "unknown" : cpu.microcode(),
                cpu.hypervisor().isEmpty() ? "bare metal" : "under " + cpu.hypervisor());
        out.printf(
                Locale.ROOT,
                "            %d processors of %d socket(s); 1000 ticks are %d ns%n%n",
                processors.list().size(),
                processors.sockets(),
                Math.round(nanos(1000)));
    }

    private void writeLatency(PrintWriter out) {
        out.printf(Locale.ROOT, "Visibility latency: from a store to code until another core executes it%n%n");
        out.printf(Locale.ROOT, "       ticks    samples  (each bar: the logarithm of the samples)%n");
        writePlot(out, latency.all());
        out.printf(Locale.ROOT, "%n  processors      samples  interrupted     p50    p99   p99.9  p99.99     max%n");
        for (Map.Entry<Distance, Histogram> entry : latency.histograms().entrySet()) {
            Histogram histogram = entry.getValue();
            out.printf(
                    Locale.ROOT,
                    "  %-13s %9s  %11s ",
                    entry.getKey().text(),
                    count(histogram.getTotalCount()),
                    count(latency.interrupted(entry.getKey())));
            for (double percentile : PERCENTILES) {
                out.printf(Locale.ROOT, " %7d", histogram.getValueAtPercentile(percentile));
            }
            out.printf(Locale.ROOT, " %7d%n", histogram.getMaxValue());
        }
        out.printf(Locale.ROOT, "%n");
    }

    private static void writePlot(PrintWriter out, Histogram all) {
        int first = bucket(all.getMinNonZeroValue());
        int last = bucket(all.getMaxValue());
        long[] counts = new long[last - first + 1];
        for (var value : all.recordedValues()) {
            counts[Math.max(0, bucket(value.getValueIteratedTo()) - first)] += value.getCountAtValueIteratedTo();
        }
        double most = 0;
        for (long count : counts) {
            most = Math.max(most, Math.log1p(count));
        }
        for (int i = 0; i < counts.length; i++) {
            out.printf(
                    Locale.ROOT,
                    "  %5d..%5d %10s  %s%n",
                    bucketStart(first + i),
                    bucketStart(first + i + 1) - 1,
                    counts[i] == 0 ? "" : count(counts[i]),
                    bar(Math.log1p(counts[i]) / most));
        }
    }

    private static int bucket(long ticks) {
        int bucket = (int) (BUCKETS_PER_OCTAVE * Math.log(Math.max(1, ticks)) / Math.log(2));
        return ticks >= bucketStart(bucket + 1) ? bucket + 1 : bucket;
    }

    private static long bucketStart(int bucket) {
        return (long) Math.ceil(Math.pow(2, bucket / (double) BUCKETS_PER_OCTAVE));
    }

    private static String bar(double share) {
        int eighths = (int) Math.round(share * BAR * 8);
        String rest = eighths % 8 == 0 ? "" : EIGHTHS.substring(eighths % 8, eighths % 8 + 1);
        return "█".repeat(eighths / 8) + rest;
    }

    private void writeCrashes(PrintWriter out) {
        out.printf(
                Locale.ROOT,
                "Crash test: a call of 5 bytes across a boundary, toggled behind INT3 while%n"
                        + "%d thread(s) execute it; toggles, by the wait in ticks%n%n",
                crashes.executorsMax());
        // Six steps fit in a row; the first steps of a longer ladder are omitted.
        List<Long> waits = crashes.waits();
        List<Long> shown = waits.subList(Math.max(0, waits.size() - CrashTest.WAITS.size()), waits.size());
        out.printf(
                Locale.ROOT,
                "  split       %s  unlocked%n",
                shown.stream().map(wait -> pad(Long.toString(wait), 8)).collect(Collectors.joining()));
        for (CrashTest.Row row : crashes.rows()) {
            out.printf(
                    Locale.ROOT,
                    "  %-8s %d|%d%s%s%n",
                    row.boundary().text(),
                    row.split(),
                    5 - row.split(),
                    shown.stream()
                            .map(wait -> pad(cell(crashes.cell(row, wait)), 8))
                            .collect(Collectors.joining()),
                    pad(cell(crashes.twin(row)), 10));
        }
        out.printf(Locale.ROOT, "%n  x: a wrong instruction was executed after so many toggles%n");
        List<Long> twins = crashes.togglesOfTwins();
        out.printf(
                Locale.ROOT,
                "  Unlocked patching fails in %d rows of %d, after %s toggles at most%n%n",
                twins.size(),
                crashes.rows().size(),
                count(Collections.max(twins)));
    }

    private static String cell(CrashTest.Cell cell) {
        return (cell.failed() ? "x " : "") + count(cell.toggles());
    }

    private void writeResult(PrintWriter out) {
        List<String> lines = new ArrayList<>();
        long failing = calibration.failingWaitTicks();
        long observed = Math.max(failing, calibration.latencyTicks());
        String wait = failing < 0 ? "no failure observed at any wait" : "highest failing wait " + failing;
        lines.add(String.format(
                Locale.ROOT,
                "T_max       %d ticks, %.1f us",
                calibration.tmaxTicks(),
                nanos(calibration.tmaxTicks()) / 1e3));
        lines.add(String.format(Locale.ROOT, "            %s, highest latency %d;", wait, calibration.latencyTicks()));
        lines.add(String.format(
                Locale.ROOT,
                "            the larger x %d is %d, rounded up to 2^n or 3*2^n; at least %d",
                calibration.factor(),
                calibration.factor() * observed,
                calibration.floorTicks()));
        lines.add(String.format(
                Locale.ROOT,
                "confidence  no failure in %d toggles at %s:",
                calibration.toggles(),
                failing < 0 ? "any wait" : "waits above " + failing));
        lines.add(String.format(Locale.ROOT, "            rate below %.2g at 95 %%", calibration.failureRateBound()));
        lines.add(String.format(
                Locale.ROOT,
                "agreement   another run of this length: %d to %d ticks",
                calibration.agreementLowTicks(),
                calibration.agreementHighTicks()));
        lines.forEach(out::println);
    }

    private double nanos(long ticks) {
        return ticks * 1e9 / calibration.cpu().tscHz();
    }

    /// Three significant digits.
    static String count(long count) {
        if (count < 1000) {
            return Long.toString(count);
        }
        double scaled = count;
        int unit = 0;
        while (scaled >= 999.5) {
            scaled /= 1000;
            unit++;
        }
        int decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
        return String.format(
                Locale.ROOT,
                "%." + decimals + "f%s",
                scaled,
                List.of("", "k", "M", "G", "T", "P", "E").get(unit));
    }

    private static String pad(String text, int width) {
        return " ".repeat(Math.max(1, width - text.length())) + text;
    }
}
