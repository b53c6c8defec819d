package org.mdlagent.wordpatch;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A patch of one site.
final class SitePatch extends Pending {
    private final PatchSite site;
    private @Nullable Transition transition;

    /// Held by the caller.
    SitePatch(WordPatch patcher, PatchSite site) {
        super(patcher);
        this.site = site;
    }

    @Override
    void store(WordPatch patcher) {
        patcher.store(this);
    }

    Transition transition() {
        return Objects.requireNonNull(transition);
    }

    void transition(Transition found) {
        transition = found;
    }

    PatchSite site() {
        return site;
    }
}
