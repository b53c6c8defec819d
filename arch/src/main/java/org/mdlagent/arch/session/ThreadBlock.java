package org.mdlagent.arch.session;

import org.mdlagent.arch.layout.FrameDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.Memory;

/// A read-only view of an application thread's block, `struct mdl_thread`.
///
/// @param address of the block
public record ThreadBlock(long address) {
    public int tid() {
        return Memory.getInt(address + ThreadDescriptor.TID);
    }

    public int pid() {
        return Memory.getInt(address + ThreadDescriptor.PID);
    }

    public boolean isLiveAcquire() {
        return Memory.getIntAcquire(address + ThreadDescriptor.STATE) == ThreadDescriptor.STATE_LIVE;
    }

    /// CPU time of the thread in nanoseconds at the last reading.
    public long cpuNanos() {
        return Memory.getLong(address + ThreadDescriptor.CPU_NANOS);
    }

    /// Address of the call counters of functions, one word each by index; 0 if there are none.
    public long callsAcquire() {
        return Memory.getLongAcquire(address + ThreadDescriptor.CALLS);
    }

    /// Address of the array of functions' row addresses, by index; 0 if there are none.
    public long rows() {
        return Memory.getLong(address + ThreadDescriptor.ROWS);
    }

    /// Address of the ring, 0 if there is none.
    public long ring() {
        return Memory.getLong(address + ThreadDescriptor.RING);
    }

    /// Capacity of the ring minus one; the capacity is a power of two.
    public long ringMask() {
        return Memory.getLong(address + ThreadDescriptor.RING_MASK);
    }

    /// Head: position after the ring's last record. Its thread writes it.
    public long headAcquire() {
        return Memory.getLongAcquire(address + ThreadDescriptor.HEAD);
    }

    /// Tail: position of the first record not yet taken.
    public long tail() {
        return Memory.getLong(address + ThreadDescriptor.TAIL);
    }

    /// Calls without a recorded return, by frames.
    public long unrecorded() {
        return Memory.getLong(address + ThreadDescriptor.UNMATCHED)
                + Memory.getLong(address + ThreadDescriptor.OVERFLOW)
                + Memory.getLong(address + ThreadDescriptor.REFUSED);
    }

    /// Calls on the shadow stack.
    public long openCalls() {
        // The lowest frame is a sentinel.
        return (Memory.getLong(address + ThreadDescriptor.SP) - Memory.getLong(address + ThreadDescriptor.SP_BASE))
                        / FrameDescriptor.SIZE
                - 1;
    }
}
