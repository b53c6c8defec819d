package org.mdlagent.runtime.metric.file;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Peers of sockets, from the kernel's lists in `/proc/PID/net`. Skips lines without the data.
public final class SocketPeers {
    private static final int AF_UNIX = 1;
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;

    private static final int HEX_IPV4 = 8;
    private static final int HEX_IPV6 = 32;

    private static final String LISTENS = "0A";
    private static final int LOCAL = 1;
    private static final int REMOTE = 2;
    private static final int STATE = 3;
    private static final int INODE = 9;

    private static final int UNIX_INODE = 6;
    private static final int UNIX_PATH = 7;

    private static final int HEX = 16;

    private final Map<Long, Peer> peers = new HashMap<>();

    /// @param address  a `struct sockaddr`
    /// @param accepted whether the peer has connected to us
    public record Peer(byte[] address, boolean accepted) {}

    /// Reads the lists.
    ///
    /// @param net directory such as `/proc/PID/net`
    public static SocketPeers read(Path net) {
        SocketPeers sockets = new SocketPeers();
        sockets.addInternet(Stream.concat(lines(net.resolve("tcp")), lines(net.resolve("tcp6")))
                .toList());
        lines(net.resolve("unix")).forEach(sockets::addUnix);
        return sockets;
    }

    private static Stream<String> lines(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1).lines().skip(1);
        } catch (IOException | UncheckedIOException e) {
            return Stream.of(); // a kernel without it
        }
    }

    /// The peer of a socket, or null if unknown.
    ///
    /// @param inode of the socket
    public @Nullable Peer of(long inode) {
        return peers.get(inode);
    }

    void addInternet(List<String> lines) {
        List<String[]> sockets = new ArrayList<>();
        Set<String> listening = new HashSet<>();
        for (String line : lines) {
            String[] columns = line.strip().split(" +");
            if (columns.length > INODE && columns[STATE].equals(LISTENS)) {
                listening.add(port(columns[LOCAL]));
            } else if (columns.length > INODE) {
                sockets.add(columns);
            }
        }
        for (String[] columns : sockets) {
            byte[] address = address(columns[REMOTE]);
            long inode = number(columns[INODE]);
            if (address != null && inode > 0) {
                peers.put(inode, new Peer(address, listening.contains(port(columns[LOCAL]))));
            }
        }
    }

    private static String port(String endpoint) {
        return endpoint.substring(endpoint.indexOf(':') + 1);
    }

    /// Parses `ADDRESS:PORT` in hexadecimal; null if it has another form or is unset. The kernel writes each four
    /// bytes of an address as one number in host byte order.
    private static byte @Nullable [] address(String endpoint) {
        int colon = endpoint.indexOf(':');
        try {
            int port = Integer.parseInt(endpoint.substring(colon + 1), HEX);
            if (port <= 0 || port > 0xFFFF || colon != HEX_IPV4 && colon != HEX_IPV6) {
                return null;
            }
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            bytes.write(colon == HEX_IPV4 ? AF_INET : AF_INET6);
            bytes.write(0);
            bytes.write(port >>> Byte.SIZE);
            bytes.write(port);
            bytes.writeBytes(new byte[colon == HEX_IPV4 ? 0 : Integer.BYTES]); // flow label
            for (int i = 0; i < colon; i += HEX_IPV4) {
                int word = Integer.parseUnsignedInt(endpoint.substring(i, i + HEX_IPV4), HEX);
                for (int bit = 0; bit < Integer.SIZE; bit += Byte.SIZE) {
                    bytes.write(word >>> bit);
                }
            }
            bytes.writeBytes(new byte[colon == HEX_IPV4 ? Long.BYTES : Integer.BYTES]); // padding, scope
            return bytes.toByteArray();
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private static long number(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /// An accepted socket has the path of the listening one.
    void addUnix(String line) {
        String[] columns = line.strip().split(" +", UNIX_PATH + 1);
        if (columns.length > UNIX_PATH && !columns[UNIX_PATH].isEmpty()) {
            byte[] path = columns[UNIX_PATH].getBytes(StandardCharsets.ISO_8859_1);
            byte[] address = new byte[Short.BYTES + path.length];
            address[0] = AF_UNIX;
            System.arraycopy(path, 0, address, Short.BYTES, path.length);
            if (path[0] == '@') {
                address[Short.BYTES] = 0; // abstract
            }
            peers.put(number(columns[UNIX_INODE]), new Peer(address, true));
        }
    }
}
