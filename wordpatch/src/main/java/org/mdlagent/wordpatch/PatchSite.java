package org.mdlagent.wordpatch;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.cpu.CoreSync;

/// Up to eight bytes of code, whole instructions, that patches replace. Made by [WordPatch#site].
public final class PatchSite {
    /// Words that a site is toggled between are few; a site that gets ever new ones forgets the oldest.
    private static final int TRANSITIONS_KEPT = 8;

    private static final Transition[] NO_TRANSITIONS = {};
    private static final PatchSite[] NO_SITES = {};

    private final long address;
    private final int length;
    private final long alias;
    private final Part front;
    private final @Nullable Part tail;
    private final AtomicReference<@Nullable Pending> latest = new AtomicReference<>();
    private volatile PatchSite[] overlapping = NO_SITES;
    private volatile Transition[] transitions = NO_TRANSITIONS;

    /// The side of a straddling instruction that the last patch changed alone; null when it changed both.
    private @Nullable Part lastSide;

    private long lastSideTicket;

    /// The next of those that start at the same address; guarded by the patcher's list of sites.
    private @Nullable PatchSite nextThere;

    /// @param unit bytes within which a store is atomic for fetch
    PatchSite(long address, int length, long alias, int unit) {
        this.address = address;
        this.length = length;
        this.alias = alias;
        int boundary = unit - (int) (address & unit - 1);
        front = Part.of(alias, 0, Math.min(boundary, length), unit);
        tail = boundary < length ? Part.of(alias, boundary, length, unit) : null;
    }

    /// Address of the site's first byte.
    public long address() {
        return address;
    }

    /// Its length in bytes: 1 to 8.
    public int length() {
        return length;
    }

    /// The bytes that the site has now, little-endian.
    public long word() {
        return Part.read(alias, length);
    }

    /// The patch that is under way, which any patcher may finish; null when there is none.
    public @Nullable Pending pending() {
        Pending patch = latest.get();
        return patch == null || patch.isFinished() ? null : patch;
    }

    long alias() {
        return alias;
    }

    /// The bytes before the boundary of the atomic unit; all bytes when there is none.
    Part front() {
        return front;
    }

    /// The bytes behind the boundary; null when there is none.
    @Nullable
    Part tail() {
        return tail;
    }

    @Nullable
    PatchSite nextThere() {
        return nextThere;
    }

    void nextThere(@Nullable PatchSite next) {
        nextThere = next;
    }

    boolean overlaps(PatchSite other) {
        return address < other.address + other.length && other.address < address + length;
    }

    void addOverlapping(PatchSite other) {
        PatchSite[] more = Arrays.copyOf(overlapping, overlapping.length + 1);
        more[overlapping.length] = other;
        overlapping = more;
    }

    /// Makes `patch` the one that is under way, if there is none here and on sites that overlap this one. When two
    /// patchers take overlapping sites at once, one fails or both do.
    boolean take(Pending patch) {
        Pending before = latest.get();
        if (before != null && !before.isFinished() || !latest.compareAndSet(before, patch)) {
            return false;
        }
        for (PatchSite other : overlapping) {
            if (other.pending() != null) {
                latest.set(before);
                return false;
            }
        }
        return true;
    }

    /// Gives back what was taken, when nothing has been stored.
    void giveBack() {
        latest.set(null);
    }

    @Nullable
    Transition transition(long from, long to) {
        for (Transition transition : transitions) {
            if (transition.from() == from && transition.to() == to) {
                return transition;
            }
        }
        return null;
    }

    /// What a thread does in place of the straddling instruction of the word `from`, if another transition knows it,
    /// else 0.
    long headAction(long from, long row) {
        for (Transition transition : transitions) {
            Transition.Head head = transition.head();
            if (transition.from() == from && head != null && head.row() == row && !head.stays()) {
                return head.action();
            }
        }
        return 0;
    }

    /// Two patchers that keep one at once may lose one of them, which is then worked out again.
    void keep(Transition transition) {
        Transition[] kept = transitions;
        Transition[] more = new Transition[Math.min(kept.length + 1, TRANSITIONS_KEPT)];
        System.arraycopy(kept, 0, more, 1, more.length - 1);
        more[0] = transition;
        transitions = more;
    }

    /// One side of a straddling instruction has been changed alone. Called while the site is taken.
    void sideStored(Part side, long ticket) {
        lastSide = side;
        lastSideTicket = ticket;
    }

    /// Both sides change, with syncs between. Called while the site is taken.
    void bothSidesChange() {
        if (lastSide != null) {
            lastSide = null;
        }
    }

    /// Whether a core may still have fetched what a straddling instruction here had on its other side before that was
    /// changed alone. Called while the site, and so all that overlap it, is taken.
    boolean mayMixWithOtherSide(Part side, CoreSync sync) {
        boolean mixes = isOtherSideFresh(side, sync);
        for (PatchSite other : overlapping) {
            mixes |= other.isOtherSideFresh(side, sync);
        }
        return mixes;
    }

    private boolean isOtherSideFresh(Part side, CoreSync sync) {
        return lastSide != null && lastSide.alias() != side.alias() && !sync.isPast(lastSideTicket);
    }
}
