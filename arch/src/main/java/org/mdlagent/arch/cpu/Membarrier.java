package org.mdlagent.arch.cpu;

import java.util.concurrent.atomic.AtomicLong;
import org.mdlagent.arch.shim.NativeApi;

/// Makes every core that runs this process serialise (membarrier(2), `PRIVATE_EXPEDITED_SYNC_CORE`). Architectural:
/// a core that has serialised fetches what was stored before. It disturbs running threads for a moment, and does
/// not reach other processes that share the code.
///
/// Tickets count the barriers that have begun, so one barrier serves all tickets taken before it.
public final class Membarrier implements CoreSync {
    private final NativeApi api;
    private final AtomicLong begun = new AtomicLong();
    private final AtomicLong lastCompleted = new AtomicLong();

    public Membarrier(NativeApi api) {
        this.api = api;
    }

    /// How many have been issued.
    long barriers() {
        return begun.get();
    }

    /// A barrier that begins later serves it.
    @Override
    public long ticket() {
        return begun.get();
    }

    /// Issues a barrier when none has served the ticket: there is nothing to wait for then.
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
