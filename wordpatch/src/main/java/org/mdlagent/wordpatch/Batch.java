package org.mdlagent.wordpatch;

import java.util.ArrayList;
import org.mdlagent.arch.shim.StoreList;

/// A patch of many sites, which take each step together. The stores of each step are collected before the
/// first step, so that a step takes one call, or a few, for any number of sites.
final class Batch extends Pending {
    /// Steps 1 and 7: the rows of old straddling instructions.
    final StoreList rows;

    /// Step 1: the rows inside new words, which stay.
    final StoreList interior = new StoreList(1);

    /// Step 2, and the stores of sites that take one step.
    final StoreList first;

    /// Step 4.
    final StoreList tails;

    /// Step 6.
    final StoreList fronts;

    /// Sites that take one step and change a straddling instruction on one side, and which side.
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

    /// Makes room for one more site, so that nothing fails while its stores are being collected.
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

    /// Drops references: sites remember their last patch, and through it this batch.
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
