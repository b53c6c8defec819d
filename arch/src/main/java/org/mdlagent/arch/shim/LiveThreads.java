package org.mdlagent.arch.shim;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ProcessDescriptor;

/// A running process of the session, and its current threads without the agent's. Processes of other pid
/// namespaces are left out, because their ids may belong to other processes here.
///
/// @param process address of its row in the session
/// @param threads their ids
public record LiveThreads(long process, int pid, List<Integer> threads) {
    private static final int THREADS_FIRST = 1024;

    /// One for each process.
    public static List<LiveThreads> all(NativeApi api) {
        List<LiveThreads> all = new ArrayList<>();
        long process = Memory.getLongAcquire(api.session() + HeaderDescriptor.PROCESSES);
        for (; process != 0; process = Memory.getLong(process + ProcessDescriptor.NEXT)) {
            int flags = Memory.getInt(process + ProcessDescriptor.FLAGS);
            if (runs(process) && (flags & ProcessDescriptor.FLAG_ELSEWHERE) == 0) {
                int pid = Memory.getInt(process + ProcessDescriptor.PID);
                all.add(new LiveThreads(process, pid, of(api, pid)));
            }
        }
        return all;
    }

    private static boolean runs(long process) {
        int owner = Memory.getIntAcquire(process + ProcessDescriptor.OWNER);
        return ProcessDescriptor.runs(Memory.getInt(process + ProcessDescriptor.STATE), owner);
    }

    /// Empty if the process has ended.
    private static List<Integer> of(NativeApi api, int pid) {
        int capacity = THREADS_FIRST;
        while (true) {
            try (Arena arena = Arena.ofConfined()) {
                long tids = arena.allocate((long) capacity * Integer.BYTES, Integer.BYTES)
                        .address();
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
