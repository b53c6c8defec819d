package org.mdlagent.runtime.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// `mdl collect blocks`: counts of basic blocks equal what the program itself counts, and what Callgrind does.
class BlocksIT {
    private static final int THREADS = 4;
    private static final int SIGNALS_ROUNDS = 6;
    private static final Path VALGRIND = Path.of("/usr/bin/valgrind");

    /// Lines of Callgrind's file: object, call, and position with cost.
    private static final Pattern OBJECT = Pattern.compile("c?ob=\\((\\d+)\\)(?: (.*))?");

    private static final Pattern COST = Pattern.compile("(\\*|[+-]\\d+|0x[0-9a-f]+) \\S+(?: (\\d+))? ?");

    /// How often a jump was taken, of how many executions, and its target.
    private static final Pattern JUMP = Pattern.compile("(?:jcnd|jump)=(\\d+)(?:/\\d+)? (\\S+).*");

    @TempDir
    Path directory;

    private Path session() {
        return directory.resolve("session");
    }

    private JsonNode collect(List<String> command, String... options) throws Exception {
        return collect("blocks", command, options);
    }

    private JsonNode collect(String what, List<String> command, String... options) throws Exception {
        List<String> all = new ArrayList<>(
                List.of(Dist.mdl(), "collect", what, "-o", session().toString()));
        all.addAll(List.of(options));
        all.add("--");
        all.addAll(command);
        Dist.Outcome outcome = Dist.run(directory, Map.of(), all);
        assertThat(outcome.status()).as(outcome.err()).isZero();
        Files.writeString(directory.resolve("out"), outcome.text());
        return Dist.report(directory, session());
    }

    /// The counts of lines that count themselves.
    private static Map<Integer, Long> lines(JsonNode report) throws IOException {
        Map<Integer, Long> lines = new TreeMap<>();
        List<String> source = Files.readAllLines(Path.of("src/test/c/blocks.c"));
        for (int i = 0; i < source.size(); i++) {
            if (source.get(i).contains("HERE;")) {
                lines.put(i + 1, 0L);
            }
        }
        for (JsonNode block : report.get("blocks")) {
            for (JsonNode line : block.get("lines")) {
                if (line.get("file").asText().endsWith("blocks.c")) {
                    lines.computeIfPresent(
                            line.get("line").asInt(),
                            (number, count) -> count + block.get("count").asLong());
                }
            }
        }
        return lines;
    }

    @ParameterizedTest
    @ValueSource(strings = {"-O2", "-fno-jump-tables", "-fpatchable-function-entry=5"})
    void shouldCountEachBlockInThreadsHandlersAndForkedProcesses(String flags) throws Exception {
        Path program = Dist.compile(directory, "blocks", flags);

        JsonNode report = collect(List.of(program.toString(), THREADS + ""));

        Map<Integer, Long> expected = lines(report);
        expected.replaceAll((line, count) -> 0L);
        for (String counted : Files.readAllLines(directory.resolve("out"))) {
            String[] parts = counted.split(" ");
            expected.put(Integer.parseInt(parts[0]), Long.parseLong(parts[1]));
        }
        assertThat(expected.values()).filteredOn(count -> count > 0).hasSizeGreaterThan(20);
        assertThat(lines(report)).isEqualTo(expected);
        assertThat(report.get("session").get("collected").asText()).isEqualTo("blocks");
    }

    /// The same with arcs; the arcs to each block, and those from it, are as many as its runs.
    @Test
    void shouldCountEachArc() throws Exception {
        Path program = Dist.compile(directory, "blocks");

        JsonNode report = collect("arcs", List.of(program.toString(), THREADS + ""));

        Map<Integer, Long> expected = lines(report);
        expected.replaceAll((line, count) -> 0L);
        for (String counted : Files.readAllLines(directory.resolve("out"))) {
            String[] parts = counted.split(" ");
            expected.put(Integer.parseInt(parts[0]), Long.parseLong(parts[1]));
        }
        assertThat(lines(report)).isEqualTo(expected);
        checkFlow(report);
        // Four computed jumps, each of which led to one of four labels.
        assertThat(report.get("arcs"))
                .filteredOn(arc -> arc.get("function").asText().equals("threaded")
                        && arc.get("kind").asText().equals("computed")
                        && arc.has("from")
                        && arc.has("to")
                        && arc.get("count").asLong() > 0)
                .hasSize(7);
    }

    /// `llvm-bolt` reads them. Local functions have names with their file, calls by pointers no caller.
    @Test
    void shouldWriteBranchesForBolt() throws Exception {
        Path program = Dist.compile(directory, "blocks", "-Wl,--build-id");
        Path branches = directory.resolve("branches");

        collect("arcs", List.of(program.toString(), THREADS + ""), "--report=fdata:" + branches);

        List<String> lines = Files.readAllLines(branches);
        assertThat(lines)
                .allMatch(line -> line.matches("(1 \\S+|0 \\[unknown\\]) \\p{XDigit}+ 1 \\S+ \\p{XDigit}+ 0 \\d+"));
        assertThat(lines).anyMatch(line -> line.matches("1 work/blocks.c/1 \\p{XDigit}+ 1 rare 0 0 120"));
        assertThat(lines).contains("0 [unknown] 0 1 tail 0 0 12000", "0 [unknown] 0 1 handler 0 0 120");
        assertThat(lines)
                .filteredOn(line -> line.matches("1 threaded .* 1 threaded .*"))
                .hasSizeGreaterThan(6);
    }

    /// As many arcs lead to each block as lead away, and calls are arcs to a function's first block.
    private static void checkFlow(JsonNode report) {
        TreeMap<Long, Long> runs = new TreeMap<>();
        report.get("blocks")
                .forEach(block -> runs.put(
                        block.get("address").asLong(), block.get("count").asLong()));
        Map<Long, Long> into = new TreeMap<>();
        Map<Long, Long> outOf = new TreeMap<>();
        runs.keySet().forEach(block -> into.put(block, 0L));
        runs.keySet().forEach(block -> outOf.put(block, 0L));
        Map<String, Long> entries = new TreeMap<>();
        for (JsonNode arc : report.get("arcs")) {
            long count = arc.get("count").asLong();
            if (arc.has("to")) {
                into.merge(arc.get("to").asLong(), count, Long::sum);
            }
            if (arc.has("from")) {
                outOf.merge(runs.floorKey(arc.get("from").asLong()), count, Long::sum);
            }
            if (arc.get("kind").asText().equals("entry")) {
                entries.merge(arc.get("function").asText(), count, Long::sum);
            }
        }
        assertThat(into).isEqualTo(runs);
        assertThat(outOf).isEqualTo(runs);
        for (JsonNode function : report.get("functions")) {
            String name = function.get("name").asText();
            if (entries.containsKey(name)) {
                assertThat(entries.get(name))
                        .as(name)
                        .isEqualTo(function.get("calls").asLong());
            }
        }
    }

    /// A call counts wholly or not at all, whenever its function's probe goes on and off.
    @Test
    void shouldCountWholeCallsWhileProbesGoOnAndOff() throws Exception {
        Path program = Dist.compile(directory, "blocks");
        Process process = Dist.start(List.of(program.toString()), "wait,collect=blocks,session=" + session());
        assertThat(process.inputReader().readLine()).isEqualTo("working");
        for (int round = 0; round < SIGNALS_ROUNDS; round++) {
            process.outputWriter().write("g");
            process.outputWriter().flush();
            for (int i = 0; i < 20; i++) {
                assertThat(Dist.ask(session(), "probes off switched")).isEqualTo("ok\n1 function off\n");
                assertThat(Dist.ask(session(), "probes on switched")).isEqualTo("ok\n1 function on\n");
            }
            assertThat(process.inputReader().readLine()).isEqualTo("round");
        }
        process.outputWriter().close();
        assertThat(process.waitFor()).isZero();

        Map<Integer, Long> lines = lines(Dist.report(directory, session()));
        List<Long> cases = lines.values().stream().limit(7).toList();
        assertThat(cases.getFirst()).isPositive();
        // The fourth is fallen into from the third, too.
        assertThat(cases.get(3)).isEqualTo(2 * cases.getFirst());
        assertThat(List.of(cases.get(1), cases.get(2), cases.get(4), cases.get(5), cases.get(6)))
                .containsOnly(cases.getFirst());
    }

    @Test
    void shouldPassExceptionsThroughCopies() throws Exception {
        Path program = directory.resolve("thrown");
        Dist.Outcome compiled = Dist.run(
                directory,
                Map.of(),
                List.of(
                        "g++",
                        "-O2",
                        "-g",
                        "-o",
                        program.toString(),
                        Path.of("src/test/c/handled.cc").toAbsolutePath().toString()));
        assertThat(compiled.status()).as(compiled.err()).isZero();
        String alone =
                Dist.run(directory, Map.of(), List.of(program.toString())).text();

        JsonNode report = collect(List.of(program.toString()));

        assertThat(Files.readString(directory.resolve("out"))).isEqualTo(alone);
        assertThat(report.get("blocks"))
                .filteredOn(block -> block.get("function").asText().startsWith("typed("))
                .filteredOn(block -> block.get("count").asLong() > 0)
                .hasSizeGreaterThan(4);
    }

    /// Unmodified programs without symbols: what they print, the count of each block and of each jump.
    @ParameterizedTest
    @ValueSource(strings = {"bzip2 -kc", "xz -T1 -2 -kc", "gzip -kc"})
    void shouldCountAsCallgrindDoes(String command) throws Exception {
        assumeThat(VALGRIND).as("not run without it").exists();
        Path input = directory.resolve("input");
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 20_000; i++) {
            text.append(i * 7919L % 10_007).append(i % 13 == 0 ? '\n' : ' ');
        }
        Files.writeString(input, text);
        List<String> all = new ArrayList<>(List.of(command.split(" ")));
        all.add(input.toString());
        Path trace = directory.resolve("callgrind.out");
        List<String> traced = new ArrayList<>(List.of(
                VALGRIND.toString(),
                "-q",
                "--tool=callgrind",
                "--dump-instr=yes",
                "--collect-jumps=yes",
                "--callgrind-out-file=" + trace));
        traced.addAll(all);
        assertThat(Dist.run(directory, Map.of(), traced).status()).isZero();

        JsonNode report = collect("arcs", all, "--include", "*", "--include", "libbz2*!*", "--include", "liblzma*!*");

        Map<String, Map<Way, Long>> jumps = new HashMap<>();
        Map<String, Map<Long, Long>> counted = counted(trace, jumps);
        Map<String, String> differing = new TreeMap<>();
        long ran = 0;
        for (JsonNode block : report.get("blocks")) {
            // Callgrind counts a block twice that is a call and nothing else.
            if (block.get("instructions").asInt() == 1) {
                continue;
            }
            long count = block.get("count").asLong();
            String image = Path.of(block.get("image").asText()).toRealPath().toString();
            long other = counted.getOrDefault(image, Map.of())
                    .getOrDefault(block.get("address").asLong(), 0L);
            ran += count > 0 ? 1 : 0;
            // A library's constructors run before the probes are in place.
            boolean isEarlier = count == 0 && other == 1;
            if (count != other && !isEarlier) {
                differing.put(
                        block.get("function").asText() + "@"
                                + Long.toHexString(block.get("address").asLong()),
                        count + " instead of " + other);
            }
        }
        long taken = 0;
        for (JsonNode arc : report.get("arcs")) {
            if (arc.get("kind").asText().equals("jump") && arc.has("to")) {
                long count = arc.get("count").asLong();
                String image = Path.of(arc.get("image").asText()).toRealPath().toString();
                Way way = new Way(arc.get("from").asLong(), arc.get("to").asLong());
                long other = jumps.getOrDefault(image, Map.of()).getOrDefault(way, 0L);
                taken += count > 0 ? 1 : 0;
                if (count != other && !(count == 0 && other == 1)) {
                    differing.put(arc.get("function").asText() + way, count + " instead of " + other);
                }
            }
        }
        assertThat(differing).isEmpty();
        assertThat(ran).isGreaterThan(200);
        assertThat(taken).isGreaterThan(60);
    }

    /// From an address to another.
    private record Way(long from, long to) {}

    /// Executions of instructions, by object and address.
    ///
    /// @param jumps receives how often each was taken, by object
    private static Map<String, Map<Long, Long>> counted(Path trace, Map<String, Map<Way, Long>> jumps)
            throws IOException {
        Map<String, String> names = new HashMap<>();
        Map<String, Map<Long, Long>> counted = new HashMap<>();
        String object = "";
        long at = 0;
        long target = 0;
        long taken = 0;
        boolean ofCall = false;
        boolean ofJump = false;
        for (String line : Files.readAllLines(trace, StandardCharsets.ISO_8859_1)) {
            Matcher named = OBJECT.matcher(line);
            Matcher cost = COST.matcher(line);
            Matcher jump = JUMP.matcher(line);
            if (jump.matches()) {
                taken = Long.parseLong(jump.group(1));
                target = position(jump.group(2), at);
                ofJump = true;
            } else if (named.matches()) {
                if (named.group(2) != null) {
                    Path path = Path.of(named.group(2));
                    names.put(
                            named.group(1),
                            Files.exists(path) ? path.toRealPath().toString() : named.group(2));
                }
                object = line.startsWith("ob") ? names.getOrDefault(named.group(1), "") : object;
            } else if (line.startsWith("calls=")) {
                ofCall = true;
            } else if (cost.matches()) {
                at = position(cost.group(1), at);
                if (ofJump) {
                    jumps.computeIfAbsent(object, unused -> new HashMap<>())
                            .merge(new Way(at, target), taken, Long::sum);
                } else if (!ofCall) {
                    counted.computeIfAbsent(object, unused -> new HashMap<>())
                            .merge(at, cost.group(2) == null ? 0 : Long.parseLong(cost.group(2)), Long::sum);
                }
                ofCall = ofCall && ofJump;
                ofJump = false;
            }
        }
        return counted;
    }

    /// Positions are relative to the last one, or hexadecimal.
    private static long position(String text, long last) {
        return text.startsWith("0x")
                ? Long.parseLong(text, 2, text.length(), 16)
                : text.equals("*") ? last : last + Long.parseLong(text);
    }
}
