package org.mdlagent.arch.site;

/// How a site computes its frame's key: the canonical frame address, `register + offset` at the site (DWARF 5,
/// section 6.4). It must be equal at all entries and exits of one call and unique among live calls.
///
/// @param register DWARF number of the register, or [#NONE] if unwind tables do not name one: then the key is a
///     constant, and frames match by function only
/// @param offset   bytes to add
public record FrameKey(int register, long offset) {
    public static final int NONE = -1;
    public static final FrameKey UNKNOWN = new FrameKey(NONE, 0);
}
