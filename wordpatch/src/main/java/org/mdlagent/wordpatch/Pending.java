package org.mdlagent.wordpatch;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;

/// A patch that has been started: the paper's asynchronous patch (PLDI 2016, section 4.2), whose states these are.
///
/// Any patcher may carry it on; there is one at a time, and it holds the patch for one step only. A patcher that fails
/// inside a step leaves the state as it was: steps can be repeated.
public abstract sealed class Pending implements StartResult permits SitePatch, Batch {
    enum State {
        /// Somebody is taking a step. Only others see this.
        HELD,
        /// Nothing, or an unknown part of the first step, has been done.
        STARTING,
        /// The trapping byte is stored; the tail may be when all cores have seen that.
        FIRST_WAIT,
        /// The tail is stored; the front may be when all cores have seen that.
        SECOND_WAIT,
        FINISHED
    }

    private static final int HELD = State.HELD.ordinal();
    private static final int FINISHED = State.FINISHED.ordinal();

    private final WordPatch patcher;

    /// What others see of the state, by its ordinal, which only grows but for while the patch is held, as it is at
    /// first: 0, which needs no store.
    private final AtomicInteger published = new AtomicInteger();

    /// What follows is the holder's. Others may look at a ticket that is changing; they then fail to take hold.
    private State state = State.STARTING;

    private long ticket;

    /// Held by the caller.
    Pending(WordPatch patcher) {
        this.patcher = patcher;
    }

    /// Takes the steps up to the next sync. Called by who holds the patch.
    abstract void store(WordPatch patcher);

    /// Does what can be done without waiting.
    ///
    /// @return whether the patch is finished, by whomever
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

    /// Finishes the patch, waiting where it must.
    public void await() {
        for (int seen = published.get(); seen != FINISHED; seen = published.get()) {
            if (seen == HELD) {
                Thread.onSpinWait(); // For one step of another patcher, which has been stopped at worst.
            } else {
                patcher.awaitDue(seen, ticket);
                boolean unused = step(seen);
            }
        }
    }

    /// Takes the next step, unless somebody else is doing so, or has done.
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

    /// Tells everybody what the holder has done.
    void letGo() {
        // As Memory.putLongRelease: in C1's code, setRelease is followed by a fence that nobody needs.
        VarHandle.releaseFence();
        published.setPlain(state.ordinal());
    }
}
