package org.mdlagent.wordpatch;

/// What became of [WordPatch#start]: the patch has to be finished, or all is said already.
public sealed interface StartResult permits Pending, PatchResult {}
