package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.Dist;
import org.mdlagent.runtime.SessionWords;
import org.mdlagent.runtime.agent.ConformanceTable.Cell;
import org.mdlagent.runtime.agent.ConformanceTable.Column;
import org.mdlagent.runtime.agent.ConformanceTable.Compiler;
import org.mdlagent.runtime.agent.ConformanceTable.Provider;
import org.mdlagent.runtime.agent.ConformanceTable.Seen;
import org.mdlagent.runtime.agent.ConformanceTable.Trait;

/// Programs that do what is hard for probes, and builds of one program that does what is common, with the probes of
/// each compiler, under `--wait --exact`: output and exit status are those without the agent, and the report has the
/// calls that the program has counted itself, function by function. So it is where calls are timed by chance.
///
/// The table is kept in docs/conformance.md. To renew it: `cp mdl-runtime/target/conformance.md docs/`.
class ConformanceIT {
    private static final Path PROGRAMS = Path.of("src/test/c/conformance").toAbsolutePath();
    private static final int ABORTED = 128 + 6;

    /// Functions that compilers put into their callers.
    private static final Set<String> INLINED = Set.of("small");

    /// Every second call, so that each path is taken.
    private static final String BY_CHANCE = "counted=*,countedMean=2";

    @TempDir
    Path directory;

    private static Stream<Cell> commonCells() {
        return ConformanceTable.cells().filter(Cell::isCommon);
    }

    private static Stream<Cell> otherCells() {
        return ConformanceTable.cells().filter(cell -> !cell.isCommon());
    }

    private static Stream<Cell> threadCells() {
        return commonCells()
                .filter(cell -> cell.provider().isFirstOfItsKind()
                        && cell.column().source().equals("threads.c"));
    }

    @Test
    void shouldBeWhatTheDocumentsSay() throws Exception {
        Path table = Files.writeString(Path.of("target/conformance.md"), ConformanceTable.markdown());

        assertThat(table).hasSameTextualContentAs(Path.of("../docs/conformance.md"));
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "{0}")
    @MethodSource("commonCells")
    void shouldBehaveAndCountAsWithoutTheAgent(Cell cell) throws Exception {
        check(cell, "exact");
    }

    @Tag("soak")
    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "{0}")
    @MethodSource("otherCells")
    void shouldBehaveAndCountAsWithoutTheAgentInTheOtherCells(Cell cell) throws Exception {
        check(cell, "exact");
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "{0}")
    @MethodSource("threadCells")
    void shouldBehaveAndCountByChance(Cell cell) throws Exception {
        check(cell, BY_CHANCE);
    }

    @Tag("soak")
    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "{0}")
    @MethodSource("commonCells")
    void shouldBehaveAndCountByChanceInTheCommonCells(Cell cell) throws Exception {
        check(cell, BY_CHANCE);
    }

    private void check(Cell cell, String tier) throws Exception {
        Column column = cell.column();
        assumeThat(processorHas(column)).as("the processor's vector registers").isTrue();
        assumeThat(tools(cell)).as("not run without these").allMatch(tool -> Dist.works(tool));
        Path program = build(cell.provider(), column);
        if (column.is(Trait.DEBUGGED)) {
            assertBacktraces(program, tier);
            return;
        }
        Dist.Outcome alone = run(program, Map.of("COUNTS", "counts-alone"));
        assertThat(alone.status()).as(alone.err()).isEqualTo(column.is(Trait.ABORTS) ? ABORTED : 0);
        assertThat(alone.out()).isNotEmpty();

        Map<String, String> environment = new HashMap<>(agent(tier));
        environment.put("COUNTS", "counts");
        Dist.Outcome under = run(program, environment);

        assertThat(under.text()).isEqualTo(alone.text());
        assertThat(under.err()).isEqualTo(alone.err());
        assertThat(under.status()).isEqualTo(alone.status());
        Profile profile = profile();
        assertCalls(cell, profile, counts(program, column));
        if (!tier.equals(BY_CHANCE)) {
            assertReturns(cell, profile, SessionWords.of(session()).countedOnly());
        }
    }

    private static void assertCalls(Cell cell, Profile profile, Map<String, Long> counted) {
        if (!cell.provider().early()) {
            counted.keySet().removeAll(INLINED);
        }
        assertThat(counted).isNotEmpty();
        Map<String, Long> reported = new TreeMap<>();
        for (FunctionProfile function : profile.functions()) {
            assertThat(function.callsExact())
                    .as("%s, damage: %s, losses: %s", function.name(), function.damage(), profile.losses())
                    .isTrue();
            // Those of the standard libraries that are compiled with the program do not count themselves.
            boolean counts = cell.column().isRust()
                    ? counted.containsKey(function.name())
                    : !function.name().startsWith("std::");
            if (function.calls() > 0 && counts) {
                reported.merge(function.name(), function.calls(), Long::sum);
            }
        }
        if (cell.provider().isBare()) {
            assertCallsOfCounting(cell, reported, counted);
        } else if (cell.column().is(Trait.STRIPPED)) {
            // There are only addresses for names.
            assertThat(reported.values()).containsExactlyInAnyOrderElementsOf(counted.values());
        } else {
            assertThat(reported).containsExactlyInAnyOrderEntriesOf(counted);
        }
    }

    /// Functions of the program that do not count themselves have probes, too.
    private static void assertCallsOfCounting(Cell cell, Map<String, Long> reported, Map<String, Long> counted) {
        if (cell.column().is(Trait.STRIPPED)) {
            List<Long> others = new ArrayList<>(reported.values());
            counted.values().forEach(calls -> assertThat(others.remove(calls)).isTrue());
        } else {
            assertThat(reported).containsAllEntriesOf(counted);
        }
    }

    /// Calls that did not return, as far as the probes can see, are counted as such.
    ///
    /// @param countedOnly symbols of functions whose returns no probe sees
    private static void assertReturns(Cell cell, Profile profile, Set<String> countedOnly) {
        long calls = 0;
        long returns = 0;
        for (FunctionProfile function : profile.functions()) {
            boolean timed = !countedOnly.contains(function.symbol());
            calls += timed ? function.calls() : 0;
            returns += function.sampled();
        }
        long known = profile.dropped() + profile.unmatched();
        Seen seen = cell.provider().seen();
        Column column = cell.column();
        if (seen == Seen.CALLS) {
            assertThat(returns).isZero();
        } else if (column.is(Trait.ENDS_WITH_LIVE_FRAMES)) {
            assertThat(calls - returns).isGreaterThanOrEqualTo(known);
        } else if (column.is(Trait.LEAVES_FRAMES) || column.is(Trait.THROWS) && seen == Seen.RETURNS) {
            if (cell.provider().hooks()) {
                assertThat(calls - returns).isEqualTo(known);
            } else {
                // Nothing is left of a whole call that did not return.
                assertThat(profile.unmatched()).isZero();
                assertThat(calls - returns).isGreaterThanOrEqualTo(profile.dropped());
            }
        } else {
            // Deep in a stack whole calls are not timed.
            assertThat(calls - returns).isEqualTo(cell.provider().hooks() ? 0 : profile.dropped());
            assertThat(profile.unmatched()).isZero();
        }
    }

    private Profile profile() throws IOException {
        try (SessionReader reader = SessionReader.open(session())) {
            return reader.profile();
        }
    }

    /// Calls of each function by its name, as the program has counted them.
    private Map<String, Long> counts(Path program, Column column) throws Exception {
        Map<Long, String> symbols = column.isRust() ? rustNames(program) : Map.of();
        Map<String, Long> counts = new TreeMap<>();
        for (String line : Files.readAllLines(directory.resolve("counts"))) {
            String[] fields = line.split(" ", 2);
            String name = fields[1].startsWith("+")
                    ? symbols.get(Long.parseLong(fields[1], 1, fields[1].length(), 16))
                    : fields[1];
            if (!fields[0].equals("0")) {
                counts.merge(name, Long.parseLong(fields[0]), Long::sum);
            }
        }
        return counts;
    }

    /// As binutils reads them, but for the hashes of crates and the types of constants.
    private Map<Long, String> rustNames(Path program) throws Exception {
        Map<Long, String> names = new HashMap<>();
        String read = execute(List.of("nm", "--demangle", "--defined-only", program.toString()));
        for (String line : read.split("\n")) {
            String[] fields = line.split(" ", 3);
            String name = fields[2].replaceAll("\\[[0-9a-f]{8,16}\\]|::h[0-9a-f]{16}$|(?<=\\d): [iu](\\d+|size)", "");
            if ("tT".contains(fields[1])) {
                names.put(Long.parseLong(fields[0], 16), name);
            }
        }
        return names;
    }

    /// The functions on the stacks that gdb shows where `stacks` calls getpgrp, and where it enters a probed function
    /// below a signal handler.
    private void assertBacktraces(Path program, String tier) throws Exception {
        List<String> alone = backtraces(program, Map.of());
        assertThat(alone).contains("getpgrp", "innermost", "main", "show", "on_signal", "<signal handler called>");

        List<String> under = backtraces(program, agent(tier));

        assertThat(profile().functions())
                .filteredOn(function -> function.calls() > 0)
                .isNotEmpty();
        under.removeIf(function -> function.startsWith("mdl_"));
        assertThat(under).isEqualTo(alone);
    }

    private List<String> backtraces(Path program, Map<String, String> environment) throws Exception {
        List<String> script = new ArrayList<>(List.of(
                "set startup-with-shell off",
                // Writes to the page of _start, which the agent then leaves alone, as one with a breakpoint in it.
                "set displaced-stepping off",
                // The JVM's own, and the program's.
                "handle SIGSEGV SIGUSR1 nostop noprint pass"));
        environment.forEach((name, value) -> script.add("set environment " + name + " " + value));
        // No breakpoint in the program before the agent has armed, for the same reason.
        script.addAll(List.of("catch syscall getpgrp", "run", "bt", "delete", "break show", "continue", "bt", "kill"));
        List<String> command = command("gdb -q -batch -nx");
        script.forEach(line -> command.addAll(List.of("-ex", line)));
        command.add(program.toString());
        Dist.Outcome outcome = Dist.run(directory, Map.of("DEBUGINFOD_URLS", ""), command);
        assertThat(outcome.status()).as(outcome.err()).isZero();
        return Pattern.compile("(?m)^#\\d+ +(?:0x[0-9a-f]+ in )?(?:__GI_)?(<signal handler called>|\\S+)")
                .matcher(outcome.text())
                .results()
                .map(frame -> frame.group(1))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    private Dist.Outcome run(Path program, Map<String, String> environment) throws Exception {
        List<String> command = command("env -C", directory.toString());
        environment.forEach((name, value) -> command.add(name + "=" + value));
        command.add(program.toString());
        return Dist.run(directory, Map.of(), command);
    }

    private Map<String, String> agent(String tier) {
        return Dist.preload("wait," + tier + ",session=" + session());
    }

    private Path session() {
        return directory.resolve("session");
    }

    private static List<String> tools(Cell cell) {
        if (cell.column().isRust()) {
            return List.of("rustc");
        }
        String compiler = cell.provider().compiler().commandFor(cell.column().source());
        return cell.column().is(Trait.DEBUGGED) ? List.of(compiler, "gdb") : List.of(compiler);
    }

    private static boolean processorHas(Column column) throws IOException {
        List<String> features =
                command(Files.readString(Path.of("/proc/cpuinfo")).replace('\n', ' '));
        return Stream.of("avx", "avx512f")
                .filter(feature -> command(column.flags()).contains("-m" + feature))
                .allMatch(features::contains);
    }

    private Path build(Provider provider, Column column) throws Exception {
        Path program = directory.resolve("program");
        if (column.isRust()) {
            compileRust(provider, column.source(), program);
        } else if (column.is(Trait.LINKED_LIBRARY)) {
            Path library = directory.resolve("libcommon.so");
            compile(provider, column.source(), column.flags(), library);
            compile(provider, "uses_library.c", "-Wl,-rpath," + directory, program, library.toString());
        } else if (column.is(Trait.OPENED_LIBRARY)) {
            compile(provider, column.source(), column.flags(), directory.resolve("program.so"));
            compile(provider, "opens_library.c", "", program);
        } else if (column.is(Trait.RELIES_ON_CALLEE)) {
            // The option would make the compiler careful.
            compile(provider.byAttribute(), column.source(), column.flags() + " -fno-ipa-ra", program);
            String careful = disassemble(program);
            compile(provider.byAttribute(), column.source(), column.flags(), program);
            assertThat(disassemble(program)).isNotEqualTo(careful);
        } else {
            compile(provider, column.source(), column.flags(), program);
        }
        return program;
    }

    /// Links without -pg: gprof's own start would measure, too.
    private void compile(Provider provider, String source, String flags, Path program, String... libraries)
            throws Exception {
        String compiler = provider.compiler().commandFor(source);
        Path object = directory.resolve(source + ".o");
        List<String> compilation = command(compiler, "-O2 -g -w", provider.flags(), flags);
        compilation.removeAll(List.of("-shared", "-s", "-rdynamic"));
        if (flags.contains("-flto") && provider.compiler() == Compiler.GCC) {
            // Makes code of the intermediate form here, where -pg is known.
            compilation.addAll(List.of("-r", "-flinker-output=nolto-rel"));
        } else {
            compilation.add("-c");
        }
        compilation.addAll(
                List.of("-o", object.toString(), PROGRAMS.resolve(source).toString()));
        execute(compilation);
        List<String> linking = command(compiler, "-O2 -w -pthread", provider.flags(), flags);
        linking.remove("-pg");
        linking.addAll(List.of("-o", program.toString(), object.toString()));
        linking.addAll(List.of(libraries));
        execute(linking);
    }

    private void compileRust(Provider provider, String source, Path program) throws Exception {
        // Lets the compiler of a release take options that are not stable.
        List<String> command = command("env RUSTC_BOOTSTRAP=1 rustc -O -g -Z", provider.rust(), "-o");
        command.addAll(List.of(program.toString(), PROGRAMS.resolve(source).toString()));
        execute(command);
    }

    private String disassemble(Path program) throws Exception {
        return execute(List.of("objdump", "-d", program.toString()));
    }

    private String execute(List<String> command) throws Exception {
        Dist.Outcome outcome = Dist.run(directory, Map.of(), command);
        assertThat(outcome.status()).as(command + "\n" + outcome.err()).isZero();
        return outcome.text();
    }

    private static List<String> command(String... words) {
        return Arrays.stream(String.join(" ", words).strip().split(" +"))
                .collect(Collectors.toCollection(ArrayList::new));
    }
}
