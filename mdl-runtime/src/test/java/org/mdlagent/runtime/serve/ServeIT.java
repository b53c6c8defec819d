package org.mdlagent.runtime.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceResponse;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.AggregationTemporality;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import io.opentelemetry.proto.metrics.v1.Sum;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.Dist;

/// `mdl serve` beside a program that runs, and a real Prometheus that asks it.
class ServeIT {
    private static final String PROMETHEUS = "prometheus";

    @TempDir
    Path directory;

    private final List<Process> processes = new ArrayList<>();

    @AfterEach
    void end() throws InterruptedException {
        for (Process process : processes.reversed()) {
            process.destroy();
            process.waitFor();
        }
    }

    private Process start(Map<String, String> environment, String... command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectError(directory.resolve("errors").toFile());
        builder.environment().putAll(environment);
        builder.environment().put("XDG_STATE_HOME", directory.resolve("state").toString());
        Process process = builder.start();
        processes.add(process);
        return process;
    }

    /// A program that calls foo as often as each line of its input says.
    private Process startProgram() throws Exception {
        Path program = Dist.compile(directory, "messages", "-finstrument-functions");
        Process process = start(Dist.preload("wait,exact"), program.toString());
        assertThat(process.inputReader().readLine()).isEqualTo("ready");
        return process;
    }

    private static void call(Process program, int times) throws IOException {
        program.outputWriter().write(times + "\n");
        program.outputWriter().flush();
        assertThat(program.inputReader().readLine()).isEqualTo("done");
    }

    private URI startServer() throws IOException {
        Process server = start(Map.of(), Dist.mdl(), "serve", "--listen", "127.0.0.1:0");
        BufferedReader out = server.inputReader();
        return URI.create(out.readLine());
    }

    private static String read(URI uri) throws IOException {
        try (InputStream in = uri.toURL().openStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void shouldServeAProgramWhileItRunsAndWhenItHasEnded() throws Exception {
        Process program = startProgram();
        URI server = startServer();
        call(program, 3000);

        String calls = "mdl_function_calls_total{program=\"" + directory.resolve("messages") + "\",pid=\""
                + program.pid() + "\",function=\"foo\"";
        assertThat(read(server.resolve("/metrics")).lines().filter(line -> line.startsWith(calls)))
                .singleElement()
                .satisfies(line -> assertThat(line).endsWith(" 3000"));
        String list = read(server);
        assertThat(list).contains("1 program runs");
        String session = list.replaceAll("(?s).*href=\"(/session/messages-[^\"]*)\".*", "$1");
        assertThat(read(server.resolve(session))).contains("\"name\": \"foo\"", "\"runs\": true");

        program.destroyForcibly().waitFor();
        // What has been read within the last half second is not read again.
        JsonNode news = awaited(
                () -> new ObjectMapper().readTree(read(server.resolve(session + "/profile.json"))), "/runs", "false");
        assertThat(news.at("/functions")).anySatisfy(function -> {
            assertThat(function.at("/name").asText()).isEqualTo("foo");
            assertThat(function.at("/calls").asLong()).isEqualTo(3000);
        });
        assertThat(read(server)).contains("0 programs run");
        assertThat(read(server.resolve("/metrics"))).doesNotContain("function=\"foo\"");
    }

    /// Starts a Prometheus that asks a server each second.
    ///
    /// @return the port that it answers at
    private int startPrometheus(URI server, String... options) throws IOException {
        assumeTrue(Dist.works(PROMETHEUS), "no prometheus; it is in Debian's package prometheus");
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Path configuration =
                Files.writeString(directory.resolve("prometheus.yml"), """
                global: {scrape_interval: 1s, scrape_timeout: 1s}
                scrape_configs:
                  - job_name: mdl
                    static_configs: [{targets: ["%s"]}]
                """.formatted(server.getAuthority()));
        List<String> command = new ArrayList<>(List.of(
                PROMETHEUS,
                "--config.file=" + configuration,
                "--storage.tsdb.path=" + directory.resolve("data"),
                "--web.listen-address=127.0.0.1:" + port));
        command.addAll(List.of(options));
        start(Map.of(), command.toArray(String[]::new));
        return port;
    }

    @Test
    void shouldServeTheLatencyOverTimeOfAProgramThatRuns() throws Exception {
        Process program = startProgram();
        URI server = startServer();
        call(program, 3000);
        URI session =
                server.resolve(read(server).replaceAll("(?s).*href=\"(/session/messages-[^\"]*)\".*", "$1") + "/");
        JsonNode profile = new ObjectMapper().readTree(read(session.resolve("profile.json")));
        int foo = names(profile).indexOf("foo");

        String heat = "heat.json?function=" + foo + "&from=";

        JsonNode first = awaited(() -> withCalls(read(session.resolve(heat + 0))), "/calls", "3000");
        call(program, 1000);
        JsonNode next = awaited(
                () -> withCalls(read(session.resolve(heat + first.at("/next").asLong()))), "/calls", "1000");
        JsonNode spent = new ObjectMapper().readTree(read(session.resolve("spent.json?functions=" + foo)));

        long[] sums = new long[2];
        JsonNode cells = spent.at("/functions/0/spent");
        for (int i = 0; i < cells.size(); i += 3) {
            sums[0] += cells.get(i + 1).asLong();
            sums[1] += cells.get(i + 2).asLong();
        }
        assertThat(sums[0]).isPositive();
        assertThat(sums[1]).isEqualTo(4000);
        assertThat(next.at("/columns/0").asLong())
                .isGreaterThanOrEqualTo(first.at("/columns")
                        .get(first.at("/columns").size() - 1)
                        .asLong());
    }

    /// By the interfaces that the servers publish: Pyroscope takes a form, Parca JSON.
    @ParameterizedTest
    @CsvSource({"'', /ingest", "/api/profiles/writeraw, /api/profiles/writeraw"})
    void shouldSendProfilesOfWhatIsNew(String path, String asked) throws Exception {
        BlockingQueue<String> requests = new LinkedBlockingQueue<>();
        HttpServer profiles = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        profiles.createContext("/", exchange -> {
            String content = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.ISO_8859_1);
            requests.add(exchange.getRequestURI() + "\n" + content);
            // The first is refused: what it held comes once more.
            exchange.sendResponseHeaders(requests.size() == 1 ? 503 : 200, -1);
            exchange.close();
        });
        profiles.start();
        try {
            String url = "http://127.0.0.1:" + profiles.getAddress().getPort() + path;
            Process program = startProgram();
            Process server = start(
                    Map.of(),
                    Dist.mdl(),
                    "serve",
                    "--listen",
                    "127.0.0.1:0",
                    "--pprof-push",
                    url,
                    "--pprof-interval",
                    "1");
            server.inputReader().readLine();
            Dist.await("three profiles", () -> {
                call(program, 100);
                return requests.size() >= 3;
            });
        } finally {
            profiles.stop(0);
        }

        for (String request : requests) {
            byte[] pprof;
            if (path.isEmpty()) {
                assertThat(request)
                        .startsWith(asked + "?name=messages%7Bhost%3D")
                        .contains("&format=pprof&");
                assertThat(request).contains("name=\"sample_type_config\"");
                int begin = request.indexOf("\r\n\r\n", request.indexOf("name=\"profile\"")) + 4;
                pprof = request.substring(begin).getBytes(StandardCharsets.ISO_8859_1);
            } else {
                assertThat(request).startsWith(asked + "\n");
                JsonNode series = new ObjectMapper()
                        .readTree(request.substring(asked.length()))
                        .at("/series/0");
                assertThat(series.at("/labels/labels/1/value").asText()).isEqualTo("messages");
                pprof = Base64.getDecoder()
                        .decode(series.at("/samples/0/rawProfile").asText());
            }
            try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(pprof))) {
                assertThat(new String(in.readNBytes(1 << 20), StandardCharsets.ISO_8859_1))
                        .contains("foo", "nanoseconds");
            }
        }
        assertThat(Files.readString(directory.resolve("errors")))
                .contains("takes no profiles: it answers with status 503", "takes profiles again");
    }

    /// A collector that takes the requests that OpenTelemetry's own messages describe, and no others: a member
    /// that they do not have is refused.
    private static HttpServer collector(BlockingQueue<ExportMetricsServiceRequest> requests) throws IOException {
        HttpServer collector = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        collector.createContext("/v1/metrics", exchange -> {
            ExportMetricsServiceRequest.Builder request = ExportMetricsServiceRequest.newBuilder();
            int status = 200;
            String answer = JsonFormat.printer().print(ExportMetricsServiceResponse.getDefaultInstance());
            try {
                String content = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
                JsonFormat.parser().merge(content, request);
                requests.add(request.build());
            } catch (InvalidProtocolBufferException e) {
                status = 400;
                answer = String.valueOf(e.getMessage());
            }
            byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        collector.start();
        return collector;
    }

    private static Metric metric(ResourceMetrics program, String name) {
        return program.getScopeMetrics(0).getMetricsList().stream()
                .filter(metric -> metric.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static boolean isOfFoo(List<KeyValue> attributes) {
        return attributes.stream()
                .anyMatch(attribute -> attribute.getKey().equals("code.function.name")
                        && attribute.getValue().getStringValue().equals("foo"));
    }

    private static NumberDataPoint callsOfFoo(ResourceMetrics program) {
        return metric(program, "mdl.function.calls").getSum().getDataPointsList().stream()
                .filter(point -> isOfFoo(point.getAttributesList()))
                .findFirst()
                .orElseThrow();
    }

    /// The first request in which the program has this number of calls of foo.
    private ResourceMetrics received(BlockingQueue<ExportMetricsServiceRequest> requests, long calls) throws Exception {
        while (true) {
            ExportMetricsServiceRequest request = requests.poll(Dist.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(request)
                    .as(Files.readString(directory.resolve("errors")))
                    .isNotNull();
            assertThat(request.getResourceMetricsCount()).isEqualTo(1);
            if (callsOfFoo(request.getResourceMetrics(0)).getAsInt() == calls) {
                return request.getResourceMetrics(0);
            }
        }
    }

    @Test
    void shouldSendACollectorWhatItsProtocolDescribes() throws Exception {
        BlockingQueue<ExportMetricsServiceRequest> requests = new LinkedBlockingQueue<>();
        HttpServer collector = collector(requests);
        try {
            String url = "http://127.0.0.1:" + collector.getAddress().getPort();
            Process program = startProgram();
            call(program, 3000);
            String[] serve = {"serve", "--listen", "127.0.0.1:0", "--otlp", url, "--otlp-interval", "1"};
            start(
                    Map.of(),
                    Stream.concat(Stream.of(Dist.mdl()), Stream.of(serve)).toArray(String[]::new));
            ResourceMetrics first = received(requests, 3000);
            call(program, 1000);
            ResourceMetrics later = received(requests, 4000);

            Map<String, AnyValue> resource = later.getResource().getAttributesList().stream()
                    .collect(Collectors.toMap(KeyValue::getKey, KeyValue::getValue));
            assertThat(resource.get("service.name").getStringValue()).isEqualTo("messages");
            assertThat(resource.get("process.pid").getIntValue()).isEqualTo(program.pid());
            Sum calls = metric(later, "mdl.function.calls").getSum();
            assertThat(calls.getAggregationTemporality())
                    .isEqualTo(AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE);
            assertThat(calls.getIsMonotonic()).isTrue();
            assertThat(callsOfFoo(later).getStartTimeUnixNano())
                    .isEqualTo(callsOfFoo(first).getStartTimeUnixNano());
            assertThat(callsOfFoo(later).getTimeUnixNano())
                    .isGreaterThan(callsOfFoo(first).getTimeUnixNano());
            HistogramDataPoint durations =
                    metric(later, "mdl.function.duration").getHistogram().getDataPointsList().stream()
                            .filter(point -> isOfFoo(point.getAttributesList()))
                            .findFirst()
                            .orElseThrow();
            assertThat(durations.getCount()).isEqualTo(4000);
            assertThat(durations.getBucketCountsList().stream()
                            .mapToLong(Long::longValue)
                            .sum())
                    .isEqualTo(4000);
            assertThat(durations.getBucketCountsCount()).isEqualTo(durations.getExplicitBoundsCount() + 1);
            assertThat(durations.getExplicitBoundsList()).isSorted();
            assertThat(durations.getSum()).isPositive();
        } finally {
            collector.stop(0);
        }
    }

    /// Anybody on this machine can send half a request, as often as he likes.
    @Test
    void shouldAnswerBesideMoreHalfRequestsThanItKeeps() throws Exception {
        URI server = startServer();
        List<Socket> halves = new ArrayList<>();
        try {
            for (int i = 0; i < 300; i++) {
                Socket half = new Socket(server.getHost(), server.getPort());
                halves.add(half);
                half.getOutputStream().write("GET / HTTP/1.1\r\nHost: ".getBytes(StandardCharsets.US_ASCII));
            }
            assertThat(read(server)).contains("0 programs run");
            for (Socket half : halves.reversed().subList(0, 150)) {
                assertThat(isOpen(half)).isTrue();
            }
            // Those that have waited longest have given way.
            assertThat(isOpen(halves.getFirst())).isFalse();
        } finally {
            for (Socket half : halves) {
                half.close();
            }
        }
    }

    private static boolean isOpen(Socket socket) throws IOException {
        socket.setSoTimeout(1);
        try {
            return socket.getInputStream().read() >= 0;
        } catch (SocketTimeoutException e) {
            return true;
        } catch (SocketException e) {
            return false;
        }
    }

    /// A part of a heat map, with the sum of its calls.
    private static JsonNode withCalls(String json) throws IOException {
        ObjectNode part = (ObjectNode) new ObjectMapper().readTree(json);
        long calls = 0;
        for (int i = 2; i < part.at("/heat").size(); i += 3) {
            calls += part.at("/heat").get(i).asLong();
        }
        return part.put("calls", calls);
    }

    private static List<String> names(JsonNode profile) {
        List<String> names = new ArrayList<>();
        profile.at("/functions")
                .forEach(function -> names.add(function.at("/name").asText()));
        return names;
    }

    @Test
    void shouldAnswerARealPrometheus() throws Exception {
        Process program = startProgram();
        int port = startPrometheus(startServer());
        call(program, 3000);

        assertThat(query(port, "mdl_function_calls_total{function=\"foo\"}", "3000"))
                .isEqualTo("3000");
        call(program, 1000);
        assertThat(query(port, "sum by (function) (mdl_function_duration_seconds_count{function=\"foo\"})", "4000"))
                .isEqualTo("4000");
    }

    @Tag("timing")
    @Test
    void shouldGiveARealPrometheusWhatRatesAndQuantilesAreMadeOf() throws Exception {
        Process program = startProgram();
        int port = startPrometheus(startServer());
        call(program, 3000);
        query(port, "mdl_function_calls_total{function=\"foo\"}", "3000");
        call(program, 1000);

        String rate = query(port, "rate(mdl_function_calls_total{function=\"foo\"}[1m]) > bool 0", "1");
        assertThat(rate).isEqualTo("1");
        String quantile = query(
                port, "histogram_quantile(0.99, mdl_function_duration_seconds_bucket{function=\"foo\"}) < bool 1", "1");
        assertThat(quantile).isEqualTo("1");
    }

    @Test
    void shouldGiveARealPrometheusNativeHistograms() throws Exception {
        Process program = startProgram();
        URI server = startServer();
        int port = startPrometheus(server, "--enable-feature=native-histograms");
        String function = "mdl_function_duration_seconds{function=\"foo\"}";
        call(program, 3000);
        assertThat(query(port, "histogram_count(" + function + ")", "3000")).isEqualTo("3000");
        call(program, 1000);
        assertThat(query(port, "histogram_count(" + function + ")", "4000")).isEqualTo("4000");

        assertThat(value(port, "histogram_sum(" + function + ")"))
                .isCloseTo(value(port, "mdl_function_seconds_total{function=\"foo\"}"), withinPercentage(1));
    }

    @Tag("timing")
    @Test
    void shouldGiveARealPrometheusThePercentilesOfTheReport() throws Exception {
        Process program = startProgram();
        int port = startPrometheus(startServer(), "--enable-feature=native-histograms");
        String function = "mdl_function_duration_seconds{function=\"foo\"}";
        call(program, 3000);
        query(port, "histogram_count(" + function + ")", "3000");
        call(program, 1000);
        query(port, "histogram_count(" + function + ")", "4000");

        double p99 = value(port, "histogram_quantile(0.99, " + function + ")");
        double lately = value(port, "histogram_quantile(0.99, rate(" + function + "[1m]))");

        // A bucket is 9 % wide.
        double reported = p99Seconds("foo");
        assertThat(p99).isCloseTo(reported, withinPercentage(10));
        assertThat(lately).isPositive().isLessThan(1);
    }

    /// What `mdl report` says.
    private double p99Seconds(String function) throws Exception {
        Process report = start(Map.of(), Dist.mdl(), "report", "--format", "json", "--function", function);
        try (InputStream out = report.getInputStream()) {
            return new ObjectMapper().readTree(out).at("/functions/0/p99Nanos").asLong() / 1e9;
        }
    }

    /// The first value that a query gives, once it is the expected one, or when patience ends.
    private static String query(int port, String query, String expected) throws Exception {
        URI uri = queryUri(port, query);
        return awaited(() -> new ObjectMapper().readTree(read(uri)), "/data/result/0/value/1", expected)
                .at("/data/result/0/value/1")
                .asText();
    }

    private static URI queryUri(int port, String query) {
        return URI.create(
                "http://127.0.0.1:" + port + "/api/v1/query?query=" + URLEncoder.encode(query, StandardCharsets.UTF_8));
    }

    /// The first value that a query gives; not a number is none.
    private static double value(int port, String query) throws Exception {
        URI uri = queryUri(port, query);
        JsonNode value = new ObjectMapper().readTree(read(uri)).at("/data/result/0/value/1");
        assertThat(value.asText()).as(query).isNotIn("", "NaN");
        return value.asDouble();
    }

    private interface Reading {
        JsonNode read() throws IOException;
    }

    /// Reads again and again until a member is as it is expected to be, or patience ends.
    private static JsonNode awaited(Reading reading, String member, String expected) throws Exception {
        long end = System.nanoTime() + Dist.PATIENCE.toNanos();
        JsonNode read = null;
        while (System.nanoTime() - end < 0) {
            try {
                read = reading.read();
                if (read.at(member).asText().equals(expected)) {
                    return read;
                }
            } catch (IOException e) {
                // It is not there yet.
            }
            Thread.sleep(200);
        }
        throw new AssertionError(member + " is not " + expected + " in " + read);
    }
}
