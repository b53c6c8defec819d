package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.Dist;

/// A signal handler may come at any instruction of a stub or of the recording code, and run probed functions
/// itself. The program delivers one at every instruction, one after the other, so that nothing is left to
/// chance.
///
/// A handler that runs between the reading of the clock and the sum of what callees have taken must not make the
/// own time of a function negative: its own takes longer than all that is stepped through, so one wrong order
/// shows.
class HandlersIT {
    private static final String LONG = "20000000";
    private static final String SHORT = "100000";
    private static final Pattern PRINTED = Pattern.compile("instructions (\\d+) wrong (\\d+) jumps (\\d+)\n");

    private static final String FILE = "/Code/every_instruction.c/";
    private static final List<String> STEPPED = List.of("outer", "inner");
    private static final List<String> HANDLING = List.of("handled", "wait_in_handler");

    @TempDir
    Path directory;

    private Path session;
    private Process process;
    private String output;

    @ParameterizedTest
    @CsvSource({
        "-finstrument-functions, returns, warm, 1, " + LONG,
        "-fpatchable-function-entry=5, returns, warm, 1, " + LONG,
        "-finstrument-functions, leaves, warm, 1, " + SHORT,
        "-fpatchable-function-entry=5, leaves, warm, 1, " + SHORT
    })
    void shouldRecordAsIfNothingHadComeBetween(String probes, String ends, String call, String stride, String ticks)
            throws Exception {
        record("exact", probes, ends, call, stride, ticks);
    }

    /// Every second call is timed on average, so that handlers come into each path, and meet their own.
    @ParameterizedTest
    @CsvSource({
        "-finstrument-functions, returns",
        "-fpatchable-function-entry=5, returns",
        "-finstrument-functions, leaves",
        "-fpatchable-function-entry=5, leaves"
    })
    void shouldCountAsIfNothingHadComeBetween(String probes, String ends) throws Exception {
        record("counted=*,countedMean=2", probes, ends, "warm", "1", SHORT);
    }

    /// A few instructions of each, of all the next.
    @ParameterizedTest
    @CsvSource({
        "clients, -finstrument-functions, returns",
        "clients, -fpatchable-function-entry=5, leaves",
        "sampled, -finstrument-functions, returns",
        "sampled, -fpatchable-function-entry=5, leaves",
        "snippets, -finstrument-functions, leaves",
        "snippets, -fpatchable-function-entry=5, returns"
    })
    void shouldServeOthersAsIfNothingHadComeBetween(String mode, String probes, String ends) throws Exception {
        serve(mode, probes, ends, "37");
    }

    @Tag("soak")
    @ParameterizedTest
    @CsvSource({
        "clients, -finstrument-functions, returns",
        "clients, -finstrument-functions, leaves",
        "clients, -fpatchable-function-entry=5, returns",
        "clients, -fpatchable-function-entry=5, leaves",
        "sampled, -finstrument-functions, returns",
        "sampled, -finstrument-functions, leaves",
        "sampled, -fpatchable-function-entry=5, returns",
        "sampled, -fpatchable-function-entry=5, leaves",
        "snippets, -finstrument-functions, returns",
        "snippets, -finstrument-functions, leaves",
        "snippets, -fpatchable-function-entry=5, returns",
        "snippets, -fpatchable-function-entry=5, leaves"
    })
    void shouldServeOthersAtEveryInstructionSo(String mode, String probes, String ends) throws Exception {
        serve(mode, probes, ends, "1");
    }

    private void serve(String mode, String probes, String ends, String stride) throws Exception {
        switch (mode) {
            case "clients" -> runClients(probes, ends, stride);
            case "sampled" -> sample(probes, ends, stride);
            default -> runSnippets(probes, ends, stride);
        }
    }

    /// The clients' own counts, with those they have not run for, whatever a handler has interrupted and left.
    private void runClients(String probes, String ends, String stride) throws Exception {
        run("exact", probes, ends, SHORT, "warm", stride, "clients");
        Map<String, Long> counted = counts();
        Map<String, Long> entries = clients("entry");
        Map<String, Long> exits = clients("exit");

        for (String stepped : STEPPED) {
            if (ends.equals("leaves")) {
                // A call that is left in its probe has not come to its own count.
                assertThat(entries.get(stepped)).isGreaterThanOrEqualTo(counted.get(stepped));
            } else {
                assertThat(entries).containsEntry(stepped, counted.get(stepped));
                assertThat(exits).containsEntry(stepped, counted.get(stepped));
            }
        }
        // What a handler runs while its thread is in a client is skipped, entries and exits alike.
        long skipped = 0;
        for (String handled : HANDLING) {
            assertThat(entries.get(handled)).isPositive().isEqualTo(exits.get(handled));
            skipped += 2 * (counted.get(handled) - entries.get(handled));
        }
        assertThat(skipped).isPositive();
        assertThat(output).contains("skipped " + skipped + "\n");
    }

    /// What the program has written of its clients.
    private Map<String, Long> clients(String kind) {
        Map<String, Long> found = new TreeMap<>();
        output.lines()
                .map(line -> line.split(" "))
                .filter(line -> line[0].equals(kind))
                .forEach(line -> found.put(line[line.length - 2], Long.parseLong(line[line.length - 1])));
        return found;
    }

    /// Slices open and close meanwhile.
    private void sample(String probes, String ends, String stride) throws Exception {
        run("sliced=*", probes, ends, SHORT, "warm", stride, "alone");
        Map<String, Long> counted = counts();

        // A negative sum of own times is refused as damage here.
        JsonNode report = Dist.report(directory, session);
        assertThat(report.get("functions")).isNotEmpty();
        for (JsonNode function : report.get("functions")) {
            boolean whole = ends.equals("returns")
                    || !STEPPED.contains(function.get("symbol").asText());
            if (whole && function.get("callsExact").asBoolean()) {
                assertThat(function.get("calls").asLong())
                        .as(function.toString())
                        .isEqualTo(counted.getOrDefault(function.get("symbol").asText(), 0L));
            }
            checkTimes(function);
        }
    }

    private static void checkTimes(JsonNode function) {
        if (function.has("selfNanos")) {
            assertThat(function.get("selfNanos").asDouble())
                    .as(function.toString())
                    .isBetween(0.0, function.get("totalNanos").asDouble());
        }
    }

    private void runSnippets(String probes, String ends, String stride) throws Exception {
        Path metrics = Files.writeString(directory.resolve("handlers.mdl"), """
                metric returned {
                    name "Returns"; units calls; unitsType unnormalized; aggregateOperator sum;
                    constraint ofProcedure /Code/* is replace counter {
                        append preInsn $constraint[0].return (* ofProcedure++; *)
                    }
                    base is void {}
                }
                metric spent {
                    name "Spent"; units seconds; unitsType unnormalized; aggregateOperator sum;
                    constraint ofProcedure /Code/* is replace wallTimer {
                        append preInsn $constraint[0].entry (* startWallTimer(ofProcedure); *)
                        prepend preInsn $constraint[0].return (* stopWallTimer(ofProcedure); *)
                    }
                    base is void {}
                }
                """);
        start("exact,mdl=" + metrics, probes, ends, SHORT, "warm", stride, "told");
        assertThat(process.inputReader().readLine()).isEqualTo("ready");
        for (String metric : List.of("procedure_calls", "returned", "spent")) {
            assertThat(Dist.ask(session, "metric enable " + metric + "@" + FILE + "*"))
                    .startsWith("ok");
        }
        process.outputWriter().write("\n");
        process.outputWriter().flush();
        end();
        Map<String, Long> counted = counts();
        JsonNode report = Dist.report(directory, session);
        Map<String, Double> values = new TreeMap<>();
        for (JsonNode metric : report.get("metrics")) {
            assertThat(metric.get("errors").asLong()).as(metric.toString()).isZero();
            values.put(
                    metric.get("name").asText() + " "
                            + metric.get("focus").get(0).asText(),
                    metric.get("value").asDouble());
        }

        for (String function : STEPPED) {
            double entries = values.get("procedure_calls " + FILE + function);
            double returns = values.get("returned " + FILE + function);
            if (ends.equals("leaves")) {
                // A call that is left in its probe has not come to its own count.
                assertThat(entries).as(function).isGreaterThanOrEqualTo(counted.get(function));
                assertThat(returns).as(function).isLessThanOrEqualTo(entries);
            } else {
                assertThat(entries).as(function).isEqualTo(counted.get(function).doubleValue());
                assertThat(returns).as(function).isEqualTo(entries);
            }
        }
        double seconds = report.at("/session/measuredNanos").asLong() / 1e9;
        double least = Double.parseDouble(SHORT) / report.at("/session/tscHz").asLong();
        for (String function : HANDLING) {
            double calls = counted.get(function);
            assertThat(values).as(function).containsEntry("procedure_calls " + FILE + function, calls);
            assertThat(values).as(function).containsEntry("returned " + FILE + function, calls);
            assertThat(values.get("spent " + FILE + function)).as(function).isBetween(0.99 * least * calls, seconds);
        }
    }

    /// Thousands of instructions each, with a thread of its own for each round.
    @Tag("soak")
    @ParameterizedTest
    @CsvSource({
        "-finstrument-functions, returns, first, 61, " + SHORT,
        "-fpatchable-function-entry=5, returns, first, 61, " + SHORT
    })
    void shouldRecordFirstCallsOfThreadsSo(String probes, String ends, String call, String stride, String ticks)
            throws Exception {
        record("exact", probes, ends, call, stride, ticks);
    }

    private void record(String tier, String probes, String ends, String call, String stride, String ticks)
            throws Exception {
        run(tier, probes, ends, ticks, call, stride, "alone");
        // A negative sum of own times is refused as damage here.
        JsonNode report = Dist.report(directory, session);
        Map<String, Long> reported = new TreeMap<>(Dist.calls(report));
        Map<String, Long> counted = counts();
        if (ends.equals("leaves")) {
            // A call that is left in its probe is counted there, and has not come to its own count.
            for (String stepped : STEPPED) {
                assertThat(reported.remove(stepped)).isGreaterThanOrEqualTo(counted.remove(stepped));
            }
        } else {
            assertThat(report.get("unmatched").asLong()).isZero();
        }
        assertThat(reported).containsExactlyInAnyOrderEntriesOf(counted);
        for (JsonNode function : report.get("functions")) {
            checkTimes(function);
        }
    }

    /// @param arguments of the program
    private void start(String options, String probes, String... arguments) throws Exception {
        Path program = Dist.compile(
                directory,
                "every_instruction",
                "-mno-red-zone",
                "-I" + Dist.root().resolve("include"),
                probes);
        session = directory.resolve("session");
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(Dist.preload("wait," + options + ",session=" + session));
        builder.environment().put("COUNTS", directory.resolve("counts").toString());
        process = builder.start();
    }

    private void run(String options, String probes, String... arguments) throws Exception {
        start(options, probes, arguments);
        end();
    }

    private void end() throws Exception {
        output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.errorReader().lines()).isEmpty();
        process.waitFor();
        Matcher printed = PRINTED.matcher(output);
        assertThat(printed.find()).as(output).isTrue();
        // Where a sample has its probes off there are fewer.
        assertThat(Long.parseLong(printed.group(1))).as("instructions").isGreaterThan(20);
        assertThat(printed.group(2)).as("wrong").isEqualTo("0");
    }

    private Map<String, Long> counts() throws Exception {
        Map<String, Long> counts = new TreeMap<>();
        for (String line : Files.readAllLines(directory.resolve("counts"))) {
            String[] fields = line.split(" ", 2);
            counts.merge(fields[1], Long.parseLong(fields[0]), Long::sum);
        }
        return counts;
    }
}
