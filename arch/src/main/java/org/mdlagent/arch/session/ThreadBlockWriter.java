package org.mdlagent.arch.session;

import org.mdlagent.arch.layout.CountdownDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.Memory;

/// Writes the fields that the agent owns in a thread's block.
///
/// @param address of the block
public record ThreadBlockWriter(long address) {
    /// Releases the ring's records before `position` to the thread.
    public void setTailRelease(long position) {
        Memory.putLongRelease(address + ThreadDescriptor.TAIL, position);
    }

    /// Makes the thread draw a new interval between timed calls of a function.
    public void forgetCountdown(int function) {
        long countdowns = Memory.getLong(address + ThreadDescriptor.COUNTDOWNS);
        if (countdowns != 0) {
            Memory.putLongRelease(countdowns + function * CountdownDescriptor.SIZE, 0);
        }
    }
}
