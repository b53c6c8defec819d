package org.mdlagent.bench.programs;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;

/// redis under redis-benchmark.
record Redis(int port) implements Service {
    private static final int REQUESTS_MIN = 5_000;

    @Override
    public String source() {
        return "redis";
    }

    @Override
    public String work() {
        return "redis: SET by redis-benchmark, 50 connections";
    }

    @Override
    public String loadTool() {
        return "redis-benchmark";
    }

    @Override
    public Path stock() {
        return Path.of("/usr/bin/redis-server");
    }

    @Override
    public String function() {
        return "processCommand";
    }

    @Override
    public List<String> command(Path built, Path directory) {
        return List.of(
                built.toString(),
                "--port",
                Integer.toString(port),
                "--save",
                "",
                "--pidfile",
                "pid",
                "--logfile",
                "log");
    }

    @Override
    public boolean isReady(Path directory) {
        return Service.accepts(port);
    }

    /// It runs for a number of requests and not for a time, so a first run determines the number.
    @Override
    public Served load(Process server, Path directory, int seconds) throws IOException, InterruptedException {
        Served few = benchmark(directory, REQUESTS_MIN);
        Served served = benchmark(directory, Math.max(REQUESTS_MIN, (long) (few.perSecond() * seconds)));
        return new Served(few.requests() + served.requests(), served.perSecond(), served.p99Micros());
    }

    @Override
    public Served batch(Process server, Path directory, long size) throws IOException, InterruptedException {
        return benchmark(directory, size);
    }

    private Served benchmark(Path directory, long requests) throws IOException, InterruptedException {
        String said = Service.run(
                directory,
                "redis-benchmark",
                "-p",
                Integer.toString(port),
                "-t",
                "set",
                "-r",
                "100000",
                "-n",
                Long.toString(requests),
                "--csv");
        // Columns: test, requests per second, then average, minimum, p50, p95, p99 and maximum in milliseconds.
        Matcher row = Service.match(said, "\"SET\",\"([0-9.]+)\"(?:,\"[0-9.]+\"){4},\"([0-9.]+)\"");
        return new Served(requests, Service.number(row, 1), 1_000 * Service.number(row, 2));
    }

    @Override
    public void stop(Process server, Path directory) throws IOException, InterruptedException {
        Service.signal("TERM", directory, Service.PID);
    }
}
