package org.mdlagent.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Servers of Debian, built with probes, that serve by several processes: those are in one report, and what was called
/// is as often called as there were requests.
class ServersIT {
    private static final int WORKERS = 4;
    private static final int REQUESTS = Integer.getInteger("mdl.requests", 2000);

    /// nginx calls it for each request that a file answers.
    private static final String SERVE = "ngx_http_static_handler";

    @TempDir
    Path directory;

    @Test
    void shouldCountTheRequestsOfEachWorkerOfNginx() throws Exception {
        Path session = directory.resolve("session");
        int port = freePort();
        configure(port);
        // Root's files may not be read by others, to whom nginx would make its workers belong.
        Process server = new ProcessBuilder(ExactCountsIT.exactly(
                        session,
                        List.of(
                                Dist.debian("nginx").toString(),
                                "-p",
                                directory.toString(),
                                "-e",
                                "error.log",
                                "-c",
                                "nginx.conf")))
                .inheritIO()
                .start();
        try {
            awaitPort(server, port);
            Dist.Outcome load = Dist.run(
                    directory,
                    Map.of(),
                    List.of("ab", "-q", "-c8", "-n" + REQUESTS, "http://127.0.0.1:" + port + "/page"));
            assertThat(load.text())
                    .containsPattern("Complete requests: +" + REQUESTS)
                    .containsPattern("Failed requests: +0");
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

    /// Each has served something, and together they have served all.
    private void assertWorkers(JsonNode report, Path session) throws Exception {
        assertThat(report.get("processes")).hasSize(1 + WORKERS);
        long served = 0;
        for (JsonNode process : report.get("processes")) {
            int pid = process.get("pid").asInt();
            Dist.Outcome outcome = Dist.reportOfProcess(directory, session, pid);
            Map<String, Long> calls = Dist.calls(new ObjectMapper().readTree(outcome.out()));
            assertThat(calls.containsKey(SERVE))
                    .isNotEqualTo(process.get("agent").asBoolean());
            served += calls.getOrDefault(SERVE, 0L);
        }
        assertThat(served).isEqualTo(REQUESTS);
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
        Path pid = directory.resolve("nginx.pid");
        if (Files.exists(pid)) {
            new ProcessBuilder("kill", "-QUIT", Files.readString(pid).strip())
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
