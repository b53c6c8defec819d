package org.mdlagent.fastinst;

/// What copies of functions count.
public enum CopiedCounts {
    /// Functions are not copied.
    NONE,
    /// Basic blocks.
    BLOCKS,
    /// The same, and each way of control between them.
    ARCS
}
