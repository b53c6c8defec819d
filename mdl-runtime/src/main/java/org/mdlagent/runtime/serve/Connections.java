package org.mdlagent.runtime.serve;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/// Reads requests of unauthenticated clients.
///
/// The JDK's own server either has no connection limit, or refuses new clients at the limit.
///
/// Assumes    A1 genuine requests arrive at once; abusive ones arrive slowly
/// Guarantees G1 at most [#MOST] connections are open. A further connection closes the oldest of the larger group:
///               connections that wait for the rest of a request, or connections whose answer is not being read. So
///               half requests and unread answers, however many, do not keep other clients from an answer
///            G2 receiving a request and sending its answer have time limits
final class Connections implements AutoCloseable {
    static final int MOST = 200;

    private static final int BACKLOG = 1024;
    private static final long REQUEST_NANOS = 20_000_000_000L;
    private static final long ANSWER_NANOS = 120_000_000_000L;
    private static final int SWEEP_MILLIS = 1000;
    private static final long PAUSE_NANOS = 10_000_000;

    /// Handles requests.
    interface Handler {
        /// Answers a request; returns whether the connection stays open.
        boolean answer(RequestHead request, InetAddress peer, OutputStream out) throws IOException;

        void refuse(RequestHead.Refused refusal, OutputStream out) throws IOException;
    }

    private static final class Connection {
        final Socket socket;
        long deadline;

        Connection(Socket socket) {
            this.socket = socket;
        }
    }

    private final ServerSocket server = new ServerSocket();
    private final Handler handler;
    private final Object lock = new Object();

    /// Each open connection is in one of the two sets, in order of insertion.
    private final SequencedSet<Connection> waiting = new LinkedHashSet<>();

    private final SequencedSet<Connection> answered = new LinkedHashSet<>();

    Connections(InetSocketAddress address, Handler handler) throws IOException {
        this.handler = handler;
        server.setSoTimeout(SWEEP_MILLIS);
        server.bind(address, BACKLOG);
    }

    void start() {
        Thread.ofPlatform().daemon().name("mdl-serve").start(this::accept);
    }

    InetSocketAddress address() {
        return (InetSocketAddress) server.getLocalSocketAddress();
    }

    @Override
    public void close() throws IOException {
        server.close();
        synchronized (lock) {
            waiting.forEach(Connections::cut);
            answered.forEach(Connections::cut);
        }
    }

    private void accept() {
        while (!server.isClosed()) {
            Socket socket = null;
            try {
                socket = server.accept();
            } catch (SocketTimeoutException e) {
                // time to check for expired connections
            } catch (IOException e) {
                // Out of descriptors, perhaps.
                makeRoom(0);
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            sweep();
            if (socket != null) {
                begin(new Connection(socket));
            }
        }
    }

    private void begin(Connection connection) {
        synchronized (lock) {
            makeRoom(MOST - 1);
            connection.deadline = System.nanoTime() + REQUEST_NANOS;
            waiting.add(connection);
        }
        Thread.ofVirtual().start(() -> serve(connection));
    }

    /// Closes a connection if too many are open.
    private void makeRoom(int most) {
        synchronized (lock) {
            if (waiting.size() + answered.size() > most) {
                cut((waiting.size() >= answered.size() ? waiting : answered).removeFirst());
            }
        }
    }

    private void sweep() {
        long now = System.nanoTime();
        synchronized (lock) {
            Stream.concat(waiting.stream(), answered.stream())
                    .filter(connection -> now - connection.deadline > 0)
                    .forEach(Connections::cut);
        }
    }

    /// A thread that reads or writes there gets an exception.
    private static void cut(Connection connection) {
        try {
            connection.socket.close();
        } catch (IOException e) {
            // nothing more to do with it
        }
    }

    /// Moves a connection to the other set, unless it has been closed.
    private void move(Connection connection, Set<Connection> from, Set<Connection> to, long nanos) {
        synchronized (lock) {
            connection.deadline = System.nanoTime() + nanos;
            if (from.remove(connection)) {
                to.add(connection);
            }
        }
    }

    private void serve(Connection connection) {
        try (Socket socket = connection.socket) {
            InputStream in = new BufferedInputStream(socket.getInputStream());
            OutputStream out = new BufferedOutputStream(socket.getOutputStream());
            while (answerNext(connection, in, out)) {
                move(connection, answered, waiting, REQUEST_NANOS);
            }
        } catch (IOException e) {
            // The client has disconnected, or was closed.
        } finally {
            synchronized (lock) {
                waiting.remove(connection);
                answered.remove(connection);
            }
        }
    }

    private boolean answerNext(Connection connection, InputStream in, OutputStream out) throws IOException {
        boolean goesOn = false;
        try {
            RequestHead request = RequestHead.read(in);
            move(connection, waiting, answered, ANSWER_NANOS);
            goesOn = request != null && handler.answer(request, connection.socket.getInetAddress(), out);
        } catch (RequestHead.Refused e) {
            move(connection, waiting, answered, ANSWER_NANOS);
            handler.refuse(e, out);
        }
        out.flush();
        return goesOn;
    }
}
