package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// Daemons of Debian under a plain preload, as their units start them, under load: `-Dmdl.daemon.seconds=3600` for an
/// hour of each. No process of theirs dies, and each daemon has sessions with calls, or a known reason why not.
@Tag("soak")
class DaemonsIT {
    private static final Duration LOAD = Duration.ofSeconds(Integer.getInteger("mdl.daemon.seconds", 15));
    private static final int CLIENTS = 4;

    /// What the daemons' logs say of processes that have died.
    private static final String DIED =
            "(?s).*(exit signal|killed with signal|exited with code 1[34][0-9](?! \\(Terminated\\))"
                    + "|Failed to disable setuid|assertion failure|core dumped).*";

    private Path directory;
    private Process daemon;
    private String name;

    /// Root's directories of tests are root's alone, and these daemons become other users.
    @BeforeEach
    void createDirectory() throws IOException {
        directory = Files.createTempDirectory(
                Path.of("/tmp"),
                "mdl-daemon",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        share(directory);
        assumeThat(System.getProperty("user.name")).isEqualTo("root");
    }

    /// For everybody, as `/tmp`: the agent of root creates nothing where others could replace it.
    private static void share(Path directory) throws IOException {
        Files.setAttribute(directory, "unix:mode", 01777);
    }

    @AfterEach
    void remove() throws Exception {
        if (daemon != null && daemon.isAlive()) {
            daemon.destroyForcibly().waitFor();
        }
        Dist.await("the end of its processes, which write there", this::isRemoved);
    }

    private boolean isRemoved() throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
            return true;
        } catch (DirectoryNotEmptyException | UncheckedIOException e) {
            return false; // something has come or gone meanwhile
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"prefork", "worker", "event"})
    void shouldServeWithApache(String module) throws Exception {
        assumeThat(Path.of("/usr/sbin/apache2")).exists();
        int port = freePort();
        write("page.html", "hello\n");
        Path configuration = write("apache.conf", """
                ServerRoot %1$s
                ServerName localhost
                DefaultRuntimeDir %1$s
                LoadModule mpm_%2$s_module /usr/lib/apache2/modules/mod_mpm_%2$s.so
                LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
                Listen 127.0.0.1:%3$d
                PidFile %1$s/pid
                ErrorLog %1$s/log
                User www-data
                Group www-data
                DocumentRoot %1$s
                StartServers 2
                MaxConnectionsPerChild 100
                """.formatted(directory, module, port));

        start("apache2", "-D", "FOREGROUND", "-f", configuration.toString());
        long served = load(() -> http(port, "/page.html"));

        stop("TERM", 0);
        assertThat(served).isPositive();
        assertCalled("apache2", "ap_wait_or_timeout");
        assertThat(report("apache2").get("processes").size()).isGreaterThan(2);
    }

    /// The worker does the work. It was forked by a process that has executed itself since.
    @Test
    void shouldServeWithHaproxysMasterAndWorker() throws Exception {
        assumeThat(Path.of("/usr/sbin/haproxy")).exists();
        int port = freePort();
        Path configuration = write("haproxy.cfg", """
                global
                  nbthread 2
                defaults
                  mode http
                  timeout connect 5s
                  timeout client 5s
                  timeout server 5s
                frontend f
                  bind 127.0.0.1:%d
                  http-request return status 200 content-type text/plain string hello
                """.formatted(port));

        start("haproxy", "-W", "-f", configuration.toString());
        long served = load(() -> http(port, "/"));

        List<Path> sessions = sessions("haproxy");
        stop("TERM", 0);
        assertThat(served).isPositive();
        assertThat(sessions.stream().filter(session -> !name(session).contains("-" + daemon.pid() + "-")))
                .as("sessions of the worker")
                .hasSize(1);
        assertCalled("haproxy", "process_runnable_tasks");
    }

    @Test
    void shouldServeWithNamed() throws Exception {
        assumeThat(Path.of("/usr/sbin/named")).exists();
        int port = freePort();
        write("zone", """
                $TTL 60
                @ IN SOA ns hostmaster 1 60 60 60 60
                  IN NS ns
                ns IN A 127.0.0.1
                www IN A 127.0.0.2
                """);
        Path configuration = write("named.conf", """
                options {
                  directory "%1$s"; pid-file "%1$s/pid"; session-keyfile none;
                  listen-on port %2$d { 127.0.0.1; }; listen-on-v6 { none; };
                  recursion no; dnssec-validation no;
                };
                controls { };
                zone "example.test" { type primary; file "%1$s/zone"; };
                """.formatted(directory, port));

        // It is root only until it has read its configuration: its state is that of the user it becomes.
        Path state = Files.createDirectory(directory.resolve("state"));
        Files.setOwner(
                state, state.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("bind"));
        start("named", "-g", "-u", "bind", "-c", configuration.toString());
        long served = load(() -> dns(port));

        stop("TERM", 0);
        assertThat(served).isPositive();
        assertThat(sessions("named")).hasSize(1);
        assertThat(log("named")).contains("armed after");
    }

    /// What serves a login has no agent of its own: it is executed anew, and gives up rights.
    @Test
    void shouldLogInWithSshd() throws Exception {
        assumeThat(Path.of("/usr/sbin/sshd")).exists();
        int port = freePort();
        Files.createDirectories(Path.of("/run/sshd"));
        for (String key : List.of("host", "user")) {
            assertThat(Dist.run(directory, Map.of(), List.of("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key))
                            .status())
                    .isZero();
        }
        Path configuration = write("sshd.conf", """
                Port %2$d
                ListenAddress 127.0.0.1
                HostKey %1$s/host
                AuthorizedKeysFile %1$s/user.pub
                StrictModes no
                PermitRootLogin yes
                PidFile %1$s/pid
                UsePAM yes
                MaxStartups 100
                """.formatted(directory, port));
        List<String> login = List.of(
                "ssh",
                "-q",
                "-p",
                Integer.toString(port),
                "-i",
                "user",
                "-o",
                "StrictHostKeyChecking=no",
                "-o",
                "UserKnownHostsFile=/dev/null",
                "root@127.0.0.1",
                "echo hello");

        start("sshd", "-D", "-e", "-f", configuration.toString());
        long served = load(() -> {
            Dist.Outcome outcome = Dist.run(directory, Map.of(), login);
            assertThat(outcome.text()).isEqualTo("hello\n");
        });

        stop("TERM", -1);
        assertThat(served).isPositive();
        assertThat(sessions("sshd")).as("one session, and none for each login").hasSize(1);
        assertCalled("sshd", null);
    }

    /// Its processes have the environment and the limits that its configuration says. The master gives up rights at
    /// once.
    @Test
    void shouldServeWithDovecotThatImportsTheEnvironment() throws Exception {
        assumeThat(Path.of("/usr/sbin/dovecot")).exists();
        dovecot("""
                import_environment = TZ CORE_OUTOFMEM CORE_ERROR LD_PRELOAD MDL_OPTIONS XDG_STATE_HOME
                default_vsz_limit = 0
                """);
        assertThat(sessions("config")).hasSize(1);
        assertThat(log("config")).contains("armed after");
    }

    /// The limit of the address space is dovecot's own, for its services.
    @Test
    void shouldServeWithDovecotThatLimitsItsMemory() throws Exception {
        assumeThat(Path.of("/usr/sbin/dovecot")).exists();
        dovecot("import_environment = TZ CORE_OUTOFMEM CORE_ERROR LD_PRELOAD MDL_OPTIONS XDG_STATE_HOME");
        assertThat(log("config")).contains("the limit of the address space (ulimit -v) leaves no room for a JVM");
    }

    /// As it comes, it executes its services without `LD_PRELOAD`, and its master gives up rights at once.
    @Test
    void shouldServeWithDovecotAsItComes() throws Exception {
        assumeThat(Path.of("/usr/sbin/dovecot")).exists();
        dovecot("");
        assertThat(directory.resolve("state/mdl/sessions")).doesNotExist();
        assertThat(Files.readString(directory.resolve("state/mdl/agent.log")))
                .containsPattern("/dovecot \\(" + daemon.pid() + "\\) has no session, .*: capset");
    }

    private void dovecot(String more) throws Exception {
        int port = freePort();
        Path mail = directory.resolve("mail");
        Files.createDirectories(mail);
        share(mail);
        Path configuration = write("dovecot.conf", """
                base_dir = %1$s/run
                state_dir = %1$s/run
                log_path = %1$s/log
                protocols = imap
                ssl = no
                disable_plaintext_auth = no
                listen = 127.0.0.1
                mail_location = maildir:%1$s/mail/%%u
                service imap-login {
                  inet_listener imap {
                    port = %2$d
                  }
                  inet_listener imaps {
                    port = 0
                  }
                }
                passdb {
                  driver = static
                  args = nopassword=y
                }
                userdb {
                  driver = static
                  args = uid=mail gid=mail home=%1$s/mail/%%u
                }
                first_valid_uid = 1
                first_valid_gid = 1
                %3$s
                """.formatted(directory, port, more));

        start("dovecot", "-F", "-c", configuration.toString());
        long served = load(() -> imap(port));

        stop("TERM", 0);
        assertThat(served).isPositive();
    }

    private Path write(String name, String text) throws IOException {
        Path file = Files.writeString(directory.resolve(name), text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        return file;
    }

    // ---- the daemon

    private void start(String program, String... arguments) throws IOException {
        name = program;
        // Apache ends its whole process group, which would be the test's.
        List<String> command = new ArrayList<>(List.of("/usr/bin/setsid", "/usr/sbin/" + program));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("output").toFile());
        Path state = directory.resolve("state");
        if (Files.notExists(state)) {
            share(Files.createDirectory(state));
        }
        builder.environment().putAll(Map.of("LD_PRELOAD", Dist.shim().toString(), "XDG_STATE_HOME", state.toString()));
        builder.environment().remove("MDL_OPTIONS");
        daemon = builder.start();
    }

    private interface Request {
        void send() throws Exception;
    }

    /// Sends requests by several clients, as long as the property says, once the first has been answered. How many.
    private long load(Request request) throws Exception {
        Dist.await("the first answer", () -> {
            assertThat(daemon.isAlive()).as(output()).isTrue();
            try {
                request.send();
                return true;
            } catch (IOException | AssertionError e) {
                return false; // it is not ready yet
            }
        });
        long end = System.nanoTime() + LOAD.toNanos();
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            Client client = new Client(request, end);
            clients.add(client);
            client.start();
        }
        long served = 0;
        for (Client client : clients) {
            client.join();
            assertThat(client.failure).as(output()).isNull();
            served += client.served;
        }
        assertThat(daemon.isAlive()).as(output()).isTrue();
        System.out.println(name + ": " + served + " requests in " + LOAD.toSeconds() + " s");
        return served;
    }

    private static final class Client extends Thread {
        private final Request request;
        private final long end;
        private long served;
        private Throwable failure;

        Client(Request request, long end) {
            this.request = request;
            this.end = end;
        }

        @Override
        public void run() {
            try {
                while (System.nanoTime() < end) {
                    request.send();
                    served++;
                }
            } catch (Exception | AssertionError e) {
                failure = e;
            }
        }
    }

    /// @param status that the daemon ends with, -1 for any
    private void stop(String signal, int status) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(daemon.pid()))
                        .start()
                        .waitFor())
                .isZero();
        assertThat(daemon.waitFor(Dist.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        if (status >= 0) {
            assertThat(daemon.exitValue()).as(output()).isEqualTo(status);
        }
        assertThat(output()).doesNotMatch(DIED);
    }

    private String output() throws IOException {
        StringBuilder text = new StringBuilder();
        for (String file : List.of("output", "log")) {
            Path path = directory.resolve(file);
            text.append(Files.exists(path) ? Files.readString(path) : "");
        }
        return text.toString();
    }

    // ---- its sessions

    private List<Path> sessions(String program) throws IOException {
        Path root = directory.resolve("state/mdl/sessions");
        try (Stream<Path> all = Files.exists(root) ? Files.list(root) : Stream.empty()) {
            return all.filter(session -> name(session).startsWith(program + "-"))
                    .toList();
        }
    }

    private String log(String program) throws IOException {
        return Files.readString(sessions(program).getFirst().resolve("agent.log"));
    }

    private static String name(Path session) {
        return session.getFileName().toString();
    }

    private JsonNode report(String program) throws Exception {
        return Dist.report(directory, sessions(program).getFirst());
    }

    /// Some session of the program has calls, of that function if it is given.
    private void assertCalled(String program, String function) throws Exception {
        List<Map<String, Long>> calls = new ArrayList<>();
        for (Path session : sessions(program)) {
            calls.add(Dist.calls(Dist.report(directory, session)));
        }
        assertThat(calls).as(output()).anySatisfy(each -> {
            assertThat(each).isNotEmpty();
            assertThat(function == null || each.containsKey(function)).isTrue();
        });
    }

    // ---- clients

    private static void http(int port, String path) throws IOException {
        try (Socket socket = connect(port)) {
            socket.getOutputStream().write(("GET " + path + " HTTP/1.0\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            assertThat(answer).contains(" 200 ").contains("hello");
        }
    }

    /// The address of www.example.test.
    private static void dns(int port) throws IOException {
        byte[] query = {
            1, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 'w', 'w', 'w', 7, 'e', 'x', 'a', 'm', 'p', 'l', 'e', 4, 't', 'e',
            's', 't', 0, 0, 1, 0, 1
        };
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.setSoTimeout(10_000);
            socket.connect(InetAddress.getLoopbackAddress(), port);
            socket.send(new DatagramPacket(query, query.length));
            DatagramPacket answer = new DatagramPacket(new byte[512], 512);
            socket.receive(answer);
            assertThat(answer.getData()[7]).as("answers").isEqualTo((byte) 1);
        }
    }

    private static void imap(int port) throws IOException {
        try (Socket socket = connect(port)) {
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            OutputStream out = socket.getOutputStream();
            for (String command : List.of("a login joe x", "b select inbox", "c logout")) {
                out.write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
                String line;
                do {
                    line = in.readLine();
                } while (line != null && !line.startsWith(command.substring(0, 2)));
                assertThat(line).contains(" OK ");
            }
        }
    }

    private static Socket connect(int port) throws IOException {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        socket.setSoTimeout(60_000);
        return socket;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
