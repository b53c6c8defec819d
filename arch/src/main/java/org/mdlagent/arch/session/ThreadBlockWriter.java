package org.mdlagent.arch.session;

import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.Memory;

/// Writes what the one reader of a thread's ring owns in its block.
///
/// @param address of the block
public record ThreadBlockWriter(long address) {
    /// Gives the ring's records in front of `position` back to the thread.
    public void setTailRelease(long position) {
        Memory.putLongRelease(address + ThreadDescriptor.TAIL, position);
    }
}
