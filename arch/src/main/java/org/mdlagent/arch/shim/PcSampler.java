package org.mdlagent.arch.shim;

import java.lang.foreign.Arena;
import java.util.function.Function;
import org.mdlagent.arch.layout.PcFrameDescriptor;

/// Samples of where threads are in user mode, and by which calls they have come there, which the kernel takes
/// whenever a
/// thread has had some CPU time (`perf_event_open(2)`). Threads are not signalled and do nothing for it. The shim
/// unwinds
/// their stacks, and counts paths in the session. Used by the agent's thread.
public final class PcSampler {
    static final long PLACE_ADDRESS = 0;
    static final long PLACE_START = 8;
    static final long PLACE_BIAS = 16;
    static final long PLACE_PID = 24;
    static final long PLACE_SIZE = 32;

    /// The frame of code that is nobody's.
    public static final int ELSEWHERE = 0;

    /// That of the agent's code.
    public static final int PROBES = 1;

    private static final int CAPACITY = Scratch.BYTES / (int) PLACE_SIZE;

    private final NativeApi api;

    public PcSampler(NativeApi api) {
        this.api = api;
    }

    /// An address in code.
    ///
    /// @param start where the code begins that one unwind description is for, a function as a rule; 0 for none
    /// @param bias  what addresses of its image are more than at link time
    /// @param pid   process that was there
    public record Place(long address, long start, long bias, int pid) {}

    /// What code belongs to.
    ///
    /// @param frame number of the innermost
    /// @param outer of the one that it is inlined in, [#NONE] where it is not
    public record Frames(int frame, int outer) {
        public static final int NONE = -1;

        public Frames(int frame) {
            this(frame, NONE);
        }
    }

    /// Begins to sample a thread, and threads that it or its offspring begins, in forked processes too.
    ///
    /// @param process     row of the process that it is a thread of
    /// @param periodNanos of its CPU time, from one sample to the next
    /// @return how many samples of a processor there is room for until they are taken; 0 when it has ended
    /// @throws IllegalStateException when the kernel refuses it for any thread, with the reason
    public int open(int tid, long process, long periodNanos) {
        int room = (int) api.openPcSampler(tid, periodNanos, process);
        if (room >= 0 || -room == PerfEvents.ESRCH) {
            return Math.max(0, room);
        }
        throw new IllegalStateException(reason(-room));
    }

    /// From now on samples are taken, or none is.
    public void switchOn(boolean on) {
        api.switchPcSampler(on ? 1 : 0);
    }

    /// No thread is sampled any more, until it is opened again.
    public void close() {
        api.switchPcSampler(-1);
    }

    /// Counts what was sampled since the last time, each sample so often.
    ///
    /// @param frames is asked for the frame of each address that is met the first time
    public void take(int weight, Function<Place, Frames> frames) {
        long out = Scratch.address();
        for (int unknown; (unknown = api.takePcSamples(out, CAPACITY, weight)) > 0; ) {
            Place[] places = new Place[unknown];
            for (int i = 0; i < unknown; i++) {
                long at = out + i * PLACE_SIZE;
                places[i] = new Place(
                        Memory.getLong(at + PLACE_ADDRESS),
                        Memory.getLong(at + PLACE_START),
                        Memory.getLong(at + PLACE_BIAS),
                        (int) Memory.getLong(at + PLACE_PID));
            }
            for (Place place : places) {
                Frames of = frames.apply(place);
                api.placePcFrame(place.address(), of.frame(), of.outer());
            }
        }
    }

    /// Adds a frame to the session's: its number, [#ELSEWHERE] where there is no room.
    ///
    /// @param function index of a probed function, or one of [PcFrameDescriptor]'s codes
    /// @param image    of the session's string: path of the image, or a name
    /// @param build    the same: its build id, 0 for none
    /// @param address  where the code begins, at link time
    public int add(int function, int image, int build, long address) {
        long row = Scratch.address();
        Memory.putLong(row + PcFrameDescriptor.SAMPLES, 0);
        Memory.putLong(row + PcFrameDescriptor.ADDRESS, address);
        Memory.putInt(row + PcFrameDescriptor.FUNCTION, function);
        Memory.putInt(row + PcFrameDescriptor.IMAGE, image);
        Memory.putLong(row + PcFrameDescriptor.BUILD, Integer.toUnsignedLong(build));
        return api.addPcFrame(row);
    }

    /// Frames of addresses may be others: they will be asked for again.
    public void forget() {
        api.forgetPcFrames();
    }

    /// How many bytes a process says of code that it has made at run time, in `/tmp/perf-PID.map`; 0 where it says
    /// nothing.
    public long codeMapSize(int pid) {
        return Math.max(0, api.readPerfMap(pid, 0, 0));
    }

    /// These bytes, at most so many; none where others may have written them.
    public byte[] codeMap(int pid, int limit) {
        int size = (int) Math.min(codeMapSize(pid), limit);
        if (size == 0) {
            return new byte[0];
        }
        try (Arena arena = Arena.ofConfined()) {
            long text = arena.allocate(size).address();
            long read = api.readPerfMap(pid, text, size);
            return Memory.copy(text, Math.clamp(read, 0, size));
        }
    }

    private static String reason(int errno) {
        return switch (errno) {
            case PerfEvents.EACCES -> PerfEvents.refusal(PerfEvents.paranoid(), PerfEvents.SAMPLING_MAX, "them");
            case PerfEvents.EPERM ->
                "perf_event_open is forbidden here, as in many containers, or no more memory may be locked";
            case PerfEvents.EBADF -> "unshare is refused here, so the agent has no descriptors of its own";
            case PerfEvents.EINVAL -> "this kernel cannot end them when a program executes another: Linux 5.13 can";
            case PerfEvents.EMFILE -> "the process may not have a descriptor for each thread and processor: ulimit -n";
            default -> "perf_event_open is refused: errno " + errno;
        };
    }
}
