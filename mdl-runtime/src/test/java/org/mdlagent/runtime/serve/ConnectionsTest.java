package org.mdlagent.runtime.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ConnectionsTest {
    private static final String DONE = "done\n";

    private final List<Socket> sockets = new ArrayList<>();
    private final Semaphore begun = new Semaphore(0);
    private final CountDownLatch end = new CountDownLatch(1);
    private Connections connections;

    /// Answers `/slow` at the end only, as if nobody read the answer.
    private final class Slow implements Connections.Handler {
        @Override
        public boolean answer(RequestHead request, InetAddress peer, OutputStream out) throws IOException {
            if (request.uri().getPath().equals("/slow")) {
                begun.release();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            out.write(DONE.getBytes(StandardCharsets.US_ASCII));
            return request.isFollowed();
        }

        @Override
        public void refuse(RequestHead.Refused refusal, OutputStream out) {
            throw new AssertionError(refusal);
        }
    }

    @BeforeEach
    void start() throws IOException {
        connections = new Connections(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), new Slow());
        connections.start();
    }

    @AfterEach
    void stop() throws IOException {
        end.countDown();
        for (Socket socket : sockets) {
            socket.close();
        }
        connections.close();
    }

    private Socket send(String text) throws IOException {
        Socket socket = new Socket(
                connections.address().getAddress(), connections.address().getPort());
        sockets.add(socket);
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static String answer(Socket socket) throws IOException {
        return new String(socket.getInputStream().readNBytes(DONE.length()), StandardCharsets.US_ASCII);
    }

    @Test
    void shouldAnswerBesideMoreAnswersThatNobodyTakesThanItKeeps() throws Exception {
        for (int i = 0; i < Connections.MOST + 20; i++) {
            send("GET /slow HTTP/1.1\r\n\r\n");
            begun.acquire();
        }

        assertThat(answer(send("GET / HTTP/1.1\r\n\r\n"))).isEqualTo(DONE);
    }

    @Test
    void shouldEndAnAnswerBesideAnyNumberOfHalfRequests() throws Exception {
        Socket slow = send("GET /slow HTTP/1.1\r\n\r\n");
        begun.acquire();
        for (int i = 0; i < Connections.MOST * 2; i++) {
            send("GET");
        }
        assertThat(answer(send("GET / HTTP/1.1\r\n\r\n"))).isEqualTo(DONE);

        end.countDown();
        assertThat(answer(slow)).isEqualTo(DONE);
    }
}
