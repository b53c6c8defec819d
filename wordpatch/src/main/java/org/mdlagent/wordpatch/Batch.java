package org.mdlagent.wordpatch;

import java.util.ArrayList;
import org.mdlagent.arch.shim.StoreList;

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
    final ArrayList<PatchSite> oneSided = new ArrayList<>(0);

    final ArrayList<Part> onlySides = new ArrayList<>(0);

    /// Held by the caller.
    Batch(WordPatch patcher, int sites) {
        super(patcher);
        rows = new StoreList(sites);
        first = new StoreList(sites);
        tails = new StoreList(sites);
        fronts = new StoreList(sites);
    }

    /// Makes room for one more site, so that nothing fails when a part of what it stores is written down.
    ///
    /// @param interiorRows of its new word
    void reserve(int interiorRows) {
        rows.reserve(1);
        interior.reserve(interiorRows);
        first.reserve(2);
        tails.reserve(1);
        fronts.reserve(1);
        oneSided.ensureCapacity(oneSided.size() + 1);
        onlySides.ensureCapacity(onlySides.size() + 1);
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
