package org.mdlagent.arch.session;

import org.mdlagent.arch.layout.FrameDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.Memory;

/// Reads the block of one application thread, `struct mdl_thread`.
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

    /// CPU time of the thread in nanoseconds, when it was last asked for.
    public long cpuNanos() {
        return Memory.getLong(address + ThreadDescriptor.CPU_NANOS);
    }

    /// Address of the counters of functions' calls, one word each by index; 0 when there are none.
    public long callsAcquire() {
        return Memory.getLongAcquire(address + ThreadDescriptor.CALLS);
    }

    /// Address of the addresses of functions' rows, by index; 0 when there are none.
    public long rows() {
        return Memory.getLong(address + ThreadDescriptor.ROWS);
    }

    /// Address of the ring, 0 when there is none.
    public long ring() {
        return Memory.getLong(address + ThreadDescriptor.RING);
    }

    /// Records of the ring, less one: a power of two, less one.
    public long ringMask() {
        return Memory.getLong(address + ThreadDescriptor.RING_MASK);
    }

    /// Position behind the last record of the ring, which its thread writes.
    public long headAcquire() {
        return Memory.getLongAcquire(address + ThreadDescriptor.HEAD);
    }

    /// Position of the first record that has not been taken.
    public long tail() {
        return Memory.getLong(address + ThreadDescriptor.TAIL);
    }

    /// Calls that were entered and not returned from as far as frames tell, for one reason or another.
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
