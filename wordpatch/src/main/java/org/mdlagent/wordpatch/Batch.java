package org.mdlagent.wordpatch;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.StoreList;

/// A patch of many sites, which take each step together. What each step stores is written down before the first is
/// taken, so that a step is one call, or a few, however many sites there are.
final class Batch extends Pending {
    /// Steps 1 and 7: the rows of old straddling instructions.
    final StoreList rows;

    /// Step 1: the rows inside new words, which stay.
    final StoreList interior = new StoreList(1);

    /// Step 2, and what the sites that take one step store.
    final StoreList first;

    /// Step 4.
    final StoreList tails;

    /// Step 6.
    final StoreList fronts;

    /// Of the sites that take one step those where a straddling instruction changes on one side, and which.
    final List<PatchSite> oneSided = new ArrayList<>(0);

    final List<Part> onlySides = new ArrayList<>(0);

    /// Held by the caller.
    Batch(WordPatch patcher, int sites) {
        super(patcher);
        rows = new StoreList(sites);
        first = new StoreList(sites);
        tails = new StoreList(sites);
        fronts = new StoreList(sites);
    }

    @Override
    void store(WordPatch patcher) {
        patcher.store(this);
    }

    /// The sites remember their last patch, and so this for long.
    void forget() {
        rows.clear();
        interior.clear();
        first.clear();
        tails.clear();
        fronts.clear();
        oneSided.clear();
        onlySides.clear();
    }
}
