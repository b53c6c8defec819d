package org.mdlagent.bench.programs;

import static java.lang.String.format;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.mdlagent.bench.report.Percentile;

/// sqlite3's shell, which answers queries that this process writes to it.
record Sqlite() implements Service {
    private static final int ROWS = 20_000;

    @Override
    public String source() {
        return "sqlite3";
    }

    @Override
    public String work() {
        return "sqlite3: sums of 100 rows by index, queries one by one by a pipe";
    }

    @Override
    public @Nullable String loadTool() {
        return null;
    }

    @Override
    public Path stock() {
        return Path.of("/usr/bin/sqlite3");
    }

    @Override
    public String function() {
        return "sqlite3_step";
    }

    @Override
    public List<String> command(Path built, Path directory) {
        return List.of(built.toString(), "-batch", ":memory:");
    }

    @Override
    public boolean isReady(Path directory) {
        return true;
    }

    @Override
    public void prepare(Process server, Path directory) throws IOException {
        ask(server.outputWriter(), server.inputReader(), format("""
                CREATE TABLE t(a INTEGER, b TEXT);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
                INSERT INTO t SELECT i * 7919 %% 20011, 'row ' || i FROM n;
                CREATE INDEX t_a ON t(a);
                SELECT 0;
                """, ROWS));
    }

    @Override
    public Served load(Process server, Path directory, int seconds) throws IOException {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        return ask(server, asked -> System.nanoTime() < end);
    }

    @Override
    public Served batch(Process server, Path directory, long size) throws IOException {
        return ask(server, asked -> asked < size);
    }

    /// @param goesOn after this number of requests
    private static Served ask(Process server, IntPredicate goesOn) throws IOException {
        Writer requests = server.outputWriter();
        BufferedReader answers = server.inputReader();
        List<Long> nanos = new ArrayList<>();
        long start = System.nanoTime();
        for (long asked = start; goesOn.test(nanos.size()); ) {
            int first = nanos.size() * 613 % ROWS;
            ask(
                    requests,
                    answers,
                    format("SELECT sum(length(b)) FROM t WHERE a BETWEEN %d AND %d;%n", first, first + 100));
            long answered = System.nanoTime();
            nanos.add(answered - asked);
            asked = answered;
        }
        double[] micros = nanos.stream().mapToDouble(each -> each / 1e3).toArray();
        return new Served(micros.length, 1e9 * micros.length / (System.nanoTime() - start), Percentile.of(micros, 99));
    }

    private static void ask(Writer requests, BufferedReader answers, String statements) throws IOException {
        requests.write(statements);
        requests.flush();
        if (answers.readLine() == null) {
            throw new IOException("sqlite3 has ended early");
        }
    }

    @Override
    public void stop(Process server, Path directory) throws IOException {
        server.outputWriter().close();
    }
}
