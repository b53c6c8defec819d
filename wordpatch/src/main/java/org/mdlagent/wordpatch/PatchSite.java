package org.mdlagent.wordpatch;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.cpu.CoreSync;

/// Up to eight bytes of code, whole instructions, that patches replace. Made by [WordPatch#site].
public final class PatchSite {
    /// A site toggles between few words; one that gets ever new words forgets the oldest.
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

    /// The only side of a straddling instruction that the last patch changed; null when it changed both.
    private @Nullable Part lastSide;

    private long lastSideTicket;

    /// The next site at the same address; guarded by the patcher's list of sites.
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

    /// The site's current bytes, little-endian.
    public long word() {
        return Part.read(alias, length);
    }

    /// The patch in progress, which any patcher may finish; null for none.
    public @Nullable Pending pending() {
        Pending patch = latest.get();
        return patch == null || patch.isFinished() ? null : patch;
    }

    long alias() {
        return alias;
    }

    /// The bytes before the boundary of the atomic unit; all bytes if there is no boundary.
    Part front() {
        return front;
    }

    /// The bytes after the boundary; null if there is none.
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

    /// Makes `patch` the one in progress, if there is none here or at an overlapping site. If two patchers
    /// take overlapping sites at once, at least one fails.
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

    /// Releases the site; nothing has been stored.
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

    /// What a thread does in place of the straddling instruction of the word `from`, if another transition
    /// knows it, else 0.
    long headAction(long from, long row) {
        for (Transition transition : transitions) {
            Transition.Head head = transition.head();
            if (transition.from() == from && head != null && head.row() == row && !head.stays()) {
                return head.action();
            }
        }
        return 0;
    }

    /// If two patchers keep a transition at once, one may be lost and is then computed again.
    void keep(Transition transition) {
        Transition[] kept = transitions;
        Transition[] more = new Transition[Math.min(kept.length + 1, TRANSITIONS_KEPT)];
        System.arraycopy(kept, 0, more, 1, more.length - 1);
        more[0] = transition;
        transitions = more;
    }

    /// Notes that one side of a straddling instruction has been changed alone. Called while the site is
    /// taken.
    void sideStored(Part side, long ticket) {
        lastSide = side;
        lastSideTicket = ticket;
    }

    /// Notes that both sides change, with syncs between. Called while the site is taken.
    void bothSidesChange() {
        if (lastSide != null) {
            lastSide = null;
        }
    }

    /// Whether a core may have fetched the other side of a straddling instruction before its last one-sided
    /// change. Called while the site, and with it every overlapping one, is taken.
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
