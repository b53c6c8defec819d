package org.mdlagent.fastinst.snippet;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// Waits, without stopping threads, until no thread can use what has been retired from snippets.
///
/// Assumes
///   A1 membarrier is a fence in every running thread of the process (membarrier(2))
///   A2 a thread raises its depth, then reads the site's code, and lowers the depth when it has left that code
///      (`ClientAssembler`); a handler that never returns leaves it raised
///
/// Guarantees
///   G1 what is retired is freed when no thread is in code that knew it, or comes to such code
///
/// Progress
///   P1 nobody waits: a thread that stays in snippets, stopped or in a handler, delays freeing. Once a process
///      has been forked nothing is freed, since membarrier does not reach the others
///
/// | agent | a thread at a probe |
/// | --- | --- |
/// | 1 other code is stored | 1 depth up |
/// | 2 membarrier | 2 read the code; run it |
/// | 3 each thread has had depth 0 once | 3 depth down |
/// | 4 free | |
///
/// G1: by A1, a thread has done its step 1 visibly before the agent's 2, and 3 waits for its step 3, or it
/// reads in step 2 what was stored in 1.
final class GracePeriod {
    private final NativeApi api;
    private final long header;
    private List<Runnable> retired = new ArrayList<>();

    /// Retired before the last membarrier.
    private List<Runnable> waiting = new ArrayList<>();

    /// Blocks of threads that have not been seen outside of snippets since.
    private final List<Long> inside = new ArrayList<>();

    GracePeriod(NativeApi api) {
        this.api = api;
        header = api.session();
    }

    /// Runs `free` in one of the next [#poll]s, when nobody uses what it frees. The caller has done step 1.
    void retire(Runnable free) {
        retired.add(free);
    }

    /// Frees what can be freed now.
    ///
    /// @throws IllegalStateException when there is no membarrier
    void poll() {
        if (waiting.isEmpty() && !retired.isEmpty()) {
            begin();
        }
        inside.removeIf(GracePeriod::isOutside);
        if (inside.isEmpty() && Memory.getLongAcquire(header + HeaderDescriptor.FORKS) == 0) {
            List<Runnable> free = waiting;
            waiting = new ArrayList<>();
            free.forEach(Runnable::run);
        }
    }

    private void begin() {
        api.syncCores();
        waiting = retired;
        retired = new ArrayList<>();
        long thread = Memory.getLongAcquire(header + HeaderDescriptor.THREADS);
        for (; thread != 0; thread = Memory.getLong(thread + ThreadDescriptor.NEXT)) {
            inside.add(thread);
        }
    }

    private static boolean isOutside(long thread) {
        long values = Memory.getLongAcquire(thread + ThreadDescriptor.VALUES);
        return values == 0
                || Memory.getLongAcquire(values + ValueDescriptor.DEPTH * Long.BYTES) == 0
                || Memory.getIntAcquire(thread + ThreadDescriptor.STATE) == ThreadDescriptor.STATE_FREE;
    }
}
