package org.mdlagent.wordpatch;

/// What a thread does that meets an instruction being changed.
public enum TrapMode {
    /// It executes the old instruction elsewhere and goes on: a stopped patcher stops no thread.
    REDIRECT,
    /// It waits until the patch is done, as in the paper (PLDI 2016, figure 5). For comparison only.
    SPIN
}
