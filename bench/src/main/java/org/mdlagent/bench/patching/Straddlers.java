package org.mdlagent.bench.patching;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.mdlagent.bench.report.Bars;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Plot.Axis;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.bench.tools.Tracer;
import org.mdlagent.profiler.report.profile.SiteProfile;
import org.mdlagent.profiler.report.session.SessionReader;

/// How many probe sites of real programs straddle a boundary, so that no single store can replace them ("Living on
/// the Edge", PLDI 2016, figure 14).
///
/// The agent finds the sites in a program that prints its version and ends.
public final class Straddlers {
    /// Length of a call or jump, which makes a site.
    private static final int SITE_BYTES = 5;

    private static final int LINE_BYTES = 64;
    private static final int QUADWORD_BYTES = 8;

    /// At `-O2` functions begin at multiples of 16, and their entries never straddle; at `-Os` they begin anywhere.
    private static final List<String> FLAGS = List.of(
            "-O2 -g -finstrument-functions",
            "-O2 -g -fpatchable-function-entry=5",
            "-Os -g -fpatchable-function-entry=5");

    /// Debian's source packages, and arguments that make their programs end at once.
    private static final Map<String, String> PROGRAMS = new TreeMap<>(Map.of(
            "bzip2", "--help",
            "libzstd", "--version",
            "lua5.4", "-v",
            "nginx", "-v",
            "perl", "-v",
            "redis", "--version",
            "sqlite3", "-version"));

    private Straddlers() {}

    /// @param args names of source packages, none for all
    public static void main(String[] args) throws IOException, InterruptedException {
        Machine machine = Machine.of(SourceTree.harness());
        List<String> programs = args.length == 0 ? List.copyOf(PROGRAMS.keySet()) : List.of(args);
        try (Report report = new Report("straddlers", machine)) {
            report.line(format(
                    Locale.ROOT,
                    "Probe sites whose %d bytes lie across a boundary: by chance, %.1f %% of a line's, %.0f %% of a quadword's",
                    SITE_BYTES,
                    chance(LINE_BYTES),
                    chance(QUADWORD_BYTES)));
            report.line(format(
                    "%-10s %-38s %9s %9s %9s %9s %9s",
                    "PROGRAM", "COMPILED WITH", "SITES", "OF LINES", "%", "OF QUADS", "%"));
            Bars bars = new Bars("Probe sites that straddle a cache line", Axis.linear("% of the sites"));
            for (String program : programs) {
                System.err.println("mdl: " + program);
                for (String flags : FLAGS) {
                    row(program, flags, addresses(program, flags), report, bars);
                }
                bars.bar("by chance", program, chance(LINE_BYTES));
            }
            report.plot("lines", bars);
        }
    }

    /// In percent, for randomly placed sites.
    private static double chance(int unit) {
        return 100.0 * (SITE_BYTES - 1) / unit;
    }

    private static List<Long> addresses(String program, String flags) throws IOException, InterruptedException {
        Path executable = SourceTree.debian(program, flags, Build.PLAIN);
        Path directory = SourceTree.scratch("straddlers");
        ProcessBuilder builder = new Tracer.Agent("exact", true).start(executable, directory);
        builder.command().add(PROGRAMS.getOrDefault(program, "--version"));
        builder.redirectOutput(ProcessBuilder.Redirect.DISCARD);
        int unused = builder.start().waitFor();
        try (SessionReader reader = SessionReader.open(Tracer.Agent.session(directory))) {
            return reader.sites().stream()
                    .filter(site -> site.kind() != SiteProfile.Kind.RETURN)
                    .map(SiteProfile::address)
                    .toList();
        }
    }

    private static void row(String program, String flags, List<Long> sites, Report report, Bars bars)
            throws IOException {
        if (sites.isEmpty()) {
            throw new IOException("the agent finds no probe in " + program + ", compiled with " + flags);
        }
        long ofLines = straddlers(sites, LINE_BYTES);
        long ofQuadwords = straddlers(sites, QUADWORD_BYTES);
        double percent = 100.0 * ofLines / sites.size();
        report.line(format(
                Locale.ROOT,
                "%-10s %-38s %,9d %,9d %9.1f %,9d %9.1f",
                program,
                flags,
                sites.size(),
                ofLines,
                percent,
                ofQuadwords,
                100.0 * ofQuadwords / sites.size()));
        bars.bar(flags, program, percent);
    }

    private static long straddlers(List<Long> sites, int unit) {
        return sites.stream().filter(site -> site % unit + SITE_BYTES > unit).count();
    }
}
