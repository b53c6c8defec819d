package org.mdlagent.wordpatch;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import org.mdlagent.wordpatch.WordPatch.StartResult;

/// A patch that has been started: the paper's asynchronous patch (PLDI 2016, section 4.2), with its states.
///
/// Any patcher may continue it. One patcher at a time holds the patch, for one step only. A patcher that
/// fails inside a step leaves the state as it was: steps can be repeated.
public abstract sealed class Pending implements StartResult permits SitePatch, Batch {
    enum State {
        /// A patcher is taking a step. Only others see this.
        HELD,
        /// Nothing, or an unknown part of the first step, has been done.
        STARTING,
        /// The trapping byte is stored; the tail may be stored when all cores have seen it.
        FIRST_WAIT,
        /// The tail is stored; the front may be stored when all cores have seen it.
        SECOND_WAIT,
        FINISHED
    }

    private static final int HELD = State.HELD.ordinal();
    private static final int FINISHED = State.FINISHED.ordinal();

    private final WordPatch patcher;

    /// The state as others see it, by its ordinal, which only grows, except that it is 0 while the patch is
    /// held. 0 is also its initial value and needs no store.
    private final AtomicInteger published = new AtomicInteger();

    /// The fields below belong to the holder. Others may read a ticket that is changing; they then fail to
    /// take hold.
    private State state = State.STARTING;

    private long ticket;

    /// Held by the caller.
    Pending(WordPatch patcher) {
        this.patcher = patcher;
    }

    /// Takes the steps up to the next sync. Called by the holder.
    abstract void store(WordPatch patcher);

    /// Does what can be done without waiting.
    ///
    /// @return whether the patch is finished, by any patcher
    public boolean finish() {
        int seen = published.get();
        while (seen != FINISHED) {
            if (seen == HELD || !patcher.isDue(seen, ticket) || !step(seen)) {
                return isFinished();
            }
            seen = published.get();
        }
        return true;
    }

    /// Finishes the patch, waiting where necessary.
    public void await() {
        for (int seen = published.get(); seen != FINISHED; seen = published.get()) {
            if (seen == HELD) {
                Thread.onSpinWait(); // Waits for one step of another patcher, which may be descheduled.
            } else {
                patcher.awaitDue(seen, ticket);
                boolean unused = step(seen);
            }
        }
    }

    /// Takes the next step, unless another patcher is doing so or has done so.
    private boolean step(int seen) {
        if (!published.compareAndSet(seen, HELD)) {
            return false;
        }
        try {
            patcher.step(this);
        } finally {
            letGo();
        }
        return true;
    }

    boolean isFinished() {
        return published.get() == FINISHED;
    }

    State state() {
        return state;
    }

    void state(State next) {
        state = next;
    }

    long ticket() {
        return ticket;
    }

    void ticket(long next) {
        ticket = next;
    }

    /// Publishes the holder's state.
    void letGo() {
        // As Memory.putLongRelease: in code of C1, setRelease is followed by an unnecessary fence.
        VarHandle.releaseFence();
        published.setPlain(state.ordinal());
    }
}
