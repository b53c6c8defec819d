package org.mdlagent.profiler.cpu;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.mdlagent.arch.shim.LiveThreads;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.PcSampler;

/// The threads on which a sampler is open. Threads and processes that they create are sampled, too.
final class OpenedThreads {
    private final NativeApi api;
    private final PcSampler sampler;
    private final long period;

    /// Number of opened threads, their processes, and how many forks had begun by then.
    private int opened;

    private final Set<Integer> processes = new HashSet<>();
    private long forks;

    private int room = 1;

    /// @param period events, or nanoseconds of CPU time, between two samples of a thread
    OpenedThreads(NativeApi api, PcSampler sampler, long period) {
        this.api = api;
        this.sampler = sampler;
        this.period = period;
    }

    /// Opens all threads: [LiveThreads#open]. A process that is being forked appears later: see [#lackFork].
    ///
    /// @throws IllegalStateException if the kernel refuses it; some may be open then
    void open() {
        List<LiveThreads> all = LiveThreads.open(() -> LiveThreads.all(api), this::open, sampler::close);
        processes.clear();
        for (LiveThreads live : all) {
            processes.add(live.pid());
        }
    }

    private void open(List<LiveThreads> all) {
        opened = 0;
        for (LiveThreads live : all) {
            for (int tid : live.threads()) {
                room = Math.max(room, sampler.open(tid, live.process(), period));
                opened++;
            }
        }
        forks = LiveThreads.forks(api);
    }

    /// Whether a process that was being forked when they were opened may not be sampled.
    boolean lackFork() {
        return LiveThreads.anyForkedBefore(api, forks, processes);
    }

    void close() {
        sampler.close();
        opened = 0;
    }

    int opened() {
        return opened;
    }

    /// How many samples a processor's ring holds.
    int room() {
        return room;
    }
}
