package org.mdlagent.bench.programs;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.mdlagent.bench.tools.CpuTime;
import org.mdlagent.bench.tools.SourceTree;

/// A watched service process in its own directory.
final class RunningService implements AutoCloseable {
    private static final long READY_NANOS_MAX = 60_000_000_000L;
    private static final long END_SECONDS_MAX = 60;
    private static final long POLL_MILLIS = 10;

    private final Service service;
    private final Watcher watcher;
    private final Path directory;
    private final Process server;
    private long requests;

    /// Starts it, and waits until it is ready for load.
    ///
    /// @param directory its name, below the benchmarks' own
    RunningService(Service service, Watcher watcher, Path program, String directory)
            throws IOException, InterruptedException {
        this.service = service;
        this.watcher = watcher;
        this.directory = SourceTree.scratch(directory);
        server = new ProcessBuilder(
                        service.asItsUser(watcher.command(service.command(program, this.directory), this.directory)))
                .directory(this.directory.toFile())
                .redirectError(this.directory.resolve("stderr").toFile())
                .start();
        try {
            awaitReady();
            service.prepare(server, this.directory);
        } catch (IOException | InterruptedException e) {
            close();
            throw e;
        }
    }

    private void awaitReady() throws IOException, InterruptedException {
        long deadline = System.nanoTime() + READY_NANOS_MAX;
        while (!service.isReady(directory)) {
            if (server.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS) || System.nanoTime() > deadline) {
                throw new IOException(service.source() + " does not start");
            }
        }
    }

    Service.Served load(int seconds) throws IOException, InterruptedException {
        return counted(service.load(server, directory, seconds));
    }

    /// The same work each time.
    Service.Served batch(long size) throws IOException, InterruptedException {
        return counted(service.batch(server, directory, size));
    }

    private Service.Served counted(Service.Served served) {
        requests += served.requests();
        return served;
    }

    /// CPU time of the server and of an external watcher.
    long cpuNanos() throws IOException {
        return CpuTime.ofTree(server.toHandle());
    }

    /// Ends it, and checks the watcher's results.
    void stop() throws IOException, InterruptedException {
        service.stop(server, directory);
        if (!server.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS)) {
            throw new IOException(service.source() + " does not end");
        }
        String problem = watcher.problem(directory, service.function(), requests);
        if (problem != null) {
            throw new IOException(service.source() + ", " + watcher + ": " + problem);
        }
    }

    /// Kills it in any case.
    @Override
    public void close() {
        server.descendants().forEach(ProcessHandle::destroyForcibly);
        server.destroyForcibly();
    }
}
