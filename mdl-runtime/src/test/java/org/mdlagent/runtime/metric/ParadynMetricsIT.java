package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// A configuration as Paradyn's users have it, asked of a program with two threads: each metric is measured, or it
/// is said why not.
class ParadynMetricsIT {
    private static final Path CONFIGURATION = Path.of(
                    "src/test/resources/org/mdlagent/runtime/mdl/paradyn/configuration.mdl")
            .toAbsolutePath();
    private static final Pattern METRIC = Pattern.compile("(?m)^metric (\\w+)");
    private static final int TIMES = 1000;
    private static final int THREADS = 2;

    private static final int FUNCTIONS = 30;

    /// What amounts have come to; that of the others is divided by the time.
    private static final Map<String, Double> AMOUNTS = Map.of(
            "procedure_called", 1.0 * THREADS * (FUNCTIONS * TIMES + 1),
            "math_calls", 2.0 * THREADS * TIMES,
            "forks", 1.0 * THREADS * TIMES,
            "execs", 1.0 * THREADS * TIMES);

    @TempDir
    Path directory;

    @Test
    void shouldMeasureEachMetricOrSayWhyNot() throws Exception {
        Path program = Dist.compile(directory, "solver", "-fno-builtin", "-fpatchable-function-entry=5");
        Path session = directory.resolve("session");
        Process process = Dist.start(List.of(program.toString()), "wait,mdl=" + CONFIGURATION + ",session=" + session);
        try (BufferedReader output = process.inputReader()) {
            assertThat(output.readLine()).isEqualTo("ready");
            Map<String, String> answers = enableAll(session);
            print(answers);
            assertThat(answers.get("page_faults")).matches("0 points|not measured: .*perf_event.*");

            process.outputWriter().write(TIMES + "\n");
            process.outputWriter().flush();
            assertThat(output.readLine()).isEqualTo("done");

            assertThat(answers).hasSizeGreaterThanOrEqualTo(40);
            assertThat(names(answers, "0 points.*")).isSubsetOf("page_faults");
            assertThat(names(answers, "not measured: .* starts with main, .*"))
                    .containsExactly("active_processes", "cpu", "cpu_inclusive", "exec_time", "exec_time_inclusive");
            assertThat(names(answers, "not measured: (?!.* starts with main).*"))
                    .containsOnlyOnce("msg_bytes", "threads_created", "trace_start")
                    .isSubsetOf("msg_bytes", "page_faults", "threads_created", "trace_start");
            assertValues(session, answers);
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private static Map<String, String> enableAll(Path session) throws Exception {
        Map<String, String> answers = new TreeMap<>();
        Matcher metrics = METRIC.matcher(Files.readString(CONFIGURATION));
        while (metrics.find()) {
            String metric = metrics.group(1);
            List<String> answer =
                    Dist.ask(session, "metric force " + metric).lines().toList();
            answers.put(
                    metric,
                    answer.getFirst().equals("ok")
                            ? answer.get(1).split("\t")[1] + " points"
                                    + answer.stream()
                                            .skip(2)
                                            .map("; without "::concat)
                                            .collect(Collectors.joining())
                            : "not measured: " + answer.getFirst().substring("error ".length()));
        }
        return answers;
    }

    private static void print(Map<String, String> answers) {
        answers.forEach((metric, answer) -> System.out.printf("%-22s %s%n", metric, answer));
    }

    private static List<String> names(Map<String, String> answers, String pattern) {
        return answers.entrySet().stream()
                .filter(entry -> entry.getValue().matches(pattern))
                .map(Map.Entry::getKey)
                .toList();
    }

    private void assertValues(Path session, Map<String, String> answers) throws Exception {
        JsonNode report = Dist.report(directory, session);
        Map<String, Double> values = new HashMap<>();
        for (JsonNode metric : report.get("metrics")) {
            values.put(metric.get("name").asText(), metric.path("value").asDouble(Double.NaN));
        }
        assertThat(values.keySet()).containsExactlyInAnyOrderElementsOf(names(answers, "\\d.*"));
        assertThat(values).containsAllEntriesOf(AMOUNTS);
    }
}
