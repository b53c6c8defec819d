package org.mdlagent.bench.patching;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.mdlagent.bench.report.Curves;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Plot.Axis;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.tools.SourceTree;

/// Visibility latency of a store to code, and waits that are too short: the measurements of `mdl calibrate`, with
/// a plot ("Living on the Edge", PLDI 2016, figure 9). Does not change the machine's calibration.
public final class TmaxCalibration {
    /// `  862.. 1023      1.78k  ████`: of the command's plot.
    private static final Pattern BUCKET = Pattern.compile(" *(\\d+)\\.\\. *(\\d+) +([0-9.]+)([kMG]?) .*");

    private TmaxCalibration() {}

    /// @param args of `mdl calibrate`
    public static void main(String[] args) throws IOException, InterruptedException {
        System.err.println("mdl: calibrating; this takes 4 minutes, or 20 s with --quick");
        Machine machine = Machine.of(SourceTree.harness());
        List<String> lines = calibrate(args);
        try (Report report = new Report("tmax", machine)) {
            lines.stream().filter(line -> !line.startsWith("written to")).forEach(report::line);
            report.plot("latency", plot(lines));
        }
    }

    private static List<String> calibrate(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of(SourceTree.distribution().resolve("bin/mdl").toString(), "calibrate"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment()
                .put("XDG_STATE_HOME", SourceTree.scratch("calibration").toString());
        Process process = builder.start();
        List<String> lines;
        try (BufferedReader output = process.inputReader()) {
            lines = output.lines().toList();
        }
        if (process.waitFor() != 0) {
            throw new IOException("mdl calibrate has failed");
        }
        return lines;
    }

    private static Curves plot(List<String> lines) throws IOException {
        List<Matcher> buckets =
                lines.stream().map(BUCKET::matcher).filter(Matcher::matches).toList();
        if (buckets.isEmpty()) {
            throw new IOException("mdl calibrate prints no distribution");
        }
        return new Curves(
                        "From a store to code until another core executes it",
                        Axis.linear("ticks"),
                        Axis.logarithmic("samples"))
                .curve(
                        "all pairs of processors",
                        buckets.stream().mapToDouble(TmaxCalibration::middle).toArray(),
                        buckets.stream().mapToDouble(TmaxCalibration::samples).toArray());
    }

    private static double middle(Matcher bucket) {
        return Math.sqrt(Double.parseDouble(bucket.group(1)) * Double.parseDouble(bucket.group(2)));
    }

    private static double samples(Matcher bucket) {
        return Double.parseDouble(bucket.group(3))
                * switch (bucket.group(4)) {
                    case "k" -> 1e3;
                    case "M" -> 1e6;
                    case "G" -> 1e9;
                    default -> 1;
                };
    }
}
