package org.mdlagent.arch.site;

/// The kinds of body that a stub leads to, by its site's role; the stub of a whole function leads to two.
public enum Body {
    /// At a call of an entry hook.
    ENTRY,
    /// At a call of an exit hook.
    EXIT,
    /// Where a whole function begins.
    FUNCTION_ENTRY,
    /// Where a whole function has returned.
    FUNCTION_EXIT,
    /// Where a call is counted.
    COUNT
}
