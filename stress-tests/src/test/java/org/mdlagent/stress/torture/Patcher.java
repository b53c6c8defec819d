package org.mdlagent.stress.torture;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLongArray;
import org.mdlagent.arch.shim.Memory;

/// Patches a cell's sites in rounds, on its own thread.
abstract class Patcher {
    private final String[] splits;
    private final int[] splitOf;
    private final AtomicLongArray toggles;
    private final long focus;
    private volatile long contended;
    private volatile String rejected = "";

    /// @param splitOfEach how each thing that it changes lies over the boundary of an atomic unit ([Sites#split])
    /// @param focus       address of the word that tells executors which site the patcher is at
    Patcher(List<String> splitOfEach, long focus) {
        this.focus = focus;
        splits = splitOfEach.stream().distinct().toArray(String[]::new);
        Map<String, Integer> places = new TreeMap<>();
        for (int i = 0; i < splits.length; i++) {
            places.put(splits[i], i);
        }
        splitOf = splitOfEach.stream().mapToInt(places::get).toArray();
        toggles = new AtomicLongArray(splits.length);
        lookAt(-1);
    }

    /// Changes some sites, for milliseconds at most if it is not stopped.
    abstract void round();

    /// Waits until nothing is outstanding.
    void finish() {}

    /// Executors follow.
    final void lookAt(long site) {
        Memory.putLongRelease(focus, site);
    }

    final void toggled(int thing) {
        toggles.lazySet(splitOf[thing], toggles.getPlain(splitOf[thing]) + 1);
    }

    // One writer each.
    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    final void contended() {
        contended++;
    }

    final void rejected(String reason) {
        rejected = reason;
    }

    final long contentions() {
        return contended;
    }

    /// Why a patch was rejected, or "".
    final String rejection() {
        return rejected;
    }

    /// Toggles so far, by split.
    final Map<String, Long> togglesBySplit() {
        Map<String, Long> bySplit = new TreeMap<>();
        for (int i = 0; i < splits.length; i++) {
            bySplit.put(splits[i], toggles.getAcquire(i));
        }
        return bySplit;
    }
}
