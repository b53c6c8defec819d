package org.mdlagent.bench.programs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.Tracer;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.session.SessionReader;

/// A profiler of servers, and how the server is compiled for it.
enum Watcher {
    NOBODY("nobody", Build.PLAIN, null),
    LATENT("nobody; compiled for probes", Build.PATCHABLE, null),
    IDLE("the agent, no probe on", Build.PATCHABLE, "profile=off"),
    GOVERNED("the agent, profiling at 1 %", Build.PATCHABLE, "budgetPercent=1"),
    EXACT("the agent, every call of every function", Build.PATCHABLE, "exact"),
    UFTRACE("uftrace, every call of every function", Build.PATCHABLE, null),
    NOBODY_CLANG("nobody; compiled with clang", Build.PLAIN_CLANG, null),
    /// XRay's flight data recorder needs the program to write its data; these programs do not.
    XRAY("XRay, basic mode", Build.XRAY, null);

    /// Minimum output of a tool that has seen some thousands of requests.
    private static final long BYTES_MIN = 10_000;

    private final String what;
    private final Build build;
    private final @Nullable String options;

    /// @param options of the agent, null without it
    Watcher(String what, Build build, @Nullable String options) {
        this.what = what;
        this.build = build;
        this.options = options;
    }

    Build build() {
        return build;
    }

    /// The reference watcher.
    Watcher base() {
        return this == XRAY || this == NOBODY_CLANG ? NOBODY_CLANG : NOBODY;
    }

    /// Warm-up in seconds: for a profile, until the start-up spending is recovered.
    int warmUpSeconds() {
        return this == GOVERNED ? 8 : 1;
    }

    /// What it lacks on this machine, or null.
    @Nullable
    String absence() {
        return build.compiler() == null
                ? "there is no clang"
                : this == UFTRACE && !Build.isCommand("uftrace") ? "there is no uftrace" : null;
    }

    /// Runs a program under the watcher.
    ///
    /// @param directory empty but for the program's own files
    List<String> command(List<String> program, Path directory) {
        return switch (this) {
            case NOBODY, LATENT, NOBODY_CLANG -> program;
            case IDLE, GOVERNED, EXACT ->
                with(Tracer.Agent.preload(Tracer.Agent.session(directory), "wait," + options), program);
            case UFTRACE -> {
                List<String> record = new ArrayList<>(List.of(
                        "uftrace",
                        "record",
                        "--no-libcall",
                        "-P",
                        ".",
                        "-d",
                        log(directory).toString()));
                record.addAll(program);
                yield record;
            }
            case XRAY ->
                with(
                        Map.of(
                                "XRAY_OPTIONS",
                                "patch_premain=true xray_mode=xray-basic xray_logfile_base=" + log(directory) + ".",
                                "XRAY_BASIC_OPTIONS",
                                "func_duration_threshold_us=0"),
                        program);
        };
    }

    private static List<String> with(Map<String, String> variables, List<String> program) {
        List<String> command = new ArrayList<>(List.of("env"));
        variables.forEach((name, value) -> command.add(name + "=" + value));
        command.addAll(program);
        return command;
    }

    /// Why a run is invalid, judged by its output; null if the requests were seen.
    ///
    /// @param function that the program calls for each request
    @Nullable
    String problem(Path directory, String function, long requests) throws IOException {
        return switch (this) {
            case NOBODY, LATENT, NOBODY_CLANG -> null;
            case IDLE, GOVERNED, EXACT -> problemOfAgent(directory, function, requests);
            case UFTRACE, XRAY -> bytes(directory) < BYTES_MIN ? "it has recorded nothing" : null;
        };
    }

    private @Nullable String problemOfAgent(Path directory, String function, long requests) throws IOException {
        try (SessionReader reader = SessionReader.open(Tracer.Agent.session(directory))) {
            Profile profile = reader.profile();
            long calls = profile.functions().stream()
                    .filter(each -> each.symbol().equals(function))
                    .mapToLong(FunctionProfile::calls)
                    .sum();
            long expected = this == EXACT ? requests : this == GOVERNED ? 1 : 0;
            return calls < expected || (this == IDLE && calls > 0)
                    ? "%,d calls of %s counted in %,d requests".formatted(calls, function, requests)
                    : null;
        }
    }

    private static Path log(Path directory) {
        return directory.resolve("recorded");
    }

    private static long bytes(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            long bytes = 0;
            for (Path file : files.filter(Watcher::isRecorded).toList()) {
                bytes += Files.size(file);
            }
            return bytes;
        }
    }

    private static boolean isRecorded(Path path) {
        return path.toString().contains("/recorded") && Files.isRegularFile(path);
    }

    @Override
    public String toString() {
        return what;
    }
}
