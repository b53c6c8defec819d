package org.mdlagent.bench.tools;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// Asks a running agent, as `mdl enable` does it.
public final class ControlSocket {
    private static final int ANSWER_BYTES = 1 << 16;

    private final Path socket;

    /// @param session its directory
    public ControlSocket(Path session) {
        socket = session.resolve("control");
    }

    /// @return the answer's lines
    public String ask(String request) throws IOException {
        try (SocketChannel agent = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            agent.connect(UnixDomainSocketAddress.of(socket));
            int unused = agent.write(ByteBuffer.wrap((request + "\n").getBytes(StandardCharsets.UTF_8)));
            ByteBuffer answer = ByteBuffer.allocate(ANSWER_BYTES);
            while (agent.read(answer) >= 0) {}
            String text = new String(answer.array(), 0, answer.position(), StandardCharsets.UTF_8);
            if (!text.startsWith("ok\n")) {
                throw new IOException(request + ": " + text);
            }
            return text.substring("ok\n".length());
        }
    }
}
