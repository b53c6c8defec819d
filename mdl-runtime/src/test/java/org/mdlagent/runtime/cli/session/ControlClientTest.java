package org.mdlagent.runtime.cli.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.cli.FakeSession;
import org.mdlagent.runtime.cli.terminal.CommandFailure;

/// A client of an agent that the test plays.
class ControlClientTest {
    @TempDir
    private Path root;

    private Path session;
    private Path socket;

    @BeforeEach
    void createSession() throws IOException {
        session = FakeSession.in(root, "app-1-20260101T000000", 1, 0);
        socket = session.resolve("control");
    }

    private ServerSocketChannel listen(Path at) throws IOException {
        return ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(at));
    }

    /// Answers one request; what it was.
    private static CompletableFuture<String> answer(ServerSocketChannel server, String text) {
        return CompletableFuture.supplyAsync(() -> {
            try (SocketChannel client = server.accept()) {
                ByteBuffer request = ByteBuffer.allocate(100);
                client.read(request);
                client.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
                return new String(request.array(), 0, request.position(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                return e.toString();
            }
        });
    }

    @Test
    void shouldReturnWhatARequestBrings() throws Exception {
        try (ServerSocketChannel server = listen(socket)) {
            CompletableFuture<String> request = answer(server, "ok\n2 functions off\n");

            assertThat(ControlClient.ask(session, "probes off ö*")).isEqualTo("2 functions off\n");
            assertThat(request.get()).isEqualTo("probes off ö*\n");
        }
    }

    @Test
    void shouldSayWhyTheAgentRefuses() throws Exception {
        try (ServerSocketChannel server = listen(socket)) {
            CompletableFuture<String> request = answer(server, "error no function with probes is x\n");

            assertThatThrownBy(() -> ControlClient.ask(session, "probes off x"))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessage("no function with probes is x");
            assertThat(request.get()).isEqualTo("probes off x\n");
        }
    }

    @Test
    void shouldSayThatTheAgentWentAway() throws Exception {
        try (ServerSocketChannel server = listen(socket)) {
            CompletableFuture<String> request = answer(server, "");

            assertThatThrownBy(() -> ControlClient.ask(session, "probes")).hasMessage("the agent went away");
            assertThat(request.get()).isEqualTo("probes\n");
        }
    }

    @Test
    void shouldNotFollowALink() throws Exception {
        Path elsewhere = root.resolve("elsewhere");
        try (ServerSocketChannel server = listen(elsewhere)) {
            Files.createSymbolicLink(socket, elsewhere);

            assertThatThrownBy(() -> ControlClient.ask(session, "probes"))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("is not the session's own socket");
            server.configureBlocking(false);
            assertThat(server.accept()).isNull();
        }
    }

    @Test
    void shouldNotAskWhatIsNoSocket() throws Exception {
        Files.writeString(socket, "hello");

        assertThatThrownBy(() -> ControlClient.ask(session, "probes"))
                .hasMessageContaining("is not the session's own socket");
    }

    @Test
    void shouldSayThatTheProgramHasEnded() throws Exception {
        listen(socket).close();

        assertThatThrownBy(() -> ControlClient.ask(session, "probes")).hasMessageContaining("has ended");
    }

    @Test
    void shouldSayThatThereIsNoSocket() {
        assertThatThrownBy(() -> ControlClient.ask(session, "probes")).hasMessageContaining("has no control socket");
    }
}
