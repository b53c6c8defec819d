package org.mdlagent.runtime.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.runtime.cli.FakeSession;

/// Requests as they are on the wire: clients would mend some of them.
class WebServerTest {
    private static final String TOKEN = "0123456789abcdef";

    @TempDir
    private Path root;

    private WebServer server;

    @BeforeEach
    void serve() throws IOException {
        Path session = FakeSession.in(root, "app-1-20260101T000000", 5_000_000, 1);
        SessionSource source = new SessionSource() {
            @Override
            public List<Path> directories() {
                return List.of(session);
            }

            @Override
            public boolean runs(SessionFacts facts) {
                return false;
            }

            @Override
            public String ending(SessionFacts facts) {
                return "ended";
            }
        };
        server = new WebServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new WatchedSessions(source, 10),
                source,
                TOKEN,
                "host");
        server.start();
    }

    @AfterEach
    void close() throws IOException {
        server.close();
    }

    private String answer(String target, String... headers) throws IOException {
        try (Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort())) {
            String request = "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    + Stream.of(headers).map(header -> header + "\r\n").collect(Collectors.joining()) + "\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"x%3b%20Domain=evil.example", "x%0d%0aEvil:%20y", "x%c4%8a%c4%8dEvil:y", "x"})
    void shouldSetNoCookieThatARequestChooses(String offered) throws IOException {
        String answer = answer("/?token=" + offered, "Authorization: Bearer " + TOKEN);

        assertThat(answer).startsWith("HTTP/1.1 200 ").doesNotContainIgnoringCase("set-cookie");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "//evil.example/", "////evil.example/%2f"})
    void shouldRedirectToItselfOnly(String path) throws IOException {
        String answer = answer(path + "?token=" + TOKEN);

        assertThat(answer).startsWith("HTTP/1.1 303 ").contains("Set-cookie: mdl_token=" + TOKEN);
        assertThat(answer.lines().filter(line -> line.startsWith("Location:")))
                .singleElement()
                .asString()
                .matches("Location: /([^/].*)?");
    }
}
