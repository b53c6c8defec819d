package org.mdlagent.bench.programs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.bench.report.Percentile;

/// PostgreSQL under pgbench, with a new cluster for each run.
record Postgres() implements Service {
    private static final int CONNECTIONS = 4;

    private static final Path STATE = Path.of("data", "postmaster.pid");

    @Override
    public String source() {
        return "postgresql-15";
    }

    @Override
    public String work() {
        return "postgres: a row by its key (pgbench -S), 4 connections";
    }

    @Override
    public @Nullable String loadTool() {
        return stock().resolve("bin/pgbench").toString();
    }

    @Override
    public Path stock() {
        return Path.of("/usr/lib/postgresql/15");
    }

    @Override
    public String function() {
        return "ExecutorStart";
    }

    @Override
    public List<String> command(Path built, Path directory) throws IOException, InterruptedException {
        Path programs = built.resolve("bin");
        String unused = Service.run(
                directory,
                asItsUser(List.of(
                                programs.resolve("initdb").toString(),
                                "--no-sync",
                                "-A",
                                "trust",
                                "-U",
                                "bench",
                                "-D",
                                "data"))
                        .toArray(String[]::new));
        Files.writeString(directory.resolve("data/postgresql.conf"), """
                listen_addresses = ''
                unix_socket_directories = '%s'
                fsync = off
                autovacuum = off
                """.formatted(directory));
        return List.of(programs.resolve("postgres").toString(), "-D", "data");
    }

    /// PostgreSQL refuses to run as root; this is `nobody`, who owns root's files here.
    @Override
    public List<String> asItsUser(List<String> command) {
        if (!System.getProperty("user.name").equals("root")) {
            return command;
        }
        List<String> all = new ArrayList<>(List.of("unshare", "--user", "--map-user=65534", "--map-group=65534"));
        all.addAll(command);
        return all;
    }

    @Override
    public boolean isReady(Path directory) throws IOException {
        Path state = directory.resolve(STATE);
        return Files.exists(state) && Files.readString(state).strip().endsWith("ready");
    }

    @Override
    public void prepare(Process server, Path directory) throws IOException, InterruptedException {
        String unused = Service.run(directory, pgbench(directory, "-i", "-q"));
    }

    @Override
    public Served load(Process server, Path directory, int seconds) throws IOException, InterruptedException {
        return select(directory, "-T" + seconds);
    }

    @Override
    public Served batch(Process server, Path directory, long size) throws IOException, InterruptedException {
        return select(directory, "-t" + (size + CONNECTIONS - 1) / CONNECTIONS);
    }

    private Served select(Path directory, String howMuch) throws IOException, InterruptedException {
        String said = Service.run(directory, pgbench(directory, "-n", "-S", "-c" + CONNECTIONS, howMuch, "-l"));
        double[] micros = latencies(directory);
        return new Served(
                micros.length, Service.number(Service.match(said, "tps = ([0-9.]+)"), 1), Percentile.of(micros, 99));
    }

    private String[] pgbench(Path directory, String... arguments) throws IOException, InterruptedException {
        Path pgbench = stock().resolve("bin/pgbench");
        List<String> command = new ArrayList<>(List.of(pgbench.toString(), "-h", directory.toString(), "-U", "bench"));
        command.addAll(List.of(arguments));
        command.add("postgres");
        return command.toArray(String[]::new);
    }

    /// From its log, which is read once: the third word of a line.
    private static double[] latencies(Path directory) throws IOException {
        List<Path> logs;
        try (Stream<Path> files = Files.list(directory)) {
            logs = files.filter(file -> file.getFileName().toString().startsWith("pgbench_log."))
                    .toList();
        }
        List<String> lines = new ArrayList<>();
        for (Path log : logs) {
            lines.addAll(Files.readAllLines(log));
            Files.delete(log);
        }
        return lines.stream()
                .mapToDouble(line -> Double.parseDouble(line.split(" ", -1)[2]))
                .toArray();
    }

    @Override
    public void stop(Process server, Path directory) throws IOException, InterruptedException {
        Service.signal("INT", directory, STATE);
    }
}
