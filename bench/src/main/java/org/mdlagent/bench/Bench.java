package org.mdlagent.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// `./mdl bench [quick|all|NAME[:PROGRAM,...]...]`: runs benchmarks, and writes `bench/RESULTS.md` anew.
///
/// Each measurement runs in its own process, with a JVM like the agent's. Its class is named as text, so that
/// `./mdl bench` can validate its arguments with this class alone, before anything else is built.
public final class Bench {
    private static final String CHECK = "--check";
    static final List<String> NAMES = List.of(
            "start",
            "patching",
            "probes",
            "bare",
            "mdl",
            "profiler",
            "trust",
            "overhead",
            "macro",
            "scaling",
            "source");
    private static final List<String> QUICK = NAMES.subList(0, 10);

    /// Benchmarks with a choice of programs.
    private static final List<String> OF_PROGRAMS = List.of("profiler", "trust", "overhead", "macro", "source");

    /// Kinds of probe sites, for benchmarks that measure both.
    private static final List<String> BUILDS = List.of("HOOKS", "PATCHABLE");

    /// Invalid arguments.
    static final class UsageException extends Exception {
        private static final long serialVersionUID = 1;

        UsageException(String message) {
            super(message);
        }
    }

    /// A measuring program.
    ///
    /// @param program    a class below this package
    /// @param properties of its JVM
    /// @param heap       of its JVM
    record Measurement(String program, List<String> arguments, List<String> properties, String heap) {
        static Measurement of(String program, List<String> arguments) {
            return new Measurement(program, arguments, List.of(), "64m");
        }

        static Measurement of(String program, String... arguments) {
            return of(program, List.of(arguments));
        }

        Measurement heap(String size) {
            return new Measurement(program, arguments, properties, size);
        }

        Measurement with(String property, int value) {
            List<String> more = new ArrayList<>(properties);
            more.add("-D" + property + "=" + value);
            return new Measurement(program, arguments, more, heap);
        }

        String mainClass() {
            return Bench.class.getPackageName() + "." + program;
        }

        List<String> command() {
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin/java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
                    "-Dmdl.root=" + System.getProperty("mdl.root"),
                    "-Djava.awt.headless=true"));
            command.addAll(properties);
            command.addAll(List.of(
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-Xmx" + heap,
                    "-cp",
                    System.getProperty("java.class.path"),
                    mainClass()));
            command.addAll(arguments);
            return command;
        }

        boolean succeeds() throws IOException, InterruptedException {
            return new ProcessBuilder(command()).inheritIO().start().waitFor() == 0;
        }
    }

    private final boolean quick;

    /// @param quick shortened to some minutes
    Bench(boolean quick) {
        this.quick = quick;
    }

    /// @param args names of benchmarks; with `--check` first they are only validated
    public static void main(String[] args) throws IOException, InterruptedException {
        List<String> asked = List.of(args);
        boolean check = !asked.isEmpty() && asked.getFirst().equals(CHECK);
        asked = check ? asked.subList(1, asked.size()) : asked;
        boolean quick = asked.isEmpty() || asked.equals(List.of("quick"));
        List<String> names = quick ? QUICK : asked.equals(List.of("all")) ? NAMES : asked;
        try {
            for (String name : names) {
                check(name);
            }
        } catch (UsageException e) {
            System.err.println("mdl: " + e.getMessage());
            System.exit(1);
        }
        if (!check) {
            new Bench(quick).run(names);
        }
    }

    /// @throws UsageException if there is no such benchmark
    static void check(String asked) throws UsageException {
        String name = name(asked);
        if (!NAMES.contains(name)) {
            String mdl = System.getProperty("mdl.command", "./mdl");
            List<String> lines = new ArrayList<>(List.of(
                    "there is no benchmark " + asked + "; there are:",
                    mdl + " bench quick            in 15 minutes",
                    mdl + " bench all              in 6 hours at most"));
            NAMES.forEach(one -> lines.add(mdl + " bench " + one));
            lines.add(mdl + " bench profiler:lua,perl macro:nginx    with some of their programs");
            throw new UsageException(String.join("\n     ", lines));
        }
        if (!asked.equals(name) && !OF_PROGRAMS.contains(name)) {
            throw new UsageException("benchmark " + name + " has no programs to choose from");
        }
    }

    private static String name(String asked) {
        int colon = asked.indexOf(':');
        return colon < 0 ? asked : asked.substring(0, colon);
    }

    /// A failure does not stop the other benchmarks.
    private void run(List<String> names) throws IOException, InterruptedException {
        List<String> failed = new ArrayList<>();
        for (String asked : names) {
            System.err.println("mdl: benchmark " + name(asked));
            for (Measurement measurement : measurements(asked)) {
                if (!measurement.succeeds()) {
                    failed.add(measurement.program);
                }
            }
        }
        Measurement results = Measurement.of("report.Results");
        if (!results.succeeds()) {
            failed.add(results.program);
        }
        // With what was built before: the script has replaced itself by this process.
        Instant start = ProcessHandle.current().info().startInstant().orElseThrow();
        Duration taken = Duration.between(start, Instant.now());
        System.err.println("mdl: that took " + taken.toMinutes() + " min " + taken.toSecondsPart() + " s");
        if (!failed.isEmpty()) {
            System.err.println(
                    "mdl: " + String.join(" ", failed) + " failed, as is said above; the others are measured");
            System.exit(1);
        }
    }

    /// @param asked a benchmark, perhaps with programs
    List<Measurement> measurements(String asked) {
        return switch (name(asked)) {
            case "start" -> List.of(rounds(7, Measurement.of("probes.StartUp")));
            case "patching" ->
                List.of(
                        Measurement.of("patching.PatchingBenchmarks"),
                        Measurement.of("patching.PatchLatency"),
                        Measurement.of("patching.TmaxCalibration", quick ? List.of("--quick") : List.of()),
                        Measurement.of(
                                "patching.Straddlers", quick ? List.of("bzip2", "lua5.4", "sqlite3") : List.of()));
            case "probes" ->
                Stream.concat(
                                Stream.of(Measurement.of("probes.CallCosts")),
                                ofBuilds("probes.ManyProbes", "probes.ToggleLoad"))
                        .map(measurement -> rounds(2, measurement))
                        .toList();
            case "bare" ->
                Stream.of(
                                Measurement.of("probes.CallCosts", "bare"),
                                Measurement.of("probes.OpenedLibraries"),
                                Measurement.of("metrics.HundredFunctions"),
                                Measurement.of("programs.TimeToFind").heap("256m"))
                        .map(measurement -> rounds(2, measurement))
                        .toList();
            case "mdl" ->
                BUILDS.stream()
                        .flatMap(build -> Stream.of(
                                rounds(2, Measurement.of("metrics.SnippetCosts", build)),
                                Measurement.of("metrics.RequestLatency", build)))
                        .toList();
            case "profiler" -> {
                List<String> programs = programs(
                        asked,
                        quick ? List.of("bzip2") : List.of("bzip2", "zstd", "lua", "perl", "sqlite", "nbody", "hull"));
                yield List.of(rounds(1, Measurement.of("programs.SteadyOverhead", programs)));
            }
            case "trust" -> {
                List<String> programs = programs(
                        asked,
                        quick
                                ? List.of("service")
                                : List.of(
                                        "service",
                                        "recursive",
                                        "phases",
                                        "many",
                                        "coroutines",
                                        "bzip2",
                                        "zstd",
                                        "lua",
                                        "perl",
                                        "sqlite"));
                Measurement table = rounds(2, Measurement.of("programs.TruthTable", programs))
                        .heap("256m");
                yield List.of(quick ? table.with("mdl.bench.seconds", 10) : table);
            }
            case "overhead" -> {
                List<String> services = programs(asked, quick ? List.of("sqlite3") : List.of());
                yield List.of(rounds(1, Measurement.of("programs.OverheadTable", services)));
            }
            case "macro" -> {
                List<String> services = programs(asked, quick ? List.of("redis", "sqlite3") : List.of());
                yield List.of(rounds(1, Measurement.of("programs.MacroTable", services)));
            }
            case "scaling" ->
                ofBuilds("probes.StartScaling", "probes.CallScaling", "probes.FamilyScaling")
                        .map(measurement -> rounds(2, measurement))
                        // It holds the tables of 100,000 probes in addition to its own.
                        .map(each -> each.program.equals("probes.StartScaling") ? each.heap("256m") : each)
                        .toList();
            default ->
                List.of(Measurement.of(
                        "programs.SourceTable", programs(asked, List.of("gzip", "tcc", "glpk", "bzip2"))));
        };
    }

    private static Stream<Measurement> ofBuilds(String... programs) {
        return BUILDS.stream().flatMap(build -> Stream.of(programs).map(program -> Measurement.of(program, build)));
    }

    /// Rounds of a quick run; otherwise the measurement's own number.
    private Measurement rounds(int few, Measurement measurement) {
        return quick ? measurement.with("mdl.bench.rounds", few) : measurement;
    }

    private static List<String> programs(String asked, List<String> otherwise) {
        int colon = asked.indexOf(':');
        return colon < 0 ? otherwise : List.of(asked.substring(colon + 1).split(","));
    }
}
