package org.mdlagent.profiler.report.exposition;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;

/// The members and their types are those of `opentelemetry/proto/metrics/v1/metrics.proto`, in the JSON mapping of the
/// OTLP specification.
class OtlpReportTest {
    private static final Instant NOW = Instant.parse("2023-11-14T22:13:22.000000005Z");

    /// 64-bit integers, which are strings in JSON.
    private static final Set<String> LONGS =
            Set.of("startTimeUnixNano", "timeUnixNano", "asInt", "count", "bucketCounts", "intValue");

    @TempDir
    private Path directory;

    private static JsonNode report(Profile profile) throws IOException {
        StringBuilder out = new StringBuilder();
        OtlpReport.write(List.of(new SessionSeries(profile, 10)), NOW, "host", out);
        return new ObjectMapper().readTree(out.toString());
    }

    private static JsonNode metric(JsonNode report, String name) {
        for (JsonNode metric : report.at("/resourceMetrics/0/scopeMetrics/0/metrics")) {
            if (metric.at("/name").asText().equals(name)) {
                return metric;
            }
        }
        throw new AssertionError("no metric " + name);
    }

    private static String attribute(JsonNode attributes, String key) {
        for (JsonNode attribute : attributes) {
            if (attribute.at("/key").asText().equals(key)) {
                return attribute.at("/value").elements().next().asText();
            }
        }
        throw new AssertionError("no attribute " + key);
    }

    @Test
    void shouldNameTheProgram() throws IOException {
        JsonNode attributes = report(Profiles.read(SessionImage.exactSample(), directory))
                .at("/resourceMetrics/0/resource/attributes");

        assertThat(attribute(attributes, "service.name")).isEqualTo("app");
        assertThat(attribute(attributes, "service.instance.id")).isEqualTo("app-4711-20231114T221320");
        assertThat(attribute(attributes, "process.executable.path")).isEqualTo("/opt/app/bin/app");
        assertThat(attribute(attributes, "process.pid")).isEqualTo("4711");
        assertThat(attribute(attributes, "host.name")).isEqualTo("host");
    }

    @Test
    void shouldSumCallsFromTheSessionsStart() throws IOException {
        JsonNode calls = metric(report(Profiles.read(SessionImage.exactSample(), directory)), "mdl.function.calls");

        assertThat(calls.at("/sum/aggregationTemporality").asInt()).isEqualTo(2);
        assertThat(calls.at("/sum/isMonotonic").asBoolean()).isTrue();
        JsonNode parse = calls.at("/sum/dataPoints/1");
        assertThat(attribute(parse.at("/attributes"), "code.function.name")).isEqualTo("ns::parse(char const*)");
        assertThat(parse.at("/asInt").asText()).isEqualTo("4");
        assertThat(parse.at("/timeUnixNano").asText()).isEqualTo("1700000002000000005");
        assertThat(parse.at("/startTimeUnixNano").asText()).startsWith("17000000");
    }

    @Test
    void shouldCountDurationsInBuckets() throws IOException {
        Profile profile = Profiles.with(
                Profiles.read(SessionImage.exactSample(), directory),
                List.of(Profiles.function(Profiles.HOSTILE, 3, 150, 160, 30_000_000_000L)));

        JsonNode point = metric(report(profile), "mdl.function.duration").at("/histogram/dataPoints/0");

        assertThat(attribute(point.at("/attributes"), "code.function.name")).isEqualTo(Profiles.HOSTILE);
        assertThat(point.at("/count").asText()).isEqualTo("4");
        assertThat(point.at("/sum").asDouble()).isEqualTo(30.000000313);
        assertThat(point.at("/bucketCounts").size())
                .isEqualTo(point.at("/explicitBounds").size() + 1);
        // The first bound is 100 ns, the next 200 ns, the last 10 s.
        assertThat(point.at("/explicitBounds/0").asDouble()).isEqualTo(1e-7);
        assertThat(point.at("/bucketCounts/0").asText()).isEqualTo("1");
        assertThat(point.at("/bucketCounts/1").asText()).isEqualTo("2");
        assertThat(point.at("/bucketCounts/25").asText()).isEqualTo("1");
    }

    @Test
    void shouldWriteMetrics() throws IOException {
        JsonNode report = report(Profiles.read(SessionImage.metricSample(), directory));

        JsonNode calls = metric(report, "mdl.metric.calls");
        assertThat(calls.at("/sum/dataPoints/0/asDouble").asDouble()).isPositive();
        assertThat(attribute(calls.at("/sum/dataPoints/0/attributes"), "focus")).isEqualTo("/Code/a.c@/Thread/5");
        assertThat(metric(report, "mdl.metric.busy").at("/gauge/dataPoints").size())
                .isEqualTo(1);
    }

    @Test
    void shouldWriteLongsAsStringsOnly() throws IOException {
        TreeSet<String> numbers = new TreeSet<>();

        numbers(report(Profiles.read(SessionImage.metricSample(), directory)), "", numbers);

        assertThat(numbers).contains("aggregationTemporality").doesNotContainAnyElementsOf(LONGS);
    }

    /// Names of the members whose values, or the elements of whose arrays, are numbers.
    private static void numbers(JsonNode node, String name, Set<String> found) {
        if (node.isNumber()) {
            found.add(name);
        }
        node.properties().forEach(member -> numbers(member.getValue(), member.getKey(), found));
        if (node.isArray()) {
            node.forEach(element -> numbers(element, name, found));
        }
    }
}
