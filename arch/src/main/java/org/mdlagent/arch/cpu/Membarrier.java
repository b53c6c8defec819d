package org.mdlagent.arch.cpu;

import java.util.concurrent.atomic.AtomicLong;
import org.mdlagent.arch.shim.NativeApi;

/// Serialises every core that runs this process (membarrier(2), `PRIVATE_EXPEDITED_SYNC_CORE`). Architectural: a
/// core that has serialised fetches earlier stores. Interrupts running threads briefly, and does not reach other
/// processes that share the code.
///
/// Tickets count started barriers, so one barrier serves all tickets taken before it.
public final class Membarrier implements CoreSync {
    private final NativeApi api;
    private final AtomicLong begun = new AtomicLong();
    private final AtomicLong lastCompleted = new AtomicLong();

    public Membarrier(NativeApi api) {
        this.api = api;
    }

    /// Number of barriers issued.
    long barriers() {
        return begun.get();
    }

    /// Served by any barrier that starts later.
    @Override
    public long ticket() {
        return begun.get();
    }

    /// Issues a barrier if none has served the ticket yet, so there is no wait.
    @Override
    public boolean isPast(long ticket) {
        if (lastCompleted.get() <= ticket) {
            long barrier = begun.incrementAndGet();
            api.syncCores();
            long unused = lastCompleted.accumulateAndGet(barrier, Math::max);
        }
        return true;
    }

    @Override
    public void await(long ticket) {
        boolean unused = isPast(ticket);
    }
}
