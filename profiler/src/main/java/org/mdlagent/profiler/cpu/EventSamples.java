package org.mdlagent.profiler.cpu;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.mdlagent.arch.layout.KernelEvent;
import org.mdlagent.arch.shim.LiveThreads;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.PcSampler;
import org.mdlagent.fastinst.Probes;

/// Samples of the program's threads at each event of a kind, with call paths: the kernel takes them. Probes are not
/// involved.
public final class EventSamples {
    private static final long EACH = 1;

    private final NativeApi api;
    private final PcSampler sampler;
    private final CodeFrames frames;
    private final Consumer<String> log;
    private final Set<Integer> processes = new HashSet<>();
    private long forks;
    private boolean opened;

    /// @param log gets the reason if there are no samples
    public EventSamples(NativeApi api, Probes probes, KernelEvent event, Consumer<String> log) {
        this.api = api;
        this.log = log;
        sampler = new PcSampler(api);
        sampler.choose(event);
        frames = new CodeFrames(probes, sampler);
    }

    /// Begins, unless it has begun: opens all threads ([LiveThreads#open]).
    public void begin() {
        if (opened) {
            return;
        }
        try {
            processes.clear();
            for (LiveThreads live : LiveThreads.open(() -> LiveThreads.all(api), this::open, sampler::close)) {
                processes.add(live.pid());
            }
            opened = true;
        } catch (IllegalStateException e) {
            log.accept("events are not counted: " + e.getMessage());
        }
    }

    private void open(Iterable<LiveThreads> all) {
        forks = LiveThreads.forks(api);
        for (LiveThreads live : all) {
            for (int tid : live.threads()) {
                sampler.open(tid, live.process(), EACH);
            }
        }
    }

    /// Takes the samples since the last look. A process that was being forked at the beginning is opened, too.
    public void look() {
        if (!opened) {
            return;
        }
        take();
        if (LiveThreads.anyForkedBefore(api, forks, processes)) {
            end();
            begin();
        }
    }

    private void take() {
        frames.refresh();
        sampler.take(1, frames::of);
    }

    /// Ends it until the next beginning.
    public void end() {
        if (opened) {
            opened = false;
            sampler.switchOn(false);
            take();
            sampler.close();
        }
    }
}
