package org.mdlagent.profiler.cpu;

import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SlowCallsDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.session.ThreadBlock;
import org.mdlagent.arch.session.ThreadBlocks;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// Finds threads that have not begun a timed call for a while, where slow calls are kept: these are in a slow call, or
/// idle. Threads that make calls read their CPU clock now and then ([ThreadDescriptor#CPU_DUE]), so that takes no
/// system
/// call. Only stuck threads are worth a look at where they wait.
final class StuckThreads {
    /// Interval of looks as a part of the threshold, and its bounds: waking up takes the agent 20 µs.
    private static final double PART = 0.5;

    private static final double NANOS_MIN = 2e6;
    private static final double NANOS_MAX = 100e6;

    /// Where each function has a threshold of its own.
    private static final double NANOS_OF_OWN = 5e6;

    /// Upper limit of the CPU time of looks, as a share of the elapsed time.
    private static final double COST = 0.005;

    /// Looks at a thread while it is stuck. The first one may find it on a processor.
    private static final int LOOKS = 3;

    private final double ticksPerNano;
    private final LongSupplier tsc;
    private final LongSupplier threadNanos;
    private final ThreadBlocks threads;
    private final Map<Long, Stuck> stuck = new HashMap<>();
    private final double nanos;
    private double dueTsc;

    private record Stuck(long since, int looks) {}

    /// Looks at a thread.
    interface Look {
        void at(int tid, int pid);
    }

    StuckThreads(NativeApi api, double ticksPerNano) {
        this(api.session(), ticksPerNano, api::tsc, api::threadNanos);
    }

    /// @param session     address of its header
    /// @param tsc         the time-stamp counter
    /// @param threadNanos CPU time of the calling thread
    StuckThreads(long session, double ticksPerNano, LongSupplier tsc, LongSupplier threadNanos) {
        this.ticksPerNano = ticksPerNano;
        this.tsc = tsc;
        this.threadNanos = threadNanos;
        threads = new ThreadBlocks(session);
        long table = Memory.getLong(session + HeaderDescriptor.SLOW);
        long threshold = Memory.getLong(table + SlowCallsDescriptor.THRESHOLD);
        nanos = threshold == 0 ? NANOS_OF_OWN : Math.clamp(PART * threshold / ticksPerNano, NANOS_MIN, NANOS_MAX);
    }

    /// @return nanoseconds until the next look is due
    double look(Look look) {
        long now = tsc.getAsLong();
        if (now < dueTsc) {
            return (dueTsc - now) / ticksPerNano;
        }
        long begin = threadNanos.getAsLong();
        for (ThreadBlock thread : threads) {
            long due = Memory.getLong(thread.address() + ThreadDescriptor.CPU_DUE);
            if (due > 0
                    && now - due > nanos * ticksPerNano
                    && thread.isLiveAcquire()
                    && isWorth(thread.address(), due)) {
                look.at(thread.tid(), thread.pid());
            }
        }
        double pause = Math.max(nanos, (threadNanos.getAsLong() - begin) / COST);
        dueTsc = tsc.getAsLong() + pause * ticksPerNano;
        return pause;
    }

    /// @param since differs from that of an earlier time if it has begun calls in between
    private boolean isWorth(long thread, long since) {
        Stuck known = stuck.get(thread);
        int looks = known != null && known.since == since ? known.looks : 0;
        if (looks < LOOKS) {
            stuck.put(thread, new Stuck(since, looks + 1));
        }
        return looks < LOOKS;
    }
}
