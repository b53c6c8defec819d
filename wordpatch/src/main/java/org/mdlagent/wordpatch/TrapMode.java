package org.mdlagent.wordpatch;

/// What a thread does that meets an instruction under change.
public enum TrapMode {
    /// It executes the old instruction elsewhere and goes on: a patcher that is stopped stops nobody.
    REDIRECT,
    /// It waits until the patch is done, as in the paper (PLDI 2016, figure 5). For comparison only.
    SPIN
}
