package org.mdlagent.wordpatch;

import org.mdlagent.wordpatch.WordPatch.StartResult;

/// The result of a patch.
public sealed interface PatchResult extends StartResult {
    /// The site has the new word. A core may execute the old one until it next serialises, or T_max has
    /// passed.
    record Patched() implements PatchResult {}

    /// Another patch of the site, or of an overlapping one, is in progress: nothing was done. This patcher
    /// can finish that patch ([PatchSite#pending]).
    record Contended() implements PatchResult {}

    /// The patch would be unsafe: nothing was done.
    ///
    /// @param reason for people
    record Rejected(String reason) implements PatchResult {}
}
