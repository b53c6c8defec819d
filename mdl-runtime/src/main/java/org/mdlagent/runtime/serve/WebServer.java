package org.mdlagent.runtime.serve;

import com.sun.net.httpserver.Headers;
import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.exposition.PrometheusReport;
import org.mdlagent.profiler.report.exposition.SessionSeries;
import org.mdlagent.profiler.report.file.SessionFormatException;
import org.mdlagent.profiler.report.live.HeatNews;
import org.mdlagent.profiler.report.live.LiveReport;
import org.mdlagent.profiler.report.live.SpentNews;
import org.mdlagent.profiler.report.page.SessionsPage;
import org.mdlagent.profiler.report.profile.TimedCall;

/// Serves, by HTTP:
///
/// | path | what |
/// | --- | --- |
/// | `/` | the list of programs |
/// | `/session/ID` | the live report of one |
/// | `/session/ID/profile.json?since=LOOK&shown=POSITION,...` | its new data |
/// | `/session/ID/heat.json?function=POSITION&from=SLICE` | new data of a function's heat map |
/// | `/session/ID/spent.json?functions=POSITION,...&from=SLICE` | new data of the time spent in some functions |
/// | `/session/ID/calls.json` | its slowest calls |
/// | `/session/ID/samples.json` | its samples of CPU time |
/// | `/metrics` | figures of all running programs for Prometheus, in the requested [ExpositionFormat] |
/// | `/healthz` | liveness check, without authentication |
///
/// Read-only. Not encrypted.
public final class WebServer implements AutoCloseable {
    private static final int ENDED_SHOWN = 20;
    private static final Pattern SESSION =
            Pattern.compile("/session/([^/]+)(?:/(profile|heat|spent|calls|samples)\\.json)?");
    private static final int POSITION_DIGITS = 9;
    private static final String HTML = "text/html; charset=utf-8";
    private static final String JSON = "application/json";
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
            + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private static final Map<Integer, String> REASONS = Map.of(
            200, "OK",
            303, "See Other",
            400, "Bad Request",
            401, "Unauthorized",
            403, "Forbidden",
            404, "Not Found",
            405, "Method Not Allowed",
            431, "Request Header Fields Too Large",
            500, "Internal Server Error");

    private final Connections connections;
    private final WatchedSessions sessions;
    private final SessionSource source;
    private final AccessRule access;
    private final String host;

    /// An answer.
    private record Answer(int status, String type, Body body) {
        static Answer of(String type, TextBody body) {
            return text(200, type, body);
        }

        static Answer text(int status, String text) {
            return text(status, TEXT, out -> out.append(text).append('\n'));
        }

        private static Answer text(int status, String type, TextBody body) {
            return new Answer(status, type, out -> {
                Writer writer = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
                body.write(writer);
                writer.flush();
            });
        }
    }

    private interface Body {
        void write(OutputStream out) throws IOException;
    }

    private interface TextBody {
        void write(Appendable out) throws IOException;
    }

    /// Binds the address; [#start] starts to answer.
    ///
    /// @param token required token; null serves everybody on this machine
    /// @param host  name of the machine
    public WebServer(
            InetSocketAddress address,
            WatchedSessions sessions,
            SessionSource source,
            @Nullable String token,
            String host)
            throws IOException {
        this.sessions = sessions;
        this.source = source;
        this.host = host;
        access = new AccessRule(token);
        connections = new Connections(address, new Requests());
    }

    public void start() {
        connections.start();
    }

    /// The bound address, with the actual port.
    public InetSocketAddress address() {
        return connections.address();
    }

    @Override
    public void close() throws IOException {
        connections.close();
    }

    private final class Requests implements Connections.Handler {
        @Override
        public boolean answer(RequestHead request, InetAddress peer, OutputStream out) throws IOException {
            Headers headers = headers(request.isFollowed());
            send(request, headers, WebServer.this.answer(request, headers), isZipped(request, peer), out);
            return request.isFollowed();
        }

        @Override
        public void refuse(RequestHead.Refused refusal, OutputStream out) throws IOException {
            Answer answer = Answer.text(refusal.status(), String.valueOf(refusal.getMessage()));
            writeHead(answer, headers(false), out);
            answer.body().write(out);
        }
    }

    private static Headers headers(boolean goesOn) {
        Headers headers = new Headers();
        headers.set("Content-Security-Policy", POLICY);
        headers.set("X-Content-Type-Options", "nosniff");
        headers.set("Referrer-Policy", "no-referrer");
        headers.set("Cache-Control", "no-store");
        if (!goesOn) {
            headers.set("Connection", "close");
        }
        return headers;
    }

    private Answer answer(RequestHead request, Headers headers) {
        String method = request.method();
        if (!method.equals("GET") && !method.equals("HEAD")) {
            headers.set("Allow", "GET, HEAD");
            return Answer.text(405, "only GET and HEAD are answered");
        }
        URI uri = request.uri();
        if ("/healthz".equals(uri.getPath())) {
            // Supervisors have no token and may use any address. They learn nothing else.
            return Answer.text(200, "ok");
        }
        switch (access.judge(request.headers(), uri)) {
            case FOREIGN -> {
                return Answer.text(
                        403,
                        "a page from another origin may not read this; open http://localhost:"
                                + address().getPort() + "/ or give mdl serve a --token-file");
            }
            case NO_TOKEN -> {
                headers.set("WWW-Authenticate", "Bearer");
                return Answer.text(401, "a token is needed: Authorization: Bearer TOKEN, or once ?token=TOKEN");
            }
            case GRANTED -> {}
        }
        String token = AccessRule.parameter(uri);
        if (token != null && access.isToken(token)) {
            return withCookie(uri, headers, token);
        }
        try {
            return content(uri, request.headers());
        } catch (IOException e) {
            return Answer.text(500, String.valueOf(e.getMessage()));
        }
    }

    /// Moves the token from the URL, which users share, into a cookie. The value is the server's own token, so the
    /// request controls no header character.
    private static Answer withCookie(URI uri, Headers headers, String token) {
        headers.set("Set-Cookie", AccessRule.COOKIE + "=" + token + "; Path=/; HttpOnly; SameSite=Strict");
        // Two slashes would start a host name.
        headers.set(
                "Location",
                "/" + Objects.requireNonNullElse(uri.getRawPath(), "").replaceFirst("^/+", ""));
        return Answer.text(303, "the token is in a cookie now");
    }

    private Answer content(URI uri, Headers headers) throws IOException {
        String path = Objects.requireNonNullElse(uri.getPath(), "");
        Matcher session = SESSION.matcher(path);
        if (path.equals("/")) {
            return list();
        }
        if (path.equals("/metrics")) {
            List<SessionSeries> series = sessions.series();
            ExpositionFormat format = ExpositionFormat.wanted(headers.getOrDefault("Accept", List.of()));
            // Rendered before the answer begins, because a started answer cannot report an error.
            byte[] figures = SoundSeries.render(series, sound -> render(sound, format), new LeftOut(message -> {}));
            return new Answer(200, format.contentType(), out -> out.write(figures));
        }
        Optional<WatchedSession> found = session.matches() ? sessions.find(session.group(1)) : Optional.empty();
        if (found.isEmpty()) {
            return Answer.text(404, "there is no such page; / lists the programs");
        }
        return switch (session.group(2)) {
            case "profile" -> news(found.get(), uri);
            case "heat" -> heat(found.get(), uri);
            case "spent" -> spent(found.get(), uri);
            case "calls" -> calls(found.get());
            case "samples" -> samples(found.get());
            case null, default -> page(found.get());
        };
    }

    private static byte[] render(List<SessionSeries> series, ExpositionFormat format) throws IOException {
        ByteArrayOutputStream figures = new ByteArrayOutputStream();
        if (format == ExpositionFormat.PROTOBUF) {
            PrometheusReport.writeProtobuf(series, figures);
        } else {
            Writer text = new OutputStreamWriter(figures, StandardCharsets.UTF_8);
            PrometheusReport.write(series, text);
            text.flush();
        }
        return figures.toByteArray();
    }

    private Answer list() throws IOException {
        List<SessionsPage.Live> live = new ArrayList<>();
        for (WatchedSession session : sessions.live()) {
            try {
                live.add(new SessionsPage.Live(session.id(), session.profile()));
            } catch (SessionFormatException e) {
                // A damaged session must not hide the others; its own page shows the error.
            }
        }
        List<SessionsPage.Ended> ended = sessions.all().stream()
                .filter(session -> !session.isLive())
                .limit(ENDED_SHOWN)
                .map(session -> new SessionsPage.Ended(session.id(), session.facts(), source.ending(session.facts())))
                .toList();
        return Answer.of(HTML, out -> SessionsPage.write(live, ended, host, out));
    }

    private static Answer page(WatchedSession session) throws IOException {
        LiveReport report = session.report();
        return Answer.of(HTML, out -> report.writePage(SessionsPage.path(session.id()), out));
    }

    private static Answer news(WatchedSession session, URI uri) throws IOException {
        LiveReport report = session.report();
        long known = number(uri, "since");
        Set<Integer> shown = positions(uri, "shown");
        return Answer.of(JSON, out -> report.writeNews(known, shown, out));
    }

    private static Answer heat(WatchedSession session, URI uri) throws IOException {
        int function = Math.clamp(number(uri, "function"), 0, Integer.MAX_VALUE);
        HeatNews news = session.heat(function, number(uri, "from"));
        return Answer.of(JSON, news::write);
    }

    private static Answer spent(WatchedSession session, URI uri) throws IOException {
        SpentNews news = session.spent(positions(uri, "functions"), number(uri, "from"));
        return Answer.of(JSON, news::write);
    }

    private static Answer samples(WatchedSession session) throws IOException {
        LiveReport report = session.report();
        return Answer.of(JSON, report::writeSamples);
    }

    private static Answer calls(WatchedSession session) throws IOException {
        LiveReport report = session.report();
        List<TimedCall> calls = session.lastCalls();
        return Answer.of(JSON, out -> report.writeCalls(calls, out));
    }

    /// A parameter with positions of functions; empty if absent.
    private static Set<Integer> positions(URI uri, String parameter) {
        return Arrays.stream(
                        parameter(uri, parameter, "[0-9,]{1,2000}").orElse("").split(","))
                .filter(position -> !position.isEmpty() && position.length() <= POSITION_DIGITS)
                .map(Integer::valueOf)
                .collect(Collectors.toSet());
    }

    /// A numeric parameter; 0 if absent.
    private static long number(URI uri, String parameter) {
        return parameter(uri, parameter, "[0-9]{1,18}").map(Long::parseLong).orElse(0L);
    }

    private static Optional<String> parameter(URI uri, String parameter, String values) {
        Matcher found = Pattern.compile("(?:.*&)?" + parameter + "=(" + values + ")(?:&.*)?")
                .matcher(Objects.requireNonNullElse(uri.getRawQuery(), ""));
        return found.matches() ? Optional.of(found.group(1)) : Optional.empty();
    }

    private static void send(RequestHead request, Headers headers, Answer answer, boolean zipped, OutputStream out)
            throws IOException {
        if (zipped) {
            headers.set("Content-Encoding", "gzip");
        }
        boolean hasBody = !request.method().equals("HEAD");
        if (hasBody && !request.isOld()) {
            headers.set("Transfer-Encoding", "chunked");
        }
        writeHead(answer, headers, out);
        if (!hasBody) {
            return;
        }
        ChunkedStream chunks = request.isOld() ? null : new ChunkedStream(out);
        OutputStream body = chunks == null ? out : chunks;
        if (zipped) {
            GZIPOutputStream zip = new GZIPOutputStream(body);
            answer.body().write(zip);
            zip.finish();
        } else {
            answer.body().write(body);
        }
        if (chunks != null) {
            chunks.end();
        }
    }

    private static void writeHead(Answer answer, Headers headers, OutputStream out) throws IOException {
        StringBuilder head = new StringBuilder("HTTP/1.1 ")
                .append(answer.status())
                .append(' ')
                .append(REASONS.get(answer.status()))
                .append("\r\nContent-Type: ")
                .append(answer.type())
                .append("\r\n");
        headers.forEach((name, values) -> values.forEach(
                value -> head.append(name).append(": ").append(value).append("\r\n")));
        out.write(head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
    }

    /// For clients on this machine compression costs more than it saves.
    private static boolean isZipped(RequestHead request, InetAddress peer) {
        String accepted = Objects.requireNonNullElse(request.headers().getFirst("Accept-Encoding"), "");
        return accepted.toLowerCase(Locale.ROOT).contains("gzip") && !peer.isLoopbackAddress();
    }
}
