package org.mdlagent.profiler.cpu;

import java.util.function.Consumer;
import org.mdlagent.arch.layout.KernelEvent;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.PcSampler;
import org.mdlagent.fastinst.Probes;

/// Samples of the program's threads at each event of a kind, with call paths: the kernel takes them. Probes are not
/// involved.
public final class EventSamples {
    private static final long EACH = 1;

    private final PcSampler sampler;
    private final OpenedThreads threads;
    private final CodeFrames frames;
    private final Consumer<String> log;
    private boolean opened;

    /// @param log gets the reason if there are no samples
    public EventSamples(NativeApi api, Probes probes, KernelEvent event, Consumer<String> log) {
        this.log = log;
        sampler = new PcSampler(api);
        sampler.choose(event);
        threads = new OpenedThreads(api, sampler, EACH);
        frames = new CodeFrames(probes, sampler);
    }

    /// Begins, unless it has begun.
    public void begin() {
        if (opened) {
            return;
        }
        try {
            threads.open();
            opened = true;
        } catch (IllegalStateException e) {
            log.accept("events are not counted: " + e.getMessage());
        }
    }

    /// Takes the samples since the last look. A process that was being forked at the beginning is opened, too.
    public void look() {
        if (!opened) {
            return;
        }
        take();
        if (threads.lackFork()) {
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
            threads.close();
        }
    }
}
