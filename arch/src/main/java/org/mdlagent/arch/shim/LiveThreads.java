package org.mdlagent.arch.shim;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ProcessDescriptor;
import org.mdlagent.arch.layout.ProcessLife;

/// A running process of the session, and its current threads without the agent's. Processes of other pid
/// namespaces are left out, because their ids may belong to other processes here.
///
/// @param process address of its row in the session
/// @param threads their ids
public record LiveThreads(long process, int pid, List<Integer> threads) {
    private static final int THREADS_FIRST = 1024;
    private static final int TRIES = 10;

    /// One for each process.
    public static List<LiveThreads> all(NativeApi api) {
        List<LiveThreads> all = new ArrayList<>();
        for (long process = newest(api); process != 0; process = next(process)) {
            if (runsHere(process)) {
                int pid = pid(process);
                all.add(new LiveThreads(process, pid, of(api, pid)));
            }
        }
        return all;
    }

    /// Opens something on threads, which threads and processes that they create later inherit. If a thread appears
    /// meanwhile, it is unknown whether it has inherited it: then all is closed, and opened again. If the program
    /// creates threads all the time, this gives up after some tries, and threads created during the last one may be
    /// missed.
    ///
    /// @param list  the threads as they are
    /// @param open  opens all of a list
    /// @param close closes the descriptors of an attempt
    /// @return the threads that were opened
    public static List<LiveThreads> open(
            Supplier<List<LiveThreads>> list, Consumer<List<LiveThreads>> open, Runnable close) {
        List<LiveThreads> threads = list.get();
        for (int tries = 1; ; tries++) {
            open.accept(threads);
            List<LiveThreads> now = list.get();
            if (tries == TRIES || tids(threads).containsAll(tids(now))) {
                return threads;
            }
            close.run();
            threads = now;
        }
    }

    /// The ids of all threads of a list.
    public static Set<Integer> tids(List<LiveThreads> all) {
        Set<Integer> tids = new LinkedHashSet<>();
        for (LiveThreads live : all) {
            tids.addAll(live.threads());
        }
        return tids;
    }

    /// How many forks the program's processes have begun so far.
    public static long forks(NativeApi api) {
        return Memory.getLongAcquire(api.session() + HeaderDescriptor.FORKS);
    }

    /// Whether a process runs that may have inherited nothing from its parent's threads at a certain time, and was
    /// not listed then: it was just being forked.
    ///
    /// @param listed ids of the processes that were listed
    /// @param forks  [how many][#forks] had been begun at that time
    public static boolean anyForkedBefore(NativeApi api, long forks, Set<Integer> listed) {
        for (long process = newest(api); process != 0; process = next(process)) {
            if (Memory.getLong(process + ProcessDescriptor.FORKS) < forks
                    && runsHere(process)
                    && !listed.contains(pid(process))) {
                return true;
            }
        }
        return false;
    }

    private static long newest(NativeApi api) {
        return Memory.getLongAcquire(api.session() + HeaderDescriptor.PROCESSES);
    }

    private static long next(long process) {
        return Memory.getLong(process + ProcessDescriptor.NEXT);
    }

    private static int pid(long process) {
        return Memory.getInt(process + ProcessDescriptor.PID);
    }

    private static boolean runsHere(long process) {
        int owner = Memory.getIntAcquire(process + ProcessDescriptor.OWNER);
        return ProcessLife.runs(Memory.getInt(process + ProcessDescriptor.STATE), owner)
                && (Memory.getInt(process + ProcessDescriptor.FLAGS) & ProcessDescriptor.FLAG_ELSEWHERE) == 0;
    }

    /// Empty if the process has ended.
    private static List<Integer> of(NativeApi api, int pid) {
        int capacity = THREADS_FIRST;
        while (true) {
            try (NativeBuffer buffer = NativeBuffer.of((long) capacity * Integer.BYTES)) {
                long tids = buffer.address();
                long count = api.threads(pid, tids, capacity);
                if (count <= capacity) {
                    List<Integer> threads = new ArrayList<>();
                    for (int i = 0; i < count; i++) {
                        threads.add(Memory.getInt(tids + (long) i * Integer.BYTES));
                    }
                    return threads;
                }
                capacity = Math.toIntExact(2 * count);
            }
        }
    }
}
