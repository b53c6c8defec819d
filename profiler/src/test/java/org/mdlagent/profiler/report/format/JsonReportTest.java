package org.mdlagent.profiler.report.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.profiler.text.JsonWriter;

/// What is written is read back by Jackson.
class JsonReportTest {
    @TempDir
    private Path directory;

    private Map<?, ?> report(SessionImage image, int limit) throws IOException {
        image.write(directory);
        StringBuilder out = new StringBuilder();
        try (SessionReader reader = SessionReader.open(directory)) {
            JsonReport.write(reader.profile(), ProfileOrder.TOTAL, limit, out);
        }
        try (JsonParser parser = new JsonFactory().createParser(out.toString())) {
            parser.nextToken();
            Map<?, ?> report = (Map<?, ?>) value(parser);
            assertThat(parser.nextToken()).isNull();
            return report;
        }
    }

    private static Object value(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case START_OBJECT -> {
                Map<String, Object> map = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = parser.currentName();
                    parser.nextToken();
                    assertThat(map.put(name, value(parser)))
                            .as("twice: " + name)
                            .isNull();
                }
                yield map;
            }
            case START_ARRAY -> {
                List<Object> list = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    list.add(value(parser));
                }
                yield list;
            }
            case VALUE_STRING -> parser.getText();
            case VALUE_NUMBER_INT -> parser.getLongValue();
            case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
            case VALUE_TRUE, VALUE_FALSE -> parser.getBooleanValue();
            default -> throw new AssertionError(parser.currentToken());
        };
    }

    private static Map<?, ?> object(Map<?, ?> report, String name) {
        return (Map<?, ?>) Objects.requireNonNull(report.get(name));
    }

    private static List<?> functions(Map<?, ?> report) {
        return (List<?>) Objects.requireNonNull(report.get("functions"));
    }

    @Test
    void shouldWriteTheContractOfAnExactSession() throws IOException {
        Map<?, ?> report = report(SessionImage.exactSample().ended(3, 0), Integer.MAX_VALUE);

        assertThat(report.get("session"))
                .isEqualTo(Map.ofEntries(
                        Map.entry("id", "app-4711-20231114T221320"),
                        Map.entry("program", "/opt/app/bin/app"),
                        Map.entry("pid", 4711L),
                        Map.entry("started", "2023-11-14T22:13:20Z"),
                        Map.entry("ended", "2023-11-14T22:13:22Z"),
                        Map.entry("exit", Map.of("status", 3L, "signal", 0L)),
                        Map.entry("measuredNanos", 2_000_000_000L),
                        Map.entry("unseenNanos", 0L),
                        Map.entry("time", "wall"),
                        Map.entry("collected", "latency"),
                        Map.entry("sync", "none"),
                        Map.entry("tscHz", 1_000_000_000L)));
        List<?> functions = functions(report);
        assertThat(functions).hasSize(3);
        Map<String, Object> parse = new LinkedHashMap<>();
        parse.put("name", "ns::parse(char const*)");
        parse.put("symbol", "_ZN2ns5parseEPKc");
        parse.put("file", "/src/parse.cpp");
        parse.put("line", 42L);
        parse.put("image", "/opt/app/lib/p.so");
        parse.put("calls", 4L);
        parse.put("callsExact", true);
        parse.put("exact", true);
        parse.put("sampled", 4L);
        parse.put("totalNanos", 1_000_900L);
        parse.put("selfNanos", 1_000_900L);
        parse.put("minNanos", 100L);
        parse.put("meanNanos", 250_225L);
        parse.put("p50Nanos", 200L);
        parse.put("p90Nanos", 1_000_000L);
        parse.put("p99Nanos", 1_000_000L);
        parse.put("p999Nanos", 1_000_000L);
        parse.put("maxNanos", 1_000_000L);
        assertThat(functions.get(1)).isEqualTo(parse);
        assertThat(report.get("metrics")).isEqualTo(List.of());
        // 58 ticks a call, and what it costs that calls are seconds apart.
        long timed = functions.stream()
                .mapToLong(function -> (long) ((Map<?, ?>) function).get("sampled"))
                .sum();
        assertThat((double) object(report, "overhead").get("probePercent"))
                .isCloseTo(938e-9 * timed / 2 * 100, within(1e-6));
        assertThat(report.get("dropped")).isEqualTo(0L);
        assertThat(report.get("unmatched")).isEqualTo(0L);
    }

    @Test
    void shouldTellWhereTheCpuTimeWasSpent() throws IOException {
        SessionImage image = SessionImage.cpuSample();
        Map<?, ?> report = report(image, Integer.MAX_VALUE);

        assertThat(report.get("cpu"))
                .isEqualTo(Map.of(
                        "periodNanos",
                        1_000_000L,
                        "samples",
                        1000L,
                        "weight",
                        1.0,
                        "inProbes",
                        10L,
                        "lost",
                        0L,
                        "elsewhere",
                        7L,
                        "cut",
                        0L,
                        "withoutTable",
                        0L,
                        "leftOut",
                        0L,
                        "notProbed",
                        List.of(
                                Map.of("image", "/usr/lib/libc.so.6", "samples", 180L),
                                Map.of("image", "/usr/lib/libz.so.1", "samples", 100L))));
        Map<?, ?> hot = (Map<?, ?>) functions(report).getFirst();
        assertThat(hot.get("name")).isEqualTo("hot");
        assertThat(hot.get("cpuNanos")).isEqualTo(600_000_000L);
        assertThat((double) hot.get("cpuError")).isCloseTo(0.080017, within(1e-6));
        // Its three samples say nothing.
        Map<?, ?> rare = (Map<?, ?>) functions(report).get(2);
        assertThat(rare.get("name")).isEqualTo("rare");
        assertThat(rare.keySet()).noneMatch(List.of("cpuNanos", "cpuError")::contains);
    }

    @Test
    void shouldNotSpeakOfCpuTimeWithoutSamples() throws IOException {
        SessionImage empty = SessionImage.sampledSample();
        empty.cpuSamples(0, 0, 0);
        Map<?, ?> report = report(empty, Integer.MAX_VALUE);

        assertThat(report).isEqualTo(report(SessionImage.sampledSample(), Integer.MAX_VALUE));
        assertThat(report.containsKey("cpu")).isFalse();
    }

    @Test
    void shouldLeaveOutWhatIsNotKnown() throws IOException {
        SessionImage image = new SessionImage();
        image.function("f", "f", "", 0, "/lib/x.so");

        Map<?, ?> report = report(image, Integer.MAX_VALUE);

        assertThat(object(report, "session").keySet()).noneMatch(List.of("ended", "exit")::contains);
        assertThat(functions(report).getFirst())
                .isEqualTo(Map.of(
                        "name",
                        "f",
                        "symbol",
                        "f",
                        "image",
                        "/lib/x.so",
                        "calls",
                        0L,
                        "callsExact",
                        false,
                        "exact",
                        false,
                        "sampled",
                        0L));
    }

    /// A time that may as well be nothing.
    @Test
    void shouldNotTellTheErrorOfWhatItDoesNotTell() throws IOException {
        FunctionProfile function = Profiles.function("f", 1, 2, 3);
        StringBuilder out = new StringBuilder();
        JsonWriter json = new JsonWriter(out).beginObject();

        JsonReport.figures(
                function.with(
                        3,
                        OptionalDouble.of(2),
                        3,
                        function.latency(),
                        new FunctionProfile.Times(
                                OptionalLong.of(6),
                                OptionalDouble.of(1.01),
                                OptionalLong.of(6),
                                OptionalDouble.of(0.5))),
                json);

        assertThat(out.toString()).contains("callsError").doesNotContain("total", "self");
    }

    @Test
    void shouldListTheProcessesOfAFamily() throws IOException {
        Map<?, ?> report = report(SessionImage.familySample(), Integer.MAX_VALUE);

        List<?> processes = (List<?>) Objects.requireNonNull(report.get("processes"));
        assertThat(processes).hasSize(4);
        assertThat(processes.get(0))
                .isEqualTo(Map.of(
                        "pid",
                        4711L,
                        "parent",
                        1L,
                        "started",
                        "2023-11-14T22:13:20Z",
                        "runs",
                        true,
                        "agent",
                        true,
                        "calls",
                        1L));
        assertThat(processes.get(3))
                .isEqualTo(Map.of(
                        "pid",
                        4803L,
                        "parent",
                        4711L,
                        "started",
                        "2023-11-14T22:13:20.3Z",
                        "ended",
                        "2023-11-14T22:13:21.3Z",
                        "exit",
                        Map.of("status", 7L),
                        "runs",
                        false,
                        "agent",
                        false,
                        "calls",
                        1L));
        assertThat(object(report, "processesForgotten")).isEqualTo(Map.of("count", 2L, "calls", 4L));
    }

    @Test
    void shouldLeaveOutTheStatusOfAKilledProgram() throws IOException {
        Map<?, ?> session = object(report(SessionImage.exactSample().ended(-1, 9), 0), "session");

        assertThat(session.get("exit")).isEqualTo(Map.of("signal", 9L));
    }

    @Test
    void shouldWriteTheFirstFunctionsOnly() throws IOException {
        List<?> functions = functions(report(SessionImage.exactSample(), 1));

        assertThat(functions).hasSize(1);
        assertThat(((Map<?, ?>) functions.getFirst()).get("name")).isEqualTo("main");
    }

    @Test
    void shouldQuoteAnyName() throws IOException {
        String name = "operator\"\\\u0001\u2028ä😀\n/";
        SessionImage image = new SessionImage();
        image.function(name);

        assertThat(((Map<?, ?>) functions(report(image, 9)).getFirst()).get("name"))
                .isEqualTo(name);
    }
}
