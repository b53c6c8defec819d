package org.mdlagent.bench.probes;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// Threads that call functions continuously in native code until they are stopped: `drive.c`.
final class Load {
    /// `struct load`, each in a cache line of its own.
    private static final long STOP = 0;

    private static final long ROUNDS = 8;
    private static final long FUNCTIONS = 16;
    private static final long COUNT = 24;
    private static final long SIZE = 64;

    private final List<Thread> threads = new ArrayList<>();
    private final long loads;

    /// @param functions addresses of functions that each thread calls in turn
    Load(NativeApi api, NativeLibrary library, int threadCount, long... functions) {
        long table = api.allocate((long) functions.length * Long.BYTES);
        for (int i = 0; i < functions.length; i++) {
            Memory.putLong(table + (long) i * Long.BYTES, functions[i]);
        }
        loads = api.allocate(threadCount * SIZE);
        long run = library.address("run");
        for (int i = 0; i < threadCount; i++) {
            long load = loads + i * SIZE;
            Memory.putLong(load + FUNCTIONS, table);
            Memory.putLong(load + COUNT, functions.length);
            threads.add(Thread.ofPlatform().start(() -> {
                long unused = NativeLibrary.call(run, load, 0);
            }));
        }
    }

    /// Rounds through all functions so far, by thread.
    long[] rounds() {
        long[] rounds = new long[threads.size()];
        for (int i = 0; i < rounds.length; i++) {
            rounds[i] = Memory.getLong(loads + i * SIZE + ROUNDS);
        }
        return rounds;
    }

    void stop() throws InterruptedException {
        for (int i = 0; i < threads.size(); i++) {
            Memory.putLong(loads + i * SIZE + STOP, 1);
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
