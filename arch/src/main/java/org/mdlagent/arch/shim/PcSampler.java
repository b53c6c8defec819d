package org.mdlagent.arch.shim;

import java.util.function.Function;
import org.mdlagent.arch.layout.KernelEvent;
import org.mdlagent.arch.layout.PcFrameDescriptor;
import org.mdlagent.arch.layout.PcPlaceDescriptor;

/// Samples of program counters and call paths in user mode, taken by the kernel per period of CPU time
/// (`perf_event_open(2)`), or at each event of another kind. Threads get no signals and do no work. The shim unwinds
/// their stacks and counts paths in the session. Used by the agent's thread.
public final class PcSampler {

    /// The frame of unknown code.
    public static final int ELSEWHERE = 0;

    /// The frame of the agent's code.
    public static final int PROBES = 1;

    private static final int CAPACITY = Scratch.BYTES / (int) PcPlaceDescriptor.SIZE;

    private final NativeApi api;
    private boolean events;

    public PcSampler(NativeApi api) {
        this.api = api;
    }

    /// An address in code.
    ///
    /// @param start of the code range of its unwind description, usually a function; 0 for none
    /// @param bias  load bias of its image
    /// @param pid   process that executed it
    public record Place(long address, long start, long bias, int pid) {}

    /// The frames of an address.
    ///
    /// @param frame number of the innermost
    /// @param outer number of the function that it is inlined into, or [#NONE]
    public record Frames(int frame, int outer) {
        public static final int NONE = -1;

        public Frames(int frame) {
            this(frame, NONE);
        }
    }

    /// Starts to sample a thread and all threads that it or its descendants create, in forked processes too.
    ///
    /// @param process     row of the thread's process
    /// @param period      sampling period: nanoseconds of CPU time; 1 for other events
    /// @return how many samples of a processor the buffer holds; 0 if the thread has ended
    /// @throws IllegalStateException if the kernel refuses it for any thread, with the reason
    public int open(int tid, long process, long period) {
        int room = (int) api.openPcSampler(tid, period, process);
        if (room >= 0 || -room == PerfEvents.ESRCH) {
            return Math.max(0, room);
        }
        throw new IllegalStateException(reason(-room, events ? PerfEvents.COUNTING_MAX : PerfEvents.SAMPLING_MAX));
    }

    /// Samples an event of the kernel from now on, in kernel mode, too, and not CPU time.
    public void choose(KernelEvent event) {
        events = true;
        api.choosePcSampler(event);
    }

    /// Resumes or pauses sampling.
    public void switchOn(boolean on) {
        api.switchPcSampler(on ? 1 : 0);
    }

    /// Ends sampling until threads are opened again.
    public void close() {
        api.switchPcSampler(-1);
    }

    /// Counts new samples, each with the given weight.
    ///
    /// @param frames called for the frame of each new address
    public void take(int weight, Function<Place, Frames> frames) {
        long out = Scratch.address();
        for (int unknown; (unknown = api.takePcSamples(out, CAPACITY, weight)) > 0; ) {
            place(out, unknown, frames);
        }
    }

    /// Adds a thread's time off the processors since the last call to the call path that it waits on now. A thread that
    /// is on a processor keeps that time until it waits. Threads must have been [opened][#open] before.
    ///
    /// @param frames called for the frame of each new address
    public void takeWait(int tid, int pid, Function<Place, Frames> frames) {
        long out = Scratch.address();
        for (int unknown; (unknown = api.takeWait(tid, pid, out)) > 0; ) {
            place(out, unknown, frames);
        }
    }

    /// Sets the frames of some places in the scratch memory, which `frames` may use, too.
    private void place(long at, int count, Function<Place, Frames> frames) {
        Place[] places = new Place[count];
        for (int i = 0; i < count; i++) {
            long row = at + i * PcPlaceDescriptor.SIZE;
            places[i] = new Place(
                    Memory.getLong(row + PcPlaceDescriptor.ADDRESS),
                    Memory.getLong(row + PcPlaceDescriptor.START),
                    Memory.getLong(row + PcPlaceDescriptor.BIAS),
                    (int) Memory.getLong(row + PcPlaceDescriptor.PID));
        }
        for (Place place : places) {
            Frames of = frames.apply(place);
            api.placePcFrame(place.address(), of.frame(), of.outer());
        }
    }

    /// Adds a frame to the session. Returns its number, or [#ELSEWHERE] if there is no room.
    ///
    /// @param function index of a probed function, or one of [PcFrameDescriptor]'s codes
    /// @param image    offset of a string of the session: path of the image, or a name
    /// @param build    the same: its build id, 0 for none
    /// @param address  start of the code, at link time
    public int add(int function, int image, int build, long address) {
        long row = Scratch.address();
        Memory.putLong(row + PcFrameDescriptor.SAMPLES, 0);
        Memory.putLong(row + PcFrameDescriptor.ADDRESS, address);
        Memory.putInt(row + PcFrameDescriptor.FUNCTION, function);
        Memory.putInt(row + PcFrameDescriptor.IMAGE, image);
        Memory.putLong(row + PcFrameDescriptor.BUILD, Integer.toUnsignedLong(build));
        return api.addPcFrame(row);
    }

    /// Invalidates the frames of addresses; they are requested again.
    public void forget() {
        api.forgetPcFrames();
    }

    /// Size of a process's `/tmp/perf-PID.map`, which names its JIT-compiled code; 0 if there is none.
    public long codeMapSize(int pid) {
        return Math.max(0, api.readPerfMap(pid, 0, 0));
    }

    /// Its content, up to a limit; empty if other users may have written it.
    public byte[] codeMap(int pid, int limit) {
        int size = (int) Math.min(codeMapSize(pid), limit);
        if (size == 0) {
            return new byte[0];
        }
        try (NativeBuffer text = NativeBuffer.of(size)) {
            long read = api.readPerfMap(pid, text.address(), size);
            return Memory.copy(text.address(), Math.clamp(read, 0, size));
        }
    }

    private static String reason(int errno, int most) {
        return switch (errno) {
            case PerfEvents.EACCES -> PerfEvents.refusal(PerfEvents.paranoid(), most, "them");
            case PerfEvents.EPERM ->
                "perf_event_open is forbidden here, as in many containers, or no more memory may be locked";
            case PerfEvents.EBADF -> "unshare is refused here, and the agent needs its own descriptor table";
            case PerfEvents.EINVAL -> "this kernel cannot end samples at exec: Linux 5.13 or later is needed";
            case PerfEvents.EMFILE -> "it needs a descriptor per thread and processor: raise ulimit -n";
            default -> "perf_event_open is refused: errno " + errno;
        };
    }
}
