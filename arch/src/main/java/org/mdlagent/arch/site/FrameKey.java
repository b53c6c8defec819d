package org.mdlagent.arch.site;

/// How a site computes the key of its frame, which must be equal at all entries and exits of one call and different
/// for all other live calls: the canonical frame address, `register + offset` at the site (DWARF 5, section 6.4).
///
/// @param register DWARF number of the register, or [#NONE] where unwind tables do not say: then the key is one
///     constant, frames match by function only
/// @param offset   bytes to add
public record FrameKey(int register, long offset) {
    public static final int NONE = -1;
    public static final FrameKey UNKNOWN = new FrameKey(NONE, 0);
}
