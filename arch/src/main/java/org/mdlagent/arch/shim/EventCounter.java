package org.mdlagent.arch.shim;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/// Counts a kernel event in threads of the session between opening and closing. Only the agent's thread does work
/// for it.
///
/// Each existing thread gets a counter, which threads and processes that it creates inherit. If a thread appears
/// while counters are opened, it is unknown whether it has inherited one: then counting starts anew. If the
/// program creates threads all the time, this gives up after some tries, and threads created during the last one
/// may be missed.
public final class EventCounter {
    private static final int REACH_THREAD = 0;
    private static final int REACH_PROCESS = 1;
    private static final int REACH_FAMILY = 2;

    private static final int TRIES = 10;

    private final NativeApi api;

    /// By thread.
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
        Set<Integer> threads = threads(api, pid, tid);
        if (threads.isEmpty()) {
            throw new IllegalArgumentException(
                    tid == 0 ? "the program has no process " + pid : "the program has no thread " + tid);
        }
        int reach = tid != 0 ? REACH_THREAD : pid != 0 ? REACH_PROCESS : REACH_FAMILY;
        for (int tries = 1; ; tries++) {
            EventCounter counter = new EventCounter(api);
            counter.open(event, threads, reach);
            Set<Integer> now = threads(api, pid, tid);
            if (threads.containsAll(now) || tries == TRIES) {
                counter.closeBut(now);
                return counter;
            }
            counter.close();
            threads = now;
        }
    }

    private void open(KernelEvent event, Set<Integer> threads, int reach) {
        for (int tid : threads) {
            long descriptor = api.openEvent(event.number(), tid, reach);
            if (descriptor >= 0) {
                descriptors.put(tid, descriptor);
            } else if (descriptor != -PerfEvents.ESRCH) {
                close();
                throw new IllegalArgumentException(reason((int) -descriptor));
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

    private static Set<Integer> threads(NativeApi api, int pid, int tid) {
        Set<Integer> threads = new LinkedHashSet<>();
        for (LiveThreads live : LiveThreads.all(api)) {
            if (pid == 0 || pid == live.pid()) {
                threads.addAll(live.threads());
            }
        }
        threads.removeIf(thread -> tid != 0 && thread != tid);
        return threads;
    }

    private static String reason(int errno) {
        return switch (errno) {
            case PerfEvents.EACCES ->
                "the kernel refuses to count for this user: "
                        + PerfEvents.refusal(PerfEvents.paranoid(), PerfEvents.COUNTING_MAX, "it");
            case PerfEvents.EPERM -> "perf_event_open is forbidden here, as in many containers";
            case PerfEvents.ENOENT -> "this kernel does not count it";
            case PerfEvents.EBADF ->
                "unshare is refused here, so the agent has no descriptors of its own to count with";
            case PerfEvents.EINVAL -> "this kernel cannot count threads together: Linux 5.13 can";
            case PerfEvents.EMFILE -> "the process may not have as many descriptors as it has threads: ulimit -n";
            default -> "perf_event_open is refused: errno " + errno;
        };
    }
}
