package org.mdlagent.bench.tools;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.file.OpenFile;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.report.file.SessionFile;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.session.SessionReader;

/// A tracer of the calls of a running `calls.c`.
public sealed interface Tracer {
    String PROBED = "probed";
    String BYSTANDER = "bystander";

    /// The command that it needs, or null.
    @Nullable
    String command();

    /// The program under it.
    ///
    /// @param directory empty, for what it writes
    ProcessBuilder start(Path program, Path directory);

    /// Why a run is invalid, judged by its output; null if it saw all of `calls`.
    @Nullable
    String problem(Path program, Path directory, long calls) throws IOException, InterruptedException;

    /// No tracer.
    record None() implements Tracer {
        @Override
        public @Nullable String command() {
            return null;
        }

        @Override
        public ProcessBuilder start(Path program, Path directory) {
            return builder(directory, program.toString());
        }

        @Override
        public @Nullable String problem(Path program, Path directory, long calls) {
            return null;
        }
    }

    /// The agent.
    ///
    /// @param options besides `wait` and `session`
    /// @param active  whether the probes of the called function are on
    record Agent(String options, boolean active) implements Tracer {
        public static Path session(Path directory) {
            return directory.resolve("session");
        }

        /// Variables of a program that runs under the agent.
        public static Map<String, String> preload(Path session, String options) {
            return Map.of(
                    "LD_PRELOAD", SourceTree.agent().toString(), "MDL_OPTIONS", "session=" + session + "," + options);
        }

        /// The session's record of its process.
        public static ByteBuffer header(Path directory) throws IOException {
            ByteBuffer header = ByteBuffer.allocate((int) HeaderDescriptor.SIZE).order(ByteOrder.LITTLE_ENDIAN);
            try (OpenFile opened = SessionFile.open(session(directory));
                    FileChannel file = opened.channel(StandardOpenOption.READ)) {
                int unused = file.read(header);
            }
            return header;
        }

        /// From the agent's constructor until the probes were in place, in ticks.
        public static long armedTicks(ByteBuffer header) {
            return header.getLong((int) HeaderDescriptor.ARMED_TSC) - header.getLong((int) HeaderDescriptor.START_TSC);
        }

        @Override
        public @Nullable String command() {
            return null;
        }

        @Override
        public ProcessBuilder start(Path program, Path directory) {
            ProcessBuilder builder = builder(directory, program.toString());
            builder.environment().putAll(preload(session(directory), "wait," + options));
            return builder;
        }

        @Override
        public @Nullable String problem(Path program, Path directory, long calls) throws IOException {
            try (SessionReader reader = SessionReader.open(session(directory))) {
                Profile profile = reader.profile();
                FunctionProfile function = function(profile);
                if (!active) {
                    boolean sites = reader.sites().stream()
                            .anyMatch(site -> !site.function().equals(BYSTANDER));
                    return function != null && function.calls() > 0
                            ? "the probes were on"
                            : sites ? null : "the agent finds no probe";
                }
                if (function == null) {
                    return "the agent finds no probe";
                }
                if (function.calls() != calls || profile.dropped() != 0 || profile.unmatched() != 0) {
                    return "%,d calls counted of %,d, %,d dropped, %,d unmatched"
                            .formatted(function.calls(), calls, profile.dropped(), profile.unmatched());
                }
                return null;
            }
        }

        private static @Nullable FunctionProfile function(Profile profile) {
            return profile.functions().stream()
                    .filter(function -> function.symbol().equals(PROBED))
                    .findAny()
                    .orElse(null);
        }
    }

    /// gprof's run-time library, which the program is linked with.
    record Gprof() implements Tracer {
        @Override
        public String command() {
            return "gprof";
        }

        @Override
        public ProcessBuilder start(Path program, Path directory) {
            return builder(directory, program.toString());
        }

        @Override
        public @Nullable String problem(Path program, Path directory, long calls)
                throws IOException, InterruptedException {
            return compare(
                    output(directory, "gprof", "-bp", program.toString(), "gmon.out"), ".* (\\d+) .* probed", calls);
        }
    }

    /// uftrace.
    ///
    /// @param options how it finds its probes, where the program does not call it by itself
    record Uftrace(List<String> options) implements Tracer {
        /// For all functions.
        public static Uftrace of(Build build) {
            return new Uftrace(build == Build.PATCHABLE ? List.of("-P", ".") : List.of());
        }

        @Override
        public String command() {
            return "uftrace";
        }

        @Override
        public ProcessBuilder start(Path program, Path directory) {
            ProcessBuilder builder = builder(directory, "uftrace", "record", "--no-libcall", "-d", "data");
            builder.command().addAll(options);
            builder.command().add(program.toString());
            return builder;
        }

        @Override
        public @Nullable String problem(Path program, Path directory, long calls)
                throws IOException, InterruptedException {
            return compare(output(directory, "uftrace", "report", "-d", "data"), ".* (\\d+)  probed", calls);
        }
    }

    /// XRay's run-time library, which the program is linked with.
    ///
    /// @param mode `xray-fdr` or `xray-basic`
    record XRay(String mode) implements Tracer {
        /// Bytes of a call in its log, which keeps only the last ones.
        private static final int BYTES_MIN = 1000;

        @Override
        public @Nullable String command() {
            return null;
        }

        @Override
        public ProcessBuilder start(Path program, Path directory) {
            return builder(directory, program.toString(), mode);
        }

        @Override
        public @Nullable String problem(Path program, Path directory, long calls) throws IOException {
            try (Stream<Path> files = Files.list(directory)) {
                Path log = files.filter(file -> file.getFileName().toString().startsWith("xray-log."))
                        .findAny()
                        .orElse(null);
                return log == null || Files.size(log) < BYTES_MIN ? "XRay has recorded nothing" : null;
            }
        }
    }

    /// A uprobe of bpftrace that counts; with a uretprobe that together with it makes a histogram, if asked for.
    record Uprobe(boolean timed) implements Tracer {
        @Override
        public String command() {
            return "bpftrace";
        }

        @Override
        public ProcessBuilder start(Path program, Path directory) {
            String script = (timed ? """
                    uprobe:PROGRAM:probed { @start[tid] = nsecs; @calls = count(); }
                    uretprobe:PROGRAM:probed /@start[tid]/ { @nanos = hist(nsecs - @start[tid]); delete(@start[tid]); }
                    """ : "uprobe:PROGRAM:probed { @calls = count(); }")
                    .replace("PROGRAM", program.toString());
            return builder(directory, "bpftrace", "-o", "histogram", "-e", script, "-c", program.toString());
        }

        @Override
        public @Nullable String problem(Path program, Path directory, long calls) throws IOException {
            return compare(Files.readString(directory.resolve("histogram")), "@calls: (\\d+)", calls);
        }
    }

    /// A tool that needs several commands: a script of the tool's name in `src/main/peers`.
    record Script(String command) implements Tracer {
        @Override
        public ProcessBuilder start(Path program, Path directory) {
            return builder(directory, script(), "start", program.toString());
        }

        @Override
        public @Nullable String problem(Path program, Path directory, long calls)
                throws IOException, InterruptedException {
            return compare(output(directory, script(), "calls"), "(\\d+)", calls);
        }

        private String script() {
            return SourceTree.peer(command).toString();
        }
    }

    /// Tracers by name: none, the agent, which records every call, and uftrace, if installed.
    static Map<String, Tracer> compared(Build build, String agent) {
        Map<String, Tracer> tracers = new LinkedHashMap<>();
        tracers.put("nobody", new None());
        tracers.put(agent, new Agent("exact", true));
        if (Build.isCommand("uftrace")) {
            tracers.put("uftrace", Uftrace.of(build));
        }
        return tracers;
    }

    private static ProcessBuilder builder(Path directory, String... command) {
        return new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectError(complaints(directory).toFile());
    }

    /// The file with the output of tool and program.
    static Path complaints(Path directory) {
        return directory.resolve("stderr");
    }

    private static String output(Path directory, String... command) throws IOException, InterruptedException {
        Process process = builder(directory, command).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int unused = process.waitFor();
        return output;
    }

    /// @param line of the tool's output; its first group is the number of calls
    private static @Nullable String compare(String output, String line, long calls) {
        Matcher matcher = Pattern.compile("^" + line + "$", Pattern.MULTILINE).matcher(output);
        if (!matcher.find()) {
            return "it has seen no call";
        }
        long seen = Long.parseLong(matcher.group(1));
        return seen == calls ? null : "it has seen %,d calls of %,d".formatted(seen, calls);
    }
}
