package org.mdlagent.wordpatch;

/// What became of a patch.
public sealed interface PatchResult extends StartResult {
    /// The site holds the new word. A core may execute the old one until it next serialises, or T_max has gone by.
    record Patched() implements PatchResult {}

    /// Another patch of the site, or of one that overlaps it, is under way: nothing was done. It can be finished by
    /// this patcher ([PatchSite#pending]).
    record Contended() implements PatchResult {}

    /// The patch would not be safe: nothing was done.
    ///
    /// @param reason for people
    record Rejected(String reason) implements PatchResult {}
}
