package org.mdlagent.bench.programs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.bench.tools.Tracer;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.profiler.report.slice.TimeSlice;

/// One complete run of a program, in its own directory.
///
/// @param cpuSeconds of all its threads, the agent's included
/// @param seconds    that passed
/// @param profile    of the run, null without the agent
/// @param session    directory of the session, until the next run; null without the agent
record ProfiledRun(
        double cpuSeconds,
        double seconds,
        @Nullable Profile profile,
        @Nullable Path session) {

    /// @param options of the agent, null to run without it
    static ProfiledRun of(List<String> command, Path input, @Nullable String options)
            throws IOException, InterruptedException {
        Path directory = SourceTree.scratch("profiled");
        Path session = directory.resolve("session");
        // The shell reports its child's times; the program's output is discarded.
        List<String> timed = new ArrayList<>(
                List.of("bash", "-c", "TIMEFORMAT='%3U %3S %3R'; time env \"$@\" >/dev/null 2>/dev/null", "bash"));
        if (options != null) {
            Tracer.Agent.preload(session, options).forEach((name, value) -> timed.add(name + "=" + value));
        }
        timed.addAll(command);
        ProcessBuilder builder =
                new ProcessBuilder(timed).directory(directory.toFile()).redirectInput(input.toFile());
        builder.environment().putAll(Map.of("LC_ALL", "C"));
        Process process = builder.start();
        String times = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (process.waitFor() != 0) {
            throw new IOException(command + " has failed");
        }
        String[] seconds = times.split(" ", -1);
        double cpuSeconds = Double.parseDouble(seconds[0]) + Double.parseDouble(seconds[1]);
        double passed = Double.parseDouble(seconds[2]);
        if (options == null) {
            return new ProfiledRun(cpuSeconds, passed, null, null);
        }
        try (SessionReader reader = SessionReader.open(session)) {
            return new ProfiledRun(cpuSeconds, passed, reader.profile(), session);
        }
    }

    /// The recording after the first seconds, in whole time slices.
    Profile after(int seconds) throws IOException {
        try (SessionReader reader = SessionReader.open(Objects.requireNonNull(session))) {
            List<TimeSlice> slices = reader.slices();
            Instant from = slices.getFirst().start().plusSeconds(seconds);
            return reader.profile(slices.stream()
                    .filter(slice -> !slice.start().isBefore(from))
                    .toList());
        }
    }
}
