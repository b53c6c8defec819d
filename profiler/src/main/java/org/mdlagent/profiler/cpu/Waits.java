package org.mdlagent.profiler.cpu;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.shim.LiveThreads;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.PcSampler;

/// Adds the time that threads are off the processors to the call paths on which they wait.
///
/// The kernel knows each thread's waiting time exactly. Which path it belongs to is a sample: the one that the thread
/// waits on at the next look.
final class Waits {
    /// Upper limit of the CPU time of looks, as a share of the elapsed time. The polls of an idle program are rare, so
    /// it stays far below.
    private static final double PART = 0.001;

    /// The first looks are slow, because their code is not compiled yet.
    private static final double PAUSE_NANOS_MAX = 0.5e9;

    /// Threads read at a look. The others have their turn at the next looks, and lose nothing.
    private static final int THREADS_MAX = 64;

    private final NativeApi api;
    private final PcSampler sampler;
    private final CodeFrames frames;
    private final double ticksPerNano;

    private long dueTsc;
    private int turn;

    Waits(NativeApi api, PcSampler sampler, CodeFrames frames, double ticksPerNano) {
        this.api = api;
        this.sampler = sampler;
        this.frames = frames;
        this.ticksPerNano = ticksPerNano;
    }

    private record Waiter(int tid, int pid) {}

    /// Looks at one thread, whenever that was done last.
    void look(int tid, int pid) {
        sampler.takeWait(tid, pid, frames::of);
    }

    void look() {
        if (api.tsc() < dueTsc) {
            return;
        }
        long begin = api.threadNanos();
        List<Waiter> all = new ArrayList<>();
        for (LiveThreads live : LiveThreads.all(api)) {
            live.threads().forEach(tid -> all.add(new Waiter(tid, live.pid())));
        }
        for (int i = 0; i < Math.min(THREADS_MAX, all.size()); i++) {
            Waiter waiter = all.get(turn++ % all.size());
            look(waiter.tid, waiter.pid);
        }
        turn = all.isEmpty() ? 0 : turn % all.size();
        double pauseNanos = Math.min((api.threadNanos() - begin) / PART, PAUSE_NANOS_MAX);
        dueTsc = api.tsc() + Math.round(pauseNanos * ticksPerNano);
    }
}
