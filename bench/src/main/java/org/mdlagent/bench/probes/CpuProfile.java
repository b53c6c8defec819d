package org.mdlagent.bench.probes;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.Tracer;

/// CPU time profile of a program under the agent: perf samples by the kernel's clock, which works on virtual
/// machines too.
final class CpuProfile {
    private static final int HERTZ = 5_000;

    /// `33.68% ; 958 ;C1 CompilerThre;libjvm.so`.
    private static final Pattern LINE = Pattern.compile(" *[0-9.]+% *; *(\\d+) *;(.*);(.*)");

    private CpuProfile() {}

    static boolean isPossible() {
        return Build.isCommand("perf");
    }

    /// Runs a program from its start to its end, without input.
    ///
    /// @param directory empty
    /// @return seconds of CPU time: of the JVM's own threads by their names, of others by the image they execute
    static Map<String, Double> seconds(Path program, Path directory, String options)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("perf", "record", "-q", "-e", "cpu-clock", "-o", "data"));
        // By env, without the agent, so that perf is not measured.
        command.addAll(List.of("-F", Integer.toString(HERTZ), "--", "env"));
        Tracer.Agent.preload(Tracer.Agent.session(directory), options)
                .forEach((name, value) -> command.add(name + "=" + value));
        command.add(program.toString());
        Process record = builder(directory, command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectInput(Path.of("/dev/null").toFile())
                .start();
        if (record.waitFor() != 0) {
            throw new IOException("perf cannot record " + program);
        }
        Process report = builder(
                        directory,
                        List.of("perf", "report", "-i", "data", "--stdio", "-n", "--sort", "comm,dso", "-t", ";"))
                .start();
        try (BufferedReader lines = report.inputReader()) {
            return seconds(lines, program.getFileName().toString());
        }
    }

    private static Map<String, Double> seconds(BufferedReader report, String program) {
        Map<String, Double> seconds = new TreeMap<>();
        report.lines().map(LINE::matcher).filter(Matcher::matches).forEach(line -> {
            String thread = line.group(2).strip();
            String image = line.group(3).strip().replaceFirst("\\[JIT\\].*", "Java code");
            double samples = Double.parseDouble(line.group(1));
            seconds.merge(thread.equals(program) ? image : thread, samples / HERTZ, Double::sum);
        });
        return seconds;
    }

    private static ProcessBuilder builder(Path directory, List<String> command) {
        return new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectError(Tracer.complaints(directory).toFile());
    }
}
