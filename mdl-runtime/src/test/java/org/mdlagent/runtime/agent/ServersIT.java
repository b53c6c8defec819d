package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// Servers of Debian, built with probes, that serve by several processes: those are in one report, and what was called
/// is as often called as there were requests.
@Tag("soak")
class ServersIT {
    private static final int WORKERS = 4;
    private static final int REQUESTS = Integer.getInteger("mdl.requests", 2000);

    /// nginx calls it for each request that a file answers.
    private static final String SERVE = "ngx_http_static_handler";

    /// PostgreSQL calls it for each COMMIT.
    private static final String COMMIT = "EndTransactionBlock";

    @TempDir
    Path directory;

    @Test
    void shouldCountTheRequestsOfEachWorkerOfNginx() throws Exception {
        Path session = directory.resolve("session");
        int port = freePort();
        configure(port);
        // Root's files may not be read by others, to whom nginx would make its workers belong.
        Process server = new ProcessBuilder(ExactCountsIT.exactly(session, nginx()))
                .inheritIO()
                .start();
        try {
            awaitPort(server, port);
            load(port);
        } finally {
            quit();
        }
        assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(server.exitValue()).isZero();

        assertThat(Files.readAllLines(directory.resolve("served.log"))).hasSize(REQUESTS);
        JsonNode report = Dist.report(directory, session);
        assertThat(Dist.calls(report)).containsEntry(SERVE, (long) REQUESTS);
        assertThat(report.get("dropped").asLong()).isZero();
        assertWorkers(report, session);
    }

    private List<String> nginx() throws Exception {
        return List.of(
                Dist.debian("nginx").toString(), "-p", directory.toString(), "-e", "error.log", "-c", "nginx.conf");
    }

    /// Each has served something, and together they have served all.
    private void assertWorkers(JsonNode report, Path session) throws Exception {
        assertThat(report.get("processes")).hasSize(1 + WORKERS);
        long served = 0;
        for (JsonNode process : report.get("processes")) {
            Map<String, Long> calls = callsOf(process.get("pid").asInt(), session);
            assertThat(calls.containsKey(SERVE))
                    .isNotEqualTo(process.get("agent").asBoolean());
            served += calls.getOrDefault(SERVE, 0L);
        }
        assertThat(served).isEqualTo(REQUESTS);
    }

    private Map<String, Long> callsOf(int pid, Path session) throws Exception {
        Dist.Outcome outcome = Dist.reportOfProcess(directory, session, pid);
        return Dist.calls(new ObjectMapper().readTree(outcome.out()));
    }

    /// With the default start delay its workers are forked before the probes are in place, and others after a reload.
    @Test
    void shouldCountTheRequestsOfWorkersThatComeAndGoUnderAPlainPreload() throws Exception {
        Path session = directory.resolve("session");
        int port = freePort();
        configure(port);
        Process server = preloaded(session, nginx());
        try {
            awaitPort(server, port);
            load(port);
            kill("-HUP");
            Dist.await("other workers", () -> workers(session) == 2 * WORKERS);
            load(port);
        } finally {
            quit();
        }
        assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(server.exitValue()).isZero();

        JsonNode report = Dist.report(directory, session);
        assertThat(Dist.calls(report)).containsEntry(SERVE, 2L * REQUESTS);
        assertThat(report.get("processes")).hasSize(1 + 2 * WORKERS);
        assertThat(report.get("losses")).isEmpty();
    }

    /// They are forked when the probes are in place, one by one; and each ends with a file written.
    @Test
    void shouldCountInTheProcessesThatSaveForRedis() throws Exception {
        int saves = 3;
        Path session = directory.resolve("session");
        String port = Integer.toString(freePort());
        Process server = preloaded(
                session, List.of(Dist.debian("redis").toString(), "--port", port, "--save", "", "--dir", "."));
        try {
            awaitPort(server, Integer.parseInt(port));
            for (int i = 0; i < saves; i++) {
                redis(port, "set", "key" + i, "value");
                redis(port, "bgsave");
                Dist.await(
                        "the saved file",
                        () -> redis(port, "info", "persistence").contains("rdb_bgsave_in_progress:0"));
            }
        } finally {
            redis(port, "shutdown", "nosave");
        }
        assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();

        JsonNode report = Dist.report(directory, session);
        assertThat(Dist.calls(report)).containsEntry("setCommand", (long) saves).containsEntry("rdbSave", (long) saves);
        assertThat(report.get("processes")).hasSize(1 + saves);
        assertThat(report.get("losses")).isEmpty();
    }

    private String redis(String port, String... command) throws Exception {
        List<String> all = new ArrayList<>(List.of("redis-cli", "-p", port));
        all.addAll(List.of(command));
        return Dist.run(directory, Map.of(), all).text();
    }

    /// As people do it first; when it comes back, the probes are in place.
    private Process preloaded(Path session, List<String> command) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectOutput(directory.resolve("output").toFile())
                .redirectErrorStream(true);
        builder.environment().putAll(Dist.preload("exact,session=" + session));
        Process server = builder.start();
        Path log = session.resolve("agent.log");
        Dist.await(
                "the probes",
                () -> !server.isAlive()
                        || Files.exists(log) && Files.readString(log).contains(" armed after "));
        return server;
    }

    private long workers(Path session) throws Exception {
        JsonNode report = Dist.reportOrNull(directory, session);
        return report == null ? 0 : report.get("processes").size() - 1;
    }

    private void load(int port) throws Exception {
        Dist.Outcome load = Dist.run(
                directory, Map.of(), List.of("ab", "-q", "-c8", "-n" + REQUESTS, "http://127.0.0.1:" + port + "/page"));
        assertThat(load.text())
                .containsPattern("Complete requests: +" + REQUESTS)
                .containsPattern("Failed requests: +0");
    }

    @Test
    void shouldCountTheTransactionsOfEachBackendOfPostgres() throws Exception {
        assumeThat(Boolean.getBoolean("mdl.postgres"))
                .as("not run without -Dmdl.postgres=true: it takes minutes to build the server")
                .isTrue();
        Path programs =
                Dist.debian("postgresql-15", "-O0 -finstrument-functions").resolve("bin");
        Path data = directory.resolve("data");
        Path session = directory.resolve("session");
        assertThat(asNobody(ExactCountsIT.exactly(
                                directory.resolve("initdb"),
                                List.of(
                                        programs.resolve("initdb").toString(),
                                        "--no-sync",
                                        "-A",
                                        "trust",
                                        "-U",
                                        "test",
                                        "-D",
                                        data.toString())))
                        .status())
                .isZero();
        Files.writeString(data.resolve("postgresql.conf"), """
                listen_addresses = ''
                unix_socket_directories = '%s'
                fsync = off
                autovacuum = off
                """.formatted(directory));
        Process server = new ProcessBuilder(nobody(ExactCountsIT.exactly(
                        session, List.of(programs.resolve("postgres").toString(), "-D", data.toString()))))
                .inheritIO()
                .start();
        String load;
        try {
            awaitReady(server, data.resolve("postmaster.pid"));
            pgbench(programs, "-i", "-q");
            load = pgbench(programs, "-n", "-c" + WORKERS, "-t" + REQUESTS / WORKERS);
        } finally {
            asNobody(List.of(programs.resolve("pg_ctl").toString(), "-D", data.toString(), "-m", "fast", "stop"));
        }
        assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(server.exitValue()).isZero();

        assertThat(load)
                .contains("actually processed: " + REQUESTS + "/" + REQUESTS)
                .containsPattern("failed transactions: 0 ");
        JsonNode report = Dist.report(directory, session);
        assertThat(report.get("dropped").asLong()).isZero();
        List<Long> commits = new ArrayList<>();
        for (JsonNode process : report.get("processes")) {
            commits.add(callsOf(process.get("pid").asInt(), session).getOrDefault(COMMIT, 0L));
        }
        commits.removeIf(count -> count == 0);
        // The tables are filled in one transaction.
        assertThat(commits).containsExactlyInAnyOrderElementsOf(committed());
        assertThat(Dist.calls(report)).containsEntry(COMMIT, 1L + REQUESTS);
    }

    private static List<Long> committed() {
        List<Long> committed = new ArrayList<>(Collections.nCopies(WORKERS, (long) REQUESTS / WORKERS));
        committed.add(1L);
        return committed;
    }

    private String pgbench(Path programs, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(programs.resolve("pgbench").toString(), "-h", directory.toString(), "-U", "test"));
        command.addAll(List.of(arguments));
        command.add("postgres");
        Dist.Outcome outcome = Dist.run(directory, Map.of(), command);
        assertThat(outcome.status()).as(outcome.err()).isZero();
        return outcome.text();
    }

    /// PostgreSQL refuses to be root; this is nobody, who owns what root has here.
    private static List<String> nobody(List<String> command) {
        if (!System.getProperty("user.name").equals("root")) {
            return command;
        }
        List<String> all = new ArrayList<>(List.of("unshare", "--user", "--map-user=65534", "--map-group=65534"));
        all.addAll(command);
        return all;
    }

    private Dist.Outcome asNobody(List<String> command) throws Exception {
        return Dist.run(directory, Map.of(), nobody(command));
    }

    private static void awaitReady(Process server, Path state) throws Exception {
        while (!Files.exists(state) || !Files.readString(state).strip().endsWith("ready")) {
            assertThat(server.waitFor(50, TimeUnit.MILLISECONDS)).isFalse();
        }
    }

    private void configure(int port) throws IOException {
        Files.createDirectories(directory.resolve("logs"));
        Files.writeString(directory.resolve("page"), "a page\n");
        Files.writeString(directory.resolve("nginx.conf"), """
                user root root;
                daemon off;
                worker_processes %d;
                pid nginx.pid;
                events {}
                http {
                  access_log served.log;
                  server {
                    listen 127.0.0.1:%d reuseport;
                    root .;
                  }
                }
                """.formatted(WORKERS, port));
    }

    private void quit() throws Exception {
        kill("-QUIT");
    }

    private void kill(String signal) throws Exception {
        Path pid = directory.resolve("nginx.pid");
        if (Files.exists(pid)) {
            new ProcessBuilder("kill", signal, Files.readString(pid).strip())
                    .start()
                    .waitFor();
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void awaitPort(Process server, int port) throws Exception {
        while (true) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return;
            } catch (IOException e) {
                assertThat(server.waitFor(50, TimeUnit.MILLISECONDS)).isFalse();
            }
        }
    }
}
