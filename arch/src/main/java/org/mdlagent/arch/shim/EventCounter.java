package org.mdlagent.arch.shim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.mdlagent.arch.layout.EventDescriptor;
import org.mdlagent.arch.layout.KernelEvent;

/// Counts an event in threads of the session between opening and closing. Only the agent's thread does work
/// for it.
///
/// Each existing thread gets a counter, which threads and processes that it creates inherit: [LiveThreads#open].
public final class EventCounter {
    private final NativeApi api;

    /// Counters by thread.
    private final Map<Integer, Long> descriptors = new HashMap<>();

    private EventCounter(NativeApi api) {
        this.api = api;
    }

    /// Begins to count.
    ///
    /// @param pid the process to count, 0 for all processes of the session and their future children
    /// @param tid the same, 0 for all threads
    /// @throws IllegalArgumentException if there is no such process or thread, or the kernel refuses it, with the
    ///     reason
    public static EventCounter open(NativeApi api, KernelEvent event, int pid, int tid) {
        int reach = tid != 0
                ? EventDescriptor.REACH_THREAD
                : pid != 0 ? EventDescriptor.REACH_PROCESS : EventDescriptor.REACH_FAMILY;
        EventCounter counter = new EventCounter(api);
        List<LiveThreads> opened = LiveThreads.open(
                () -> threads(api, pid, tid), threads -> counter.open(event, threads, reach), counter::close);
        if (opened.isEmpty()) {
            throw new IllegalArgumentException(
                    tid == 0 ? "the program has no process " + pid : "the program has no thread " + tid);
        }
        counter.closeBut(LiveThreads.tids(threads(api, pid, tid)));
        return counter;
    }

    private void open(KernelEvent event, List<LiveThreads> threads, int reach) {
        for (int tid : LiveThreads.tids(threads)) {
            long descriptor = api.openEvent(event, tid, reach);
            if (descriptor >= 0) {
                descriptors.put(tid, descriptor);
            } else if (descriptor != -PerfEvents.ESRCH) {
                close();
                throw new IllegalArgumentException(PerfEvents.countingRefusal(event, (int) -descriptor));
            }
        }
    }

    /// The count, including ended threads.
    public long count() {
        return descriptors.values().stream()
                .mapToLong(api::readEvent)
                .filter(count -> count > 0)
                .sum();
    }

    public void close() {
        closeBut(Set.of());
    }

    /// A counter opened during an exec may be lost.
    private void closeBut(Set<Integer> threads) {
        descriptors.entrySet().removeIf(opened -> {
            boolean ends = !threads.contains(opened.getKey());
            if (ends) {
                api.closeEvent(opened.getValue());
            }
            return ends;
        });
    }

    private static List<LiveThreads> threads(NativeApi api, int pid, int tid) {
        List<LiveThreads> chosen = new ArrayList<>();
        for (LiveThreads live : LiveThreads.all(api)) {
            if (pid != 0 && pid != live.pid()) {
                continue;
            }
            if (tid == 0) {
                chosen.add(live);
            } else if (live.threads().contains(tid)) {
                chosen.add(new LiveThreads(live.process(), live.pid(), List.of(tid)));
            }
        }
        return chosen;
    }
}
