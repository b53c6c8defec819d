package org.mdlagent.bench.programs;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;

/// nginx under wrk.
record Nginx(int port) implements Service {
    @Override
    public String source() {
        return "nginx";
    }

    @Override
    public String work() {
        return "nginx, one worker: a small file to wrk, 16 connections";
    }

    @Override
    public String loadTool() {
        return "wrk";
    }

    @Override
    public Path stock() {
        return Path.of("/usr/sbin/nginx");
    }

    @Override
    public String function() {
        return "ngx_http_handler";
    }

    @Override
    public List<String> command(Path built, Path directory) throws IOException {
        Files.createDirectories(directory.resolve("logs"));
        Files.writeString(directory.resolve("page"), "a page\n");
        // nginx would run its worker under another user, who may not be able to read root's files.
        Files.writeString(
                directory.resolve("nginx.conf"),
                format("""
                %s
                daemon off;
                worker_processes 1;
                pid pid;
                error_log log;
                events {}
                http {
                  access_log off;
                  keepalive_requests 100000000;
                  server { listen 127.0.0.1:%d; root .; }
                }
                """, System.getProperty("user.name").equals("root") ? "user root root;" : "", port));
        return List.of(built.toString(), "-p", directory.toString(), "-e", "log", "-c", "nginx.conf");
    }

    @Override
    public boolean isReady(Path directory) {
        return Service.accepts(port);
    }

    @Override
    public Served load(Process server, Path directory, int seconds) throws IOException, InterruptedException {
        String said = Service.run(
                directory, "wrk", "-t1", "-c16", "-d" + seconds, "--latency", "http://127.0.0.1:" + port + "/page");
        if (said.contains("Non-2xx") || said.contains("Socket errors")) {
            throw new IOException("nginx has failed: " + said);
        }
        Matcher p99 = Service.match(said, "99%\\s+([0-9.]+)(us|ms|s)");
        double unit = p99.group(2).equals("us") ? 1 : p99.group(2).equals("ms") ? 1e3 : 1e6;
        return new Served(
                (long) Service.number(Service.match(said, "(\\d+) requests in"), 1),
                Service.number(Service.match(said, "Requests/sec:\\s+([0-9.]+)"), 1),
                unit * Service.number(p99, 1));
    }

    /// By ab, because wrk runs for a time and not for a number of requests.
    @Override
    public Served batch(Process server, Path directory, long size) throws IOException, InterruptedException {
        String said = Service.run(
                directory, "ab", "-kq", "-c16", "-n" + size, "-e", "percentiles", "http://127.0.0.1:" + port + "/page");
        if (!said.contains("Failed requests:        0")) {
            throw new IOException("nginx has failed: " + said);
        }
        String percentiles = Files.readString(directory.resolve("percentiles"));
        return new Served(
                size,
                Service.number(Service.match(said, "Requests per second:\\s+([0-9.]+)"), 1),
                1e3 * Service.number(Service.match(percentiles, "\n99,([0-9.]+)"), 1));
    }

    @Override
    public void stop(Process server, Path directory) throws IOException, InterruptedException {
        Service.signal("QUIT", directory, Service.PID);
    }
}
