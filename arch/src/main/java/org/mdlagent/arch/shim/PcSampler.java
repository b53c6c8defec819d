package org.mdlagent.arch.shim;

import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// Samples of one thread's program counter in user mode, which the kernel takes whenever the thread has had some CPU
/// time (`perf_event_open(2)`). The thread is not signalled and does nothing for it. Used by the agent's thread.
public final class PcSampler {
    private static final int CAPACITY = Scratch.BYTES / Long.BYTES;

    private final NativeApi api;
    private final long number;

    private PcSampler(NativeApi api, long number) {
        this.api = api;
        this.number = number;
    }

    /// Begins to sample a thread.
    ///
    /// @param periodNanos of its CPU time, from one sample to the next
    /// @return null when it has ended, or others take up all the room that there is
    /// @throws IllegalStateException when the kernel refuses it for any thread, with the reason
    public static @Nullable PcSampler open(NativeApi api, int tid, long periodNanos) {
        long number = api.openPcSampler(tid, periodNanos);
        if (number >= 0) {
            return new PcSampler(api, number);
        }
        int errno = (int) -number;
        if (errno == PerfEvents.ESRCH || errno == PerfEvents.EMFILE) {
            return null;
        }
        throw new IllegalStateException(reason(errno));
    }

    /// Passes on the addresses that were sampled since the last time.
    ///
    /// @return how many others were lost, because that was long ago
    public long read(LongConsumer addresses) {
        long lost = 0;
        long[] read;
        do {
            read = read();
            lost += read[0];
            for (int i = 1; i < read.length; i++) {
                addresses.accept(read[i]);
            }
        } while (read.length == CAPACITY);
        return lost;
    }

    /// How many were lost, and the addresses of some that were not.
    private long[] read() {
        long out = Scratch.address();
        long[] read = new long[1 + api.readPcSampler(number, out, CAPACITY)];
        for (int i = 0; i < read.length; i++) {
            read[i] = Memory.getLong(out + (long) i * Long.BYTES);
        }
        return read;
    }

    public void close() {
        api.closePcSampler(number);
    }

    private static String reason(int errno) {
        return switch (errno) {
            case PerfEvents.EACCES -> PerfEvents.refusal(PerfEvents.paranoid(), PerfEvents.SAMPLING_MAX, "them");
            case PerfEvents.EPERM ->
                "perf_event_open is forbidden here, as in many containers, or no more memory may be locked";
            case PerfEvents.EBADF -> "unshare is refused here, so the agent has no descriptors of its own";
            case PerfEvents.EINVAL -> "this kernel cannot end them when a program executes another: Linux 5.13 can";
            default -> "perf_event_open is refused: errno " + errno;
        };
    }
}
