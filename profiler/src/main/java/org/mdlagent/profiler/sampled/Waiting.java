package org.mdlagent.profiler.sampled;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.session.ThreadBlock;
import org.mdlagent.arch.session.ThreadBlocks;
import org.mdlagent.arch.shim.Memory;

/// How long the program's threads have waited for processors, from `/proc/TID/schedstat`: the time on a
/// processor and the time on a run queue, both in nanoseconds.
final class Waiting {
    /// The newest threads represent all.
    private static final int THREADS_MAX = 16;

    /// Reading a file of `/proc` takes twenty microseconds.
    private static final double INTERVAL_NANOS = 2e9;

    private final long header;
    private final double ticksPerNano;
    private final ThreadBlocks threads;
    private long lastTsc;

    Waiting(long header, double ticksPerNano) {
        this.header = header;
        this.ticksPerNano = ticksPerNano;
        threads = new ThreadBlocks(header);
    }

    /// Publishes the result in the session, if that is due; nothing if the kernel has no such statistics.
    void look(long tsc) {
        if (lastTsc != 0 && tsc - lastTsc < INTERVAL_NANOS * ticksPerNano) {
            return;
        }
        lastTsc = tsc;
        double ran = 0;
        double waited = 0;
        int looked = 0;
        for (ThreadBlock thread : threads) {
            if (looked == THREADS_MAX) {
                break;
            }
            if (thread.isLiveAcquire()) {
                looked++;
                long[] times = times(Path.of("/proc", Integer.toString(thread.tid()), "schedstat"));
                ran += times[0];
                waited += times[1];
            }
        }
        if (ran > 0) {
            Memory.putDouble(header + HeaderDescriptor.WAITED, waited / ran);
        }
    }

    /// One thread's time on processors and on run queues; empty if it has ended.
    static long[] times(Path schedstat) {
        try {
            String[] fields = Files.readString(schedstat).split(" ", 3);
            return new long[] {Long.parseLong(fields[0]), Long.parseLong(fields[1])};
        } catch (IOException | NumberFormatException | ArrayIndexOutOfBoundsException e) {
            return new long[2];
        }
    }
}
