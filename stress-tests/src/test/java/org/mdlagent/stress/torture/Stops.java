package org.mdlagent.stress.torture;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.shim.CodeWriter;
import org.mdlagent.arch.shim.StoreList;

/// Interposes on a protocol's operations, and stops one patcher for 100 ms between two steps, each time at another
/// step.
final class Stops {
    static final long STOP_NANOS = 100_000_000;

    /// Stops after which nearly all steps of a patch have been covered.
    private static final int STOPS_PER_PATCH = 12;

    /// Number of patches too short to be stopped after which it starts over at the first step.
    private static final int MISSED_MAX = 200;

    private final CodeWriter writer;
    private final CoreSync sync;
    private final LongSupplier executions;
    private final List<String> steps = new ArrayList<>();
    private final BitSet stoppedBefore = new BitSet();
    private volatile @Nullable Thread victim;
    private int next;
    private int most;
    private int missed;
    private boolean stopped;
    private long stopsMax;
    private long stops;
    private double lastRate;
    private long fewestMeanwhile = Long.MAX_VALUE;

    /// @param executions how often executors have executed a site so far
    Stops(CodeWriter writer, CoreSync sync, LongSupplier executions) {
        this.writer = writer;
        this.sync = sync;
        this.executions = executions;
    }

    /// Selects the calling thread for stops, from its next patch on.
    void stopThisThread() {
        victim = Thread.currentThread();
    }

    /// Ends after `max` stops.
    void limit(long max) {
        stopsMax = max;
    }

    /// The calling thread begins a patch.
    void begin() {
        if (Thread.currentThread() == victim) {
            most = Math.max(most, steps.size());
            if (stopped) {
                next += Math.max(1, most / STOPS_PER_PATCH);
                missed = 0;
            } else if (++missed > MISSED_MAX) {
                next = 0;
                missed = 0;
            }
            stopped = false;
            steps.clear();
        }
    }

    /// Stops the next patch before its step `step`, counted from 0.
    void stopBefore(int step) {
        next = step;
        stopped = false;
        steps.clear();
    }

    /// The calling thread is about to do something.
    void step(String what) {
        if (Thread.currentThread() != victim) {
            return;
        }
        if (steps.size() == next && !stopped && stops < stopsMax) {
            long before = executions.getAsLong();
            long start = System.nanoTime();
            LockSupport.parkNanos(STOP_NANOS);
            long executed = executions.getAsLong() - before;
            lastRate = executed * 1e9 / (System.nanoTime() - start);
            fewestMeanwhile = Math.min(fewestMeanwhile, executed);
            stoppedBefore.set(next);
            stops++;
            stopped = true;
        }
        steps.add(what);
    }

    CodeWriter writer() {
        return new CodeWriter() {
            @Override
            public void store(long alias, long value, int size) {
                step("store");
                writer.store(alias, value, size);
            }

            @Override
            public void replace(long alias, long mask, long value) {
                step("replace");
                writer.replace(alias, mask, value);
            }

            /// Immediately, as without interposition, except for the selected thread.
            @Override
            public void replaceAll(StoreList stores) {
                if (Thread.currentThread() == victim) {
                    CodeWriter.super.replaceAll(stores);
                } else {
                    writer.replaceAll(stores);
                }
            }
        };
    }

    CoreSync sync() {
        return new CoreSync() {
            @Override
            public long ticket() {
                step("ticket");
                return sync.ticket();
            }

            @Override
            public boolean isPast(long ticket) {
                step("is past");
                return sync.isPast(ticket);
            }

            @Override
            public void await(long ticket) {
                step("await");
                sync.await(ticket);
            }
        };
    }

    /// The steps of the thread's last patch, in order.
    List<String> steps() {
        return List.copyOf(steps);
    }

    long stops() {
        return stops;
    }

    /// Number of different steps stopped at.
    int differentSteps() {
        return stoppedBefore.cardinality();
    }

    /// The smallest number of executions, of all executors, during one stop.
    long fewestMeanwhile() {
        return fewestMeanwhile;
    }

    /// Executions per second during the last stop.
    double lastRate() {
        return lastRate;
    }
}
