package org.mdlagent.runtime.cli.session;

import com.sun.jna.LastErrorException;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.mdlagent.arch.file.OpenFile;
import org.mdlagent.profiler.report.file.SessionFile;
import org.mdlagent.runtime.cli.terminal.CommandFailure;

/// Sends requests to the agent of a running program: one line to the socket in its session's directory
/// (`control.c`), and the answer back.
///
/// The socket is opened before it is checked, never through a link, and connected to through that descriptor.
/// So the socket that was checked is the one used, and its path may exceed the system's limit for socket
/// paths.
public final class ControlClient {
    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM = 1;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_PEERCRED = 17;
    private static final int SO_RCVTIMEO = 20;
    private static final int ECONNREFUSED = 111;
    private static final int EAGAIN = 11;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int ADDRESS_BYTES = 110;
    private static final int CREDENTIALS_BYTES = 12;
    private static final int BLOCK = 1 << 16;

    /// Longer than the agent's own timeout.
    private static final long PATIENCE_SECONDS = 20;

    static {
        Native.register(ControlClient.class, NativeLibrary.getProcess());
    }

    private ControlClient() {}

    private static native int socket(int domain, int type, int protocol) throws LastErrorException;

    private static native int close(int socket);

    private static native int connect(int socket, Pointer address, int length) throws LastErrorException;

    private static native int getsockopt(int socket, int level, int name, Pointer value, IntByReference length)
            throws LastErrorException;

    private static native int setsockopt(int socket, int level, int name, Pointer value, int length)
            throws LastErrorException;

    private static native int send(int socket, byte[] bytes, int length, int flags) throws LastErrorException;

    private static native int recv(int socket, byte[] bytes, int length, int flags) throws LastErrorException;

    /// Sends a request to the agent of a session.
    ///
    /// @param session its directory
    /// @param request one line, without its end
    /// @return the lines of the answer
    /// @throws CommandFailure when there is no agent, or it refuses
    public static String ask(Path session, String request) throws IOException {
        SessionFile.open(session).close();
        String answer;
        try {
            answer = exchange(session, request + "\n");
        } catch (NoSuchFileException e) {
            throw CommandFailure.failed(
                    SessionStore.name(session) + " has no control socket", "its agent.log may say why");
        } catch (LastErrorException e) {
            throw switch (e.getErrorCode()) {
                case ECONNREFUSED ->
                    CommandFailure.failed(
                            "the program of " + SessionStore.name(session) + " has ended", "mdl report shows it");
                case EAGAIN ->
                    CommandFailure.failed("the agent does not answer", "its program may be stopped: try again");
                default -> CommandFailure.failed("the agent cannot be asked: " + e.getMessage(), null);
            };
        }
        int end = answer.indexOf('\n');
        String first = end < 0 ? answer : answer.substring(0, end);
        if (!first.equals("ok")) {
            throw CommandFailure.failed(
                    first.startsWith("error ") ? first.substring(6) : "the agent went away",
                    first.startsWith("error no metric ") ? "mdl list metrics" : null);
        }
        return answer.substring(end + 1);
    }

    private static String exchange(Path session, String request) throws IOException {
        try (SessionDirectory directory = SessionDirectory.open(session);
                OpenFile place = directory.socket()) {
            if (!place.isSocket() || !place.isOwn()) {
                throw CommandFailure.failed(place.name() + " is not the session's own socket", "remove it");
            }
            int socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            try {
                connect(socket, address(place.path()), ADDRESS_BYTES);
                if (listener(socket) != place.owner()) {
                    throw CommandFailure.failed("another user listens at " + place.name(), "remove it");
                }
                return talk(socket, request.getBytes(StandardCharsets.UTF_8));
            } finally {
                close(socket);
            }
        }
    }

    private static Memory address(Path path) {
        Memory address = new Memory(ADDRESS_BYTES);
        address.clear();
        address.setShort(0, (short) AF_UNIX);
        address.setString(2, path.toString());
        return address;
    }

    /// The user who created the listening socket.
    private static int listener(int socket) {
        Memory credentials = new Memory(CREDENTIALS_BYTES);
        getsockopt(socket, SOL_SOCKET, SO_PEERCRED, credentials, new IntByReference(CREDENTIALS_BYTES));
        return credentials.getInt(4);
    }

    private static String talk(int socket, byte[] request) {
        Memory patience = new Memory(2L * Long.BYTES);
        patience.setLong(0, PATIENCE_SECONDS);
        patience.setLong(Long.BYTES, 0);
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, patience, 2 * Long.BYTES);
        // Fits into the socket's buffer, which is empty.
        send(socket, request, request.length, MSG_NOSIGNAL);
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        byte[] block = new byte[BLOCK];
        for (int length = recv(socket, block, BLOCK, 0); length > 0; length = recv(socket, block, BLOCK, 0)) {
            answer.write(block, 0, length);
        }
        return answer.toString(StandardCharsets.UTF_8);
    }
}
