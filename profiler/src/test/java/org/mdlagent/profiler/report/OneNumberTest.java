package org.mdlagent.profiler.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.exposition.OtlpReport;
import org.mdlagent.profiler.report.exposition.PrometheusReport;
import org.mdlagent.profiler.report.exposition.SessionSeries;
import org.mdlagent.profiler.report.format.CsvReport;
import org.mdlagent.profiler.report.format.JsonReport;
import org.mdlagent.profiler.report.page.HtmlReport;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.report.slice.Timeline;

/// One session, one number: calls, total and self time are the same in every format.
class OneNumberTest {
    private static final int LIMIT = 24;
    private static final Pattern SERIES =
            Pattern.compile("(?m)^mdl_function_(\\w+)\\{.*function=\"([^\"]*)\"[^}]*} (\\S+)$");

    @TempDir
    private Path directory;

    private final ObjectMapper parser = new ObjectMapper();

    @Test
    void shouldTellTheSameInEveryFormat() throws IOException {
        for (SessionImage image : List.of(
                SessionImage.exactSample(),
                SessionImage.sampledSample(),
                SessionImage.callersSample(),
                SessionImage.familySample())) {
            Profile profile = Profiles.read(image, directory);
            Map<String, List<Long>> truth = new TreeMap<>();
            for (FunctionProfile function : profile.functions()) {
                if (function.calls() > 0) {
                    truth.put(
                            function.name(),
                            List.of(
                                    function.calls(),
                                    function.shownTotalNanos().orElse(0),
                                    function.shownSelfNanos().orElse(0)));
                }
            }
            assertThat(truth).isNotEmpty();

            assertThat(json(profile)).as("JSON").isEqualTo(truth);
            assertThat(page(profile)).as("page").isEqualTo(truth);
            assertThat(csv(profile)).as("CSV").isEqualTo(truth);
            assertThat(prometheus(profile)).as("Prometheus").isEqualTo(truth);
            assertThat(otlp(profile, "asInt", "asDouble")).as("OTLP").isEqualTo(truth);
            assertThat(durations(profile)).as("histograms").isEqualTo(timed(profile));
        }
    }

    /// Each function's calls that have a duration, which a timed one may stand for, and their sum.
    private static Map<String, List<Long>> timed(Profile profile) {
        Map<String, List<Long>> timed = new TreeMap<>();
        for (FunctionProfile function : profile.functions()) {
            if (function.calls() > 0 && function.latency().known()) {
                timed.put(
                        function.name(),
                        List.of(
                                function.exact() ? function.sampled() : function.calls(),
                                function.totalNanos().orElse(0)));
            }
        }
        return timed;
    }

    private Map<String, List<Long>> json(Profile profile) throws IOException {
        StringBuilder out = new StringBuilder();
        JsonReport.write(profile, ProfileOrder.TOTAL, LIMIT, out);
        return figures(parser.readTree(out.toString()).get("functions"));
    }

    private Map<String, List<Long>> page(Profile profile) throws IOException {
        StringBuilder out = new StringBuilder();
        HtmlReport.write(profile, Timeline.NONE, List.of(), ProfileOrder.TOTAL, LIMIT, out);
        MatchResult data = Pattern.compile("(?s)<script[^>]*application/json[^>]*>(.*?)</script>")
                .matcher(out)
                .results()
                .findFirst()
                .orElseThrow();
        return figures(parser.readTree(data.group(1)).get("functions"));
    }

    private static Map<String, List<Long>> figures(JsonNode functions) {
        Map<String, List<Long>> figures = new TreeMap<>();
        for (JsonNode function : functions) {
            if (function.get("calls").asLong() > 0) {
                figures.put(
                        function.get("name").asText(),
                        List.of(
                                function.get("calls").asLong(),
                                function.path("totalNanos").asLong(0),
                                function.path("selfNanos").asLong(0)));
            }
        }
        return figures;
    }

    private static Map<String, List<Long>> csv(Profile profile) throws IOException {
        StringBuilder out = new StringBuilder();
        CsvReport.write(profile, ProfileOrder.TOTAL, LIMIT, out);
        List<String[]> rows =
                out.toString().lines().map(row -> row.split(",", -1)).toList();
        List<String> head = List.of(rows.getFirst());
        Map<String, List<Long>> figures = new TreeMap<>();
        for (String[] row : rows.subList(1, rows.size())) {
            List<Long> numbers = new ArrayList<>();
            for (String column : List.of("calls", "totalNanos", "selfNanos")) {
                String text = row[head.indexOf(column)];
                numbers.add(text.isEmpty() ? 0 : Long.parseLong(text));
            }
            if (numbers.getFirst() > 0) {
                figures.put(row[0], numbers);
            }
        }
        return figures;
    }

    private static Map<String, Double> series(Profile profile) throws IOException {
        StringBuilder out = new StringBuilder();
        PrometheusReport.write(profile, ProfileOrder.TOTAL, LIMIT, out);
        Map<String, Double> series = new TreeMap<>();
        SERIES.matcher(out)
                .results()
                .forEach(one -> series.put(one.group(1) + " " + one.group(2), Double.parseDouble(one.group(3))));
        return series;
    }

    private static Map<String, List<Long>> prometheus(Profile profile) throws IOException {
        Map<String, Double> series = series(profile);
        Map<String, List<Long>> figures = new TreeMap<>();
        series.forEach((key, value) -> {
            if (key.startsWith("calls_total ")) {
                String name = key.substring(key.indexOf(' ') + 1);
                figures.put(
                        name,
                        List.of(
                                value.longValue(),
                                nanos(series.get("seconds_total " + name)),
                                nanos(series.get("self_seconds_total " + name))));
            }
        });
        return figures;
    }

    private static Map<String, List<Long>> durations(Profile profile) throws IOException {
        Map<String, Double> series = series(profile);
        Map<String, List<Long>> figures = new TreeMap<>();
        series.forEach((key, value) -> {
            if (key.startsWith("duration_seconds_count ")) {
                String name = key.substring(key.indexOf(' ') + 1);
                figures.put(name, List.of(value.longValue(), nanos(series.get("duration_seconds_sum " + name))));
            }
        });
        return figures;
    }

    private static long nanos(Double seconds) {
        return seconds == null ? 0 : Math.round(seconds * 1e9);
    }

    private Map<String, List<Long>> otlp(Profile profile, String count, String seconds) throws IOException {
        StringBuilder out = new StringBuilder();
        OtlpReport.write(List.of(new SessionSeries(profile, LIMIT)), Instant.EPOCH, "host", out);
        Map<String, Map<String, Long>> byName = new TreeMap<>();
        for (JsonNode metric : parser.readTree(out.toString()).at("/resourceMetrics/0/scopeMetrics/0/metrics")) {
            for (JsonNode point : metric.at("/sum/dataPoints")) {
                long value = point.has(count)
                        ? point.get(count).asLong()
                        : nanos(point.get(seconds).asDouble());
                byName.computeIfAbsent(metric.get("name").asText(), name -> new TreeMap<>())
                        .put(point.at("/attributes/0/value/stringValue").asText(), value);
            }
        }
        Map<String, List<Long>> figures = new TreeMap<>();
        byName.get("mdl.function.calls")
                .forEach((name, calls) -> figures.put(
                        name,
                        List.of(
                                calls,
                                byName.getOrDefault("mdl.function.time", Map.of())
                                        .getOrDefault(name, 0L),
                                byName.getOrDefault("mdl.function.self_time", Map.of())
                                        .getOrDefault(name, 0L))));
        return figures;
    }

    /// Monitoring adds up what comes between looks, so counts may not fall, and must still be the calls.
    @Test
    void shouldKeepHistogramsTheCallsWhenASampleGrows() throws IOException {
        SessionImage image = SessionImage.sampledSample();
        SessionSeries series = new SessionSeries(Profiles.read(image, directory), LIMIT);
        for (int look = 1; look <= 3; look++) {
            image.estimate(0, 1_200_000 + 100_000 * look, 36_000_000);
            series = series.next(Profiles.read(image, directory));
            StringBuilder out = new StringBuilder();
            PrometheusReport.write(List.of(series), out);

            assertThat(out.toString())
                    .containsPattern("mdl_function_calls_total\\{.*function=\"hot\".* " + (1_200_000 + 100_000 * look))
                    .containsPattern("duration_seconds_count\\{.*function=\"hot\".* " + (1_200_000 + 100_000 * look));
        }
    }

    /// What the flame graph shows of a function on all paths together is what the table calls its CPU time.
    @Test
    void shouldDivideTimeAmongPathsWithoutLoss() throws IOException {
        Profile profile = Profiles.read(SessionImage.pathsSample(), directory);
        Map<FunctionProfile, Long> byPaths = new IdentityHashMap<>();
        profile.paths()
                .nodes()
                .forEach(node ->
                        byPaths.merge(Objects.requireNonNull(node.frame().function()), node.selfNanos(), Long::sum));

        assertThat(byPaths).hasSize(4);
        byPaths.forEach((function, nanos) ->
                assertThat(function.cpuNanos().orElse(0)).as(function.name()).isEqualTo(nanos));
    }
}
