package org.mdlagent.bench.programs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A server and its load tool, which sends requests back to back on each connection.
///
/// It runs in its own directory, which contains its files; relative paths refer to it.
sealed interface Service permits Redis, Nginx, Sqlite, Postgres {
    /// The load tool's result.
    ///
    /// @param requests  answered
    /// @param perSecond requests per second
    /// @param p99Micros p99 response time
    record Served(long requests, double perSecond, double p99Micros) {}

    /// A file with the number of the process.
    Path PID = Path.of("pid");

    /// Debian's source package.
    String source();

    /// Its description for a table.
    String work();

    /// The load tool's command, null if it need not be installed.
    @Nullable
    String loadTool();

    /// The program or directory of Debian's binary package, as for [#command].
    Path stock();

    /// A function that is called for each request, never inlined, and that stripped programs name, too.
    String function();

    /// @param built result of [SourceTree#debian]
    List<String> command(Path built, Path directory) throws IOException, InterruptedException;

    /// The command for a user who may run it.
    default List<String> asItsUser(List<String> command) {
        return command;
    }

    boolean isReady(Path directory) throws IOException;

    /// Prepares the load, once the server is ready.
    default void prepare(Process server, Path directory) throws IOException, InterruptedException {}

    /// @param seconds that it takes, about
    Served load(Process server, Path directory, int seconds) throws IOException, InterruptedException;

    /// @param size minimum number of requests: tools divide them among connections
    Served batch(Process server, Path directory, long size) throws IOException, InterruptedException;

    /// Asks it to shut down gracefully.
    void stop(Process server, Path directory) throws IOException, InterruptedException;

    /// @param names Debian's of source packages, none for all services
    /// @throws IllegalArgumentException when there is none of such a name
    static List<Service> named(String[] names) throws IOException {
        List<Service> all = List.of(new Redis(freePort()), new Nginx(freePort()), new Sqlite(), new Postgres());
        List<String> sources = all.stream().map(Service::source).toList();
        List<String> asked = names.length == 0 ? sources : List.of(names);
        if (!sources.containsAll(asked)) {
            throw new IllegalArgumentException("of the services " + asked + " there are only " + sources);
        }
        return all.stream().filter(service -> asked.contains(service.source())).toList();
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    static boolean accepts(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    /// @param state a file in the directory, whose first line is the process
    static void signal(String signal, Path directory, Path state) throws IOException, InterruptedException {
        String pid = Files.readAllLines(directory.resolve(state)).getFirst();
        String unused = run(directory, "kill", "-" + signal, pid);
    }

    /// @return what it says on its standard output
    static String run(Path directory, String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + " has failed: " + said);
        }
        return said;
    }

    static Matcher match(String text, String pattern) throws IOException {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        if (!matcher.find()) {
            throw new IOException("the load tool says: " + text);
        }
        return matcher;
    }

    static double number(Matcher matcher, int group) {
        return Double.parseDouble(matcher.group(group));
    }
}
