package org.mdlagent.profiler.report.exposition;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.report.format.ProtobufMessage;
import org.mdlagent.profiler.report.format.Tool;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.text.ForeignText;

class PrometheusReportTest {
    /// The grammar of a sample's line, but for time stamps, which we do not write.
    private static final Pattern SAMPLE = Pattern.compile(
            "([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{((?:[a-z_]+=\"(?:[^\"\\\\\n]|\\\\[\\\\\"n])*\",?)*)})? (\\S+)");

    private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"((?:[^\"\\\\\n]|\\\\[\\\\\"n])*)\"");

    @TempDir
    private Path directory;

    private record Sample(String name, Map<String, String> labels, double value) {}

    private static String report(Profile profile) throws IOException {
        StringBuilder out = new StringBuilder();
        PrometheusReport.write(profile, ProfileOrder.TOTAL, Integer.MAX_VALUE, out);
        return out.toString();
    }

    private static List<Sample> parse(String text) {
        List<Sample> samples = new ArrayList<>();
        assertThat(text).endsWith("\n");
        for (String line : text.substring(0, text.length() - 1).split("\n", -1)) {
            if (!line.startsWith("# HELP ") && !line.startsWith("# TYPE ")) {
                Matcher sample = SAMPLE.matcher(line);
                assertThat(sample.matches()).as(line).isTrue();
                samples.add(new Sample(sample.group(1), labels(sample.group(2)), Double.parseDouble(sample.group(3))));
            }
        }
        assertThat(samples.stream().map(s -> s.name + s.labels)).doesNotHaveDuplicates();
        return samples;
    }

    private static Map<String, String> labels(@Nullable String text) {
        Map<String, String> labels = new TreeMap<>();
        if (text != null) {
            Matcher label = LABEL.matcher(text);
            while (label.find()) {
                String value = Pattern.compile("\\\\(.)")
                        .matcher(label.group(2))
                        .replaceAll(escape -> switch (escape.group(1)) {
                            case "n" -> "\n";
                            case "\\" -> "\\\\";
                            default -> escape.group(1);
                        });
                labels.put(label.group(1), value);
            }
        }
        return labels;
    }

    private static double value(List<Sample> samples, String name, String function) {
        return samples.stream()
                .filter(sample -> sample.name.equals(name) && function.equals(sample.labels.get("function")))
                .findFirst()
                .orElseThrow()
                .value;
    }

    @Test
    void shouldWriteCountersOfCalledFunctions() throws IOException {
        String text = report(Profiles.read(SessionImage.exactSample(), directory));
        List<Sample> samples = parse(text);

        assertThat(text)
                .contains("# TYPE mdl_function_calls_total counter\n"
                        + "mdl_function_calls_total{program=\"/opt/app/bin/app\",pid=\"4711\","
                        + "function=\"main\",file=\"/src/main.c\",image=\"/opt/app/bin/app\"} 1\n"
                        + "mdl_function_calls_total{program=\"/opt/app/bin/app\",pid=\"4711\","
                        + "function=\"ns::parse(char const*)\",file=\"/src/parse.cpp\","
                        + "image=\"/opt/app/lib/p.so\"} 4\n");
        assertThat(value(samples, "mdl_function_seconds_total", "main")).isEqualTo(1.5);
        assertThat(value(samples, "mdl_function_self_seconds_total", "main")).isEqualTo(1.4989991);
        assertThat(samples).noneMatch(sample -> "unused".equals(sample.labels.get("function")));
    }

    @Test
    void shouldTellTheLinesOfProgramsApart() throws IOException {
        SessionImage other = SessionImage.exactSample();
        other.putInt(HeaderDescriptor.PID, 4712);
        StringBuilder out = new StringBuilder();

        PrometheusReport.write(
                List.of(
                        new SessionSeries(Profiles.read(SessionImage.exactSample(), directory.resolve("a")), 1),
                        new SessionSeries(Profiles.read(other, directory.resolve("b")), 9)),
                out);

        List<Sample> samples = parse(out.toString());
        assertThat(samples.stream().filter(sample -> sample.name.equals("mdl_function_calls_total")))
                .extracting(sample -> sample.labels.get("pid"))
                .containsExactly("4711", "4712", "4712");
        assertThat(samples.stream().filter(sample -> sample.name.equals("mdl_functions_left_out")))
                .extracting(sample -> sample.value)
                .containsExactly(1.0, 0.0);
        assertThat(out.toString().lines().filter(line -> line.startsWith("# TYPE")))
                .doesNotHaveDuplicates();
    }

    @Test
    void shouldWriteMetricsWithTheirFocus() throws IOException {
        List<Sample> samples = parse(report(Profiles.read(SessionImage.metricSample(), directory)));

        assertThat(samples).anySatisfy(sample -> {
            assertThat(sample.name).isEqualTo("mdl_metric_total");
            assertThat(sample.labels).containsEntry("metric", "calls").containsEntry("focus", "/Code/a.c@/Thread/5");
            assertThat(sample.value).isPositive();
        });
        assertThat(samples).anySatisfy(sample -> {
            assertThat(sample.name).isEqualTo("mdl_metric_value");
            assertThat(sample.labels).containsEntry("metric", "busy");
        });
    }

    @Test
    void shouldLeaveOutTimesThatAreNotKnown() throws IOException {
        Profile profile = Profiles.read(SessionImage.exactSample(), directory);

        List<Sample> samples = parse(report(Profiles.with(profile, List.of(Profiles.function("f", 100)))));

        assertThat(samples).noneMatch(sample -> sample.name.equals("mdl_function_self_seconds_total"));
        assertThat(value(samples, "mdl_function_seconds_total", "f")).isEqualTo(1e-7);
    }

    @Test
    void shouldCountEachDurationInAllBucketsThatHoldIt() throws IOException {
        // The first is below all bounds, the second on one, the last above all.
        long[] nanos = {3, 100, 130, 3_000, 3_000, 70_000, 11_000_000_000L};
        Profile profile = Profiles.read(SessionImage.exactSample(), directory);

        List<Sample> samples = parse(report(Profiles.with(profile, List.of(Profiles.function("f", nanos)))));

        List<Sample> buckets = samples.stream()
                .filter(sample -> sample.name.equals("mdl_function_duration_seconds_bucket"))
                .toList();
        assertThat(buckets).hasSize(26);
        assertThat(buckets.getLast().labels).containsEntry("le", "+Inf");
        assertThat(buckets).extracting(bucket -> le(bucket)).isSorted();
        for (Sample bucket : buckets) {
            long expected =
                    LongStream.of(nanos).filter(n -> n / 1e9 <= le(bucket)).count();
            assertThat(bucket.value).as(bucket.toString()).isEqualTo(expected);
        }
        assertThat(value(samples, "mdl_function_duration_seconds_count", "f")).isEqualTo(nanos.length);
        assertThat(value(samples, "mdl_function_duration_seconds_sum", "f"))
                .isEqualTo(LongStream.of(nanos).sum() / 1e9);
    }

    private static double le(Sample bucket) {
        String le = Objects.requireNonNull(bucket.labels.get("le"));
        return le.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(le);
    }

    @Test
    void shouldTellTheSameInProtobuf() throws IOException {
        Profile profile = Profiles.read(SessionImage.exactSample(), directory);
        List<SessionSeries> sessions =
                List.of(new SessionSeries(Profiles.with(profile, Profiles.functions(50)), Integer.MAX_VALUE));
        StringBuilder text = new StringBuilder();
        ByteArrayOutputStream protobuf = new ByteArrayOutputStream();

        PrometheusReport.write(sessions, text);
        PrometheusReport.writeProtobuf(sessions, protobuf);

        assertThat(ProtobufMessage.delimited(protobuf.toByteArray()).stream().flatMap(PrometheusReportTest::samples))
                .containsExactlyElementsOf(parse(text.toString()));
    }

    /// The samples of a `MetricFamily` as text would have them; native buckets have no place there.
    private static Stream<Sample> samples(ProtobufMessage family) {
        String name = family.strings(1).getFirst();
        return family.messages(4).stream().flatMap(metric -> {
            Map<String, String> labels = new TreeMap<>();
            metric.messages(1)
                    .forEach(label -> labels.put(
                            label.strings(1).getFirst(), label.strings(2).getFirst()));
            if (family.integer(3) != 4) {
                ProtobufMessage value =
                        metric.messages(family.integer(3) == 0 ? 3 : 2).getFirst();
                return Stream.of(new Sample(name, labels, value.number(1)));
            }
            ProtobufMessage histogram = metric.messages(7).getFirst();
            List<Sample> samples = new ArrayList<>();
            for (ProtobufMessage bucket : histogram.messages(3)) {
                samples.add(bucket(name, labels, new BigDecimal(bucket.number(2)), bucket.integer(1)));
            }
            samples.add(new Sample(name + "_bucket", with(labels, "le", "+Inf"), histogram.integer(1)));
            samples.add(new Sample(name + "_sum", labels, histogram.number(2)));
            samples.add(new Sample(name + "_count", labels, histogram.integer(1)));
            return samples.stream();
        });
    }

    private static Sample bucket(String name, Map<String, String> labels, BigDecimal bound, long calls) {
        String le = bound.round(new MathContext(6)).stripTrailingZeros().toPlainString();
        return new Sample(name + "_bucket", with(labels, "le", le), calls);
    }

    private static Map<String, String> with(Map<String, String> labels, String name, String value) {
        Map<String, String> more = new TreeMap<>(labels);
        more.put(name, value);
        return more;
    }

    @Test
    void shouldCountEachDurationInTheNativeBucketThatHoldsIt() throws IOException {
        long[] nanos = {0, 0, 3, 100, 130, 3_000, 3_000, 70_000, 950_000_000L, 11_000_000_000L};
        Profile profile = Profiles.with(
                Profiles.read(SessionImage.exactSample(), directory), List.of(Profiles.function("f", nanos)));
        ByteArrayOutputStream out = new ByteArrayOutputStream();

        PrometheusReport.writeProtobuf(List.of(new SessionSeries(profile, 1)), out);

        ProtobufMessage histogram = ProtobufMessage.delimited(out.toByteArray()).stream()
                .filter(family -> family.integer(3) == 4)
                .flatMap(family -> family.messages(4).stream())
                .findFirst()
                .orElseThrow()
                .messages(7)
                .getFirst();
        assertThat(ProtobufMessage.signed(histogram.integer(5))).isEqualTo(3);
        assertThat(histogram.number(6)).isBetween(1e-10, 1e-9);
        assertThat(histogram.integer(7)).isEqualTo(2);
        TreeMap<Long, Long> expected = new TreeMap<>();
        LongStream.of(nanos)
                .filter(one -> one > 0)
                .forEach(one -> expected.merge(nativeIndex(one / 1e9), 1L, Long::sum));
        assertThat(nativeBuckets(histogram)).isEqualTo(expected);
    }

    /// The index i for which 2^((i-1)/8) < seconds <= 2^(i/8).
    private static long nativeIndex(double seconds) {
        return LongStream.rangeClosed(-300, 300)
                .filter(i -> seconds <= Math.pow(2, i / 8.0))
                .findFirst()
                .orElseThrow();
    }

    /// Calls by index, from the spans and deltas of a `Histogram`.
    private static TreeMap<Long, Long> nativeBuckets(ProtobufMessage histogram) {
        TreeMap<Long, Long> buckets = new TreeMap<>();
        Iterator<Long> deltas = histogram.signed(13).iterator();
        long index = 0;
        long calls = 0;
        for (ProtobufMessage span : histogram.messages(12)) {
            index += ProtobufMessage.signed(span.integer(1));
            for (long i = 0; i < span.integer(2); i++) {
                calls += deltas.next();
                buckets.put(index++, calls);
            }
        }
        assertThat(deltas).isExhausted();
        return buckets;
    }

    @Test
    void shouldAddUpFunctionsOfTheSameLabels() throws IOException {
        Profile profile = Profiles.read(SessionImage.exactSample(), directory);

        List<Sample> samples = parse(report(Profiles.with(
                profile,
                List.of(Profiles.function("f", 100, 200), Profiles.function("f"), Profiles.function("f", 300)))));

        assertThat(value(samples, "mdl_function_calls_total", "f")).isEqualTo(3);
        assertThat(value(samples, "mdl_function_seconds_total", "f")).isEqualTo(6e-7);
        assertThat(value(samples, "mdl_function_duration_seconds_count", "f")).isEqualTo(3);
    }

    @Test
    void shouldEscapeAnyName() throws IOException {
        Profile profile = Profiles.read(SessionImage.exactSample(), directory);

        List<Sample> samples = parse(report(Profiles.with(profile, List.of(Profiles.function(Profiles.HOSTILE, 100)))));

        assertThat(value(samples, "mdl_function_calls_total", ForeignText.printable(Profiles.HOSTILE)))
                .isEqualTo(1);
    }

    @Test
    void shouldSatisfyPrometheus() throws Exception {
        Tool promtool = Tool.installed("promtool", "prometheus");
        List<FunctionProfile> functions = new ArrayList<>(Profiles.functions(100));
        functions.add(Profiles.function(Profiles.HOSTILE, 100));
        Path file = directory.resolve("metrics");

        Files.writeString(file, report(Profiles.with(Profiles.read(SessionImage.exactSample(), directory), functions)));
        assertThat(promtool.run(file, "check", "metrics")).isEmpty();

        Files.writeString(file, report(Profiles.read(new SessionImage(), directory)));
        assertThat(promtool.run(file, "check", "metrics")).isEmpty();
    }
}
