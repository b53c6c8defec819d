package org.mdlagent.runtime.cli.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.cli.FakeSession;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.serve.OtlpPush;
import org.mdlagent.runtime.serve.RequestHeaders;
import org.mdlagent.runtime.serve.WatchedSessions;
import org.mdlagent.runtime.serve.WebServer;

/// What is served, byte by byte, of the session of this very process and of one that has ended.
class ServeCommandTest {
    private static final long LIMIT_SECONDS = 600;
    private static final String LIVE = "app-live-20260101T000000";
    private static final String ENDED = "app-5000000-20250101T000000";
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @TempDir
    private Path root;

    private WatchedSessions sessions;
    private ServeCommand.StoredSessions source;
    private WebServer server;

    @BeforeEach
    void start() throws IOException {
        long now = Instant.now().getEpochSecond();
        FakeSession.in(root, LIVE, ProcessHandle.current().pid(), now);
        FakeSession.in(root, ENDED, 5_000_000, now - 86_400);
        source = new ServeCommand.StoredSessions(new SessionStore(List.of(root), root.resolve("memory"), notice -> {}));
        sessions = new WatchedSessions(source, 200);
        serve(null);
    }

    private void serve(@Nullable String token) throws IOException {
        server = new WebServer(ANY_PORT, sessions, source, token, "host");
        server.start();
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
    }

    /// What is answered to a request with the Host that a browser here would send, and these further headers.
    private String get(String path, String... headers) throws IOException {
        return send(
                "GET " + path + " HTTP/1.1",
                "Host: localhost:" + server.address().getPort(),
                headers);
    }

    private String send(String request, String host, String... headers) throws IOException {
        try (Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort())) {
            String head = request + "\r\n" + host + "\r\nConnection: close\r\n"
                    + (headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n") + "\r\n";
            socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void shouldListWhatRunsAndWhatHasEnded() throws IOException {
        String page = get("/");

        assertThat(page)
                .startsWith("HTTP/1.1 200 ")
                .containsIgnoringCase("content-security-policy: default-src 'none'");
        assertThat(page).contains("1 program runs", "/session/" + LIVE, "/session/" + ENDED);
        assertThat(page.indexOf(LIVE)).isLessThan(page.indexOf("<h2>Ended</h2>"));
        assertThat(page.indexOf(ENDED)).isGreaterThan(page.indexOf("<h2>Ended</h2>"));
    }

    @Test
    void shouldServeTheReportOfASessionAndWhatIsNew() throws IOException {
        assertThat(get("/session/" + ENDED))
                .startsWith("HTTP/1.1 200 ")
                .contains("\"source\": \"/session/" + ENDED + "\"", "\"runs\": false");
        String news = get("/session/" + LIVE + "/profile.json?since=7&shown=,0,99999999999");
        assertThat(news).startsWith("HTTP/1.1 200 ").contains("application/json", "\"runs\": true");
        assertThat(get("/session/" + LIVE + "/heat.json?function=99999999999&from=7"))
                .startsWith("HTTP/1.1 200 ")
                .contains("{\"columns\": [],\"next\": 7,\"heat\": []}");
        assertThat(get("/session/" + LIVE + "/spent.json?functions=0,99999999999&from=7"))
                .startsWith("HTTP/1.1 200 ")
                .contains("{\"columns\": [],\"next\": 7,\"functions\": []}");
        assertThat(get("/session/" + ENDED + "/calls.json"))
                .startsWith("HTTP/1.1 200 ")
                .contains("{\"calls\": []}");
        assertThat(get("/session/" + ENDED + "/samples.json"))
                .startsWith("HTTP/1.1 200 ")
                .contains("\"paths\": []", "\"samples\": []");
    }

    @Test
    void shouldTellPrometheusOfWhatRunsOnly() throws IOException {
        assertThat(get("/metrics"))
                .startsWith("HTTP/1.1 200 ")
                .contains(
                        "text/plain; version=0.0.4",
                        "mdl_toggles_total{program=\"/bin/app\",pid=\""
                                + ProcessHandle.current().pid() + "\"} 0")
                .doesNotContain("5000000");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/session/absent",
                "/session/..",
                "/session/../" + LIVE,
                "/session/..%2f" + LIVE,
                "/session/" + LIVE + "/session.mdl",
                "/session/" + LIVE + "/../" + LIVE,
                "/session/%2e%2e/profile.json",
                "/session/" + LIVE + "/heatXjson",
                "//session",
                "/favicon.ico",
                "/metrics/"
            })
    void shouldMakeNoPathOfARequest(String path) throws IOException {
        assertThat(get(path)).startsWith("HTTP/1.1 404 ");
    }

    @Test
    void shouldChangeNothing() throws IOException {
        for (String method : List.of("POST", "PUT", "DELETE", "OPTIONS", "PATCH")) {
            assertThat(send(method + " / HTTP/1.1", "Host: localhost", "Content-Length: 0"))
                    .startsWith("HTTP/1.1 405 ");
        }
        assertThat(send("HEAD / HTTP/1.1", "Host: localhost"))
                .startsWith("HTTP/1.1 200 ")
                .endsWith("\r\n\r\n");
    }

    @Test
    void shouldRefusePagesOfElsewhere() throws IOException {
        assertThat(send("GET / HTTP/1.1", "Host: evil.example")).startsWith("HTTP/1.1 403 ");
        assertThat(get("/metrics", "Origin: http://evil.example")).startsWith("HTTP/1.1 403 ");
    }

    @Test
    void shouldTakeTheTokenFromTheAddressIntoACookie() throws IOException {
        server.close();
        serve("0123456789abcdef");

        assertThat(get("/")).startsWith("HTTP/1.1 401 ").containsIgnoringCase("www-authenticate: bearer");
        assertThat(send("GET /healthz HTTP/1.1", "Host: 10.0.0.7"))
                .startsWith("HTTP/1.1 200 ")
                .contains("\nok\n");
        String answer = get("/metrics?token=0123456789abcdef");
        assertThat(answer)
                .startsWith("HTTP/1.1 303 ")
                .containsIgnoringCase("location: /metrics\r\n")
                .containsIgnoringCase("mdl_token=0123456789abcdef; path=/; httponly; samesite=strict");
        assertThat(get("/metrics", "Cookie: mdl_token=0123456789abcdef")).startsWith("HTTP/1.1 200 ");
        assertThat(get("/metrics", "Authorization: Bearer 0123456789abcdef")).startsWith("HTTP/1.1 200 ");
    }

    @Test
    void shouldServeTheOthersWhereASessionIsDamaged() throws IOException {
        Path damaged = FakeSession.in(root, "app-damaged-20260102T000000", 1, 1);
        Files.write(damaged.resolve("session.mdl"), new byte[5000]);

        assertThat(get("/")).contains(LIVE).doesNotContain("app-damaged");
        assertThat(get("/session/app-damaged-20260102T000000")).startsWith("HTTP/1.1 404 ");
    }

    /// Answers that a collector gives in turn, the last one to all requests that follow.
    private HttpServer collector(BlockingQueue<Headers> taken, Reply... replies) throws IOException {
        AtomicInteger requests = new AtomicInteger();
        HttpServer collector = HttpServer.create(ANY_PORT, 0);
        collector.createContext("/v1/metrics", exchange -> {
            try (exchange) {
                exchange.getRequestBody().readAllBytes();
                Reply reply = replies[Math.min(requests.getAndIncrement(), replies.length - 1)];
                byte[] body = reply.body().getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(reply.status(), body.length == 0 ? -1 : body.length);
                exchange.getResponseBody().write(body);
                taken.add(exchange.getRequestHeaders());
            }
        });
        collector.start();
        return collector;
    }

    private record Reply(int status, String body) {}

    @Test
    void shouldTellTheCollectorWhatItWantsToKnowAndThePersonWhatItAnswers() throws Exception {
        BlockingQueue<Headers> taken = new LinkedBlockingQueue<>();
        BlockingQueue<String> said = new LinkedBlockingQueue<>();
        HttpServer collector = collector(
                taken,
                new Reply(401, ""),
                new Reply(400, "no\tsuch\nmetric\u001b[1m"),
                new Reply(200, "{\"partialSuccess\": {\"rejectedDataPoints\": \"3\", \"errorMessage\": \"late\"}}"),
                new Reply(200, "{\"partialSuccess\": {}}"));
        URI uri = URI.create("http://localhost:" + collector.getAddress().getPort());
        RequestHeaders headers = new RequestHeaders();
        headers.add("api-key=secret");

        try (OtlpPush push = new OtlpPush(uri, headers, Duration.ofSeconds(1), sessions, "host", said::add)) {
            push.start();

            assertThat(said.poll(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .endsWith("takes no metrics: it answers with status 401; put credentials into"
                            + " OTEL_EXPORTER_OTLP_HEADERS or --otlp-header-file");
            assertThat(said.poll(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .endsWith("it answers with status 400, no such metric [1m");
            assertThat(said.poll(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .contains("takes a part of the metrics only: ", "\"errorMessage\": \"late\"");
            assertThat(said.poll(LIMIT_SECONDS, TimeUnit.SECONDS)).endsWith("takes metrics again");
            assertThat(taken).hasSizeGreaterThanOrEqualTo(3).allSatisfy(request -> {
                assertThat(request.getFirst("Api-key")).isEqualTo("secret");
                assertThat(request.getFirst("Content-type")).isEqualTo("application/json");
            });
        } finally {
            collector.stop(0);
        }
    }

    @Test
    void shouldSayOnceThatThereIsNoCollector() throws Exception {
        HttpServer collector = collector(new LinkedBlockingQueue<>(), new Reply(200, ""));
        URI uri = URI.create("http://localhost:" + collector.getAddress().getPort());
        collector.stop(0);
        BlockingQueue<String> said = new LinkedBlockingQueue<>();

        try (OtlpPush push =
                new OtlpPush(uri, new RequestHeaders(), Duration.ofMinutes(5), sessions, "host", said::add)) {
            push.start();

            assertThat(said.poll(LIMIT_SECONDS, TimeUnit.SECONDS)).endsWith("takes no metrics: Connection refused");
            assertThat(said.poll(2, TimeUnit.SECONDS)).isNull();
        }
    }

    @Test
    void shouldGoOnPushingWhenTheCollectorIsThereAgain() throws Exception {
        BlockingQueue<JsonNode> taken = new LinkedBlockingQueue<>();
        BlockingQueue<String> said = new LinkedBlockingQueue<>();
        AtomicInteger requests = new AtomicInteger();
        HttpServer collector = HttpServer.create(ANY_PORT, 0);
        collector.createContext("/v1/metrics", exchange -> {
            try (exchange;
                    InputStream body = exchange.getRequestBody()) {
                JsonNode request = new ObjectMapper().readTree(body);
                boolean fails = requests.incrementAndGet() == 1;
                exchange.sendResponseHeaders(fails ? 503 : 200, -1);
                if (!fails) {
                    taken.add(request);
                }
            }
        });
        collector.start();
        URI uri = URI.create("http://localhost:" + collector.getAddress().getPort() + "/");

        try (OtlpPush push =
                new OtlpPush(uri, new RequestHeaders(), Duration.ofMinutes(5), sessions, "host", said::add)) {
            push.start();

            assertThat(said.poll(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .endsWith("takes no metrics: it answers with status 503");
            JsonNode request = taken.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
            assertThat(request).isNotNull();
            assertThat(request.at("/resourceMetrics/0/resource/attributes/0/value/stringValue")
                            .asText())
                    .isEqualTo("app");
            assertThat(said.poll(LIMIT_SECONDS, TimeUnit.SECONDS)).endsWith("takes metrics again");
        } finally {
            collector.stop(0);
        }
    }
}
