package org.mdlagent.wordpatch;

/// The result of [WordPatch#start]: a patch to be finished, or a final result.
public sealed interface StartResult permits Pending, PatchResult {}
