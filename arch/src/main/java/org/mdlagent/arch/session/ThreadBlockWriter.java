package org.mdlagent.arch.session;

import org.mdlagent.arch.layout.CountdownDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.Memory;

/// Writes what the agent owns in a thread's block.
///
/// @param address of the block
public record ThreadBlockWriter(long address) {
    /// Gives the ring's records in front of `position` back to the thread.
    public void setTailRelease(long position) {
        Memory.putLongRelease(address + ThreadDescriptor.TAIL, position);
    }

    /// Lets the thread choose anew which calls of a function it times.
    public void forgetCountdown(int function) {
        long countdowns = Memory.getLong(address + ThreadDescriptor.COUNTDOWNS);
        if (countdowns != 0) {
            Memory.putLongRelease(countdowns + function * CountdownDescriptor.SIZE, 0);
        }
    }
}
