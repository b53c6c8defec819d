package org.mdlagent.profiler;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.mdlagent.arch.Memory;
import org.mdlagent.arch.NativeApi;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.fastinst.Probes;

/// The sampled latency profiler ("Living on the Edge", PLDI 2016, section 9), with windows of time instead of windows
/// of calls.
///
/// Every function is open or windowed. An *open* one is called so rarely that its probes stay on: its count of calls
/// is exact. A *windowed* one has its probes on for a short while in each epoch. In either state the first
/// `sampleSize` calls of an epoch are timed, the others only counted.
///
/// The calls of a windowed function are estimated by the ratio of its calls in windows to the program's progress in
/// windows, times all progress ([CallEstimate], [ProgressClock]). Three things would spoil it, and are why it is done
/// so:
///
/// - A window that ends with its n-th call, as in the paper, favours bursts. So its end does not depend on the calls
///   in it.
/// - On a busy machine the agent opens a window while it has a processor and the program has not. So progress is CPU
///   time, and not elapsed time.
/// - While many probes are on, the program is slower. So only a part of the functions have their windows at the same
///   time, and progress accounts for the rest.
///
/// The agent ends a window. Should it be late, the trampolines switch themselves off ([#LONGEST_FACTOR]), and the
/// window does not count.
///
/// Used by one thread, the agent's.
public final class SampledProfiler {
    /// Functions are divided into so many groups, whose windows open one group after the other within an epoch.
    public static final int GROUPS = 2;

    /// Kinds of windows: short ones for the functions that are called most.
    public static final int KINDS = 2;

    private static final long[] WINDOW_NANOS_MAX = {500_000, 2_500_000};

    /// Windows take at most this part of the time between two ticks.
    private static final double[] WINDOW_PART_MAX = {0.2, 0.6};

    /// Windows end by themselves after so many times their length.
    private static final int LONGEST_FACTOR = 4;

    /// Calls that a window should see, as a multiple of those that are timed; what sees fewer gets a longer window.
    private static final int CALLS_PER_SAMPLE = 4;

    /// Predicted cost of windows, in ticks: of a call (measured with one function that does nothing, called in a
    /// loop), of timing it, and of fetching what was just written to switch a function on (with 200
    /// functions called in turn, so that the estimates come out right).
    private static final double COUNTED_TICKS = 7.7;

    private static final double TIMED_TICKS = 120;
    private static final double FETCH_TICKS = 800;

    /// Few, so that phases of the program stay apart; and a fixed number, for one that depends on what they show
    /// would make the estimate biased.
    private static final int WINDOWS_PER_BLOCK = 4;

    private static final int OPEN = -1;
    private static final double RATE_WEIGHT = 0.3;
    private static final long NO_DEADLINE = Long.MAX_VALUE;

    private final NativeApi api;
    private final Probes probes;
    private final RingDrain drain;
    private final int sampleSize;
    private final double ticksPerNano;
    private final long[] windowNanos = new long[KINDS];
    private final long header;

    /// By function: kind of its window, or [#OPEN].
    private final byte[] kinds;

    /// By function: calls so far, now, at the last look before, and when the windows were last opened.
    private final long[] calls;

    private final long[] callsBefore;

    private final long[] callsAtOpening;
    private final long[] scratch;

    /// By open function: calls that are in its estimate.
    private final long[] callsEstimated;

    /// Calls for each nanosecond of progress, smoothed.
    private final double[] rates;

    private final CallEstimate[] estimates;

    /// By function: calls that its samples so far stand for, those that the next ones will, and how many these are.
    private final double[] drained;

    private final double[] undrained;
    private final int[] timed;

    private final ProgressClock progress;
    private double progressAtTick;
    private double progressAtOpening;
    private double cpuAtOpening;
    private long openingTsc;
    private int tick;

    /// The functions whose windows this tick has opened, by kind; as indices for the shim they start at `armed`.
    private final int[] opened = new int[KINDS];

    private final long armed;
    private final long longest;

    /// @param sampleSize calls timed in each window
    /// @param tickNanos  time between two calls of [#tick], on average
    /// @param tscHz      frequency of the time-stamp counter, roughly
    public SampledProfiler(NativeApi api, Probes probes, int sampleSize, long tickNanos, double tscHz) {
        this.api = api;
        this.probes = probes;
        this.sampleSize = sampleSize;
        ticksPerNano = tscHz / 1e9;
        for (int kind = 0; kind < KINDS; kind++) {
            windowNanos[kind] = (long) Math.min(WINDOW_NANOS_MAX[kind], WINDOW_PART_MAX[kind] * tickNanos);
        }
        header = api.session();
        drain = new RingDrain(api);
        int functions = probes.functionCount();
        kinds = new byte[functions];
        calls = new long[functions];
        callsBefore = new long[functions];
        callsAtOpening = new long[functions];
        scratch = new long[functions];
        callsEstimated = new long[functions];
        rates = new double[functions];
        estimates = new CallEstimate[functions];
        drained = new double[functions];
        undrained = new double[functions];
        timed = new int[functions];
        progress = new ProgressClock(api.programCpuNanos());
        armed = Arena.global().allocate(ValueLayout.JAVA_INT, functions).address();
        longest = Arena.global().allocate(ValueLayout.JAVA_LONG, functions).address();
    }

    /// Length of a kind of window.
    public long windowNanos(int kind) {
        return windowNanos[kind];
    }

    /// Opens every function.
    public void start() {
        probes.activateUnknown();
        Arrays.fill(kinds, (byte) OPEN);
        for (int i = 0; i < kinds.length; i++) {
            estimates[i] = new CallEstimate();
            arm(i, i, NO_DEADLINE);
        }
        long unused = api.arm(armed, longest, kinds.length);
    }

    /// Drains the rings, renews the samples of open functions and opens the windows of the next group.
    public void tick() {
        probes.adoptLearnedSites();
        advance(false);
        int group = tick++ % GROUPS;
        estimateOpen(group);
        drainRings();
        openWindows(group);
        api.renewClocks();
    }

    private void drainRings() {
        for (int i = 0; i < undrained.length; i++) {
            undrained[i] = estimates[i].calls(progress.now()) - drained[i];
        }
        long samples = header + HeaderDescriptor.SAMPLES;
        Memory.putLong(samples, Memory.getLong(samples) + drain.drain(undrained, timed));
        for (int i = 0; i < undrained.length; i++) {
            drained[i] += timed[i] > 0 ? undrained[i] : 0;
        }
    }

    private void estimateOpen(int group) {
        double passed = progress.now() - progressAtTick;
        int closing = 0;
        for (int i = 0; i < kinds.length; i++) {
            if (kinds[i] != OPEN) {
                publish(i);
                continue;
            }
            long fresh = calls[i] - callsEstimated[i];
            if (fresh == 0) {
                continue;
            }
            callsEstimated[i] = calls[i];
            estimates[i].addExact(fresh);
            publish(i);
            // A single tick decides: a burst must not go on for long.
            rates[i] = passed > 0 ? fresh / passed : 0;
            kinds[i] = (byte) kindFor(rates[i]);
            if (kinds[i] != OPEN) {
                estimates[i].startBlock(progress.now(), rates[i]);
                arm(closing++, i, 0);
            } else if (i % GROUPS == group) {
                Memory.putInt(probes.function(i) + FunctionDescriptor.REMAINING, sampleSize);
            }
        }
        long unused = api.disarm(armed, closing);
        progressAtTick = progress.now();
    }

    private void publish(int function) {
        long record = probes.function(function);
        CallEstimate estimate = estimates[function];
        Memory.putDouble(record + FunctionDescriptor.CALLS, estimate.calls(progress.now()));
        Memory.putDouble(record + FunctionDescriptor.CALLS_VARIANCE, estimate.variance(progress.now()));
    }

    private void openWindows(int group) {
        int count = 0;
        for (int kind = 0; kind < KINDS; kind++) {
            opened[kind] = 0;
            for (int i = group; i < kinds.length; i += GROUPS) {
                if (kinds[i] == kind) {
                    arm(count++, i, longestTicks(kind));
                    opened[kind]++;
                }
            }
        }
        openingTsc = api.tsc();
        long unused = api.arm(armed, longest, count);
        advance(false);
        System.arraycopy(calls, 0, callsAtOpening, 0, calls.length);
        progressAtOpening = progress.now();
        cpuAtOpening = progress.cpu();
    }

    /// Ends the windows of a kind; to be called [#windowNanos] after [#tick], for each kind in turn.
    public void close(int kind) {
        advance(kind == 0);
        int first = kind == 0 ? 0 : opened[0];
        double observed = progress.cpu() - cpuAtOpening;
        double slowdown = observed > 0 ? observed / (progress.now() - progressAtOpening) : 1;
        // All or none: only those that were called late have ended by themselves.
        boolean late = api.tsc() - openingTsc > longestTicks(kind);
        for (int i = first; i < first + opened[kind] && !late; i++) {
            observe(armedFunction(i), observed, slowdown);
        }
        long unused = api.disarm(armed + (long) first * Integer.BYTES, opened[kind]);
        for (int i = first; i < first + opened[kind]; i++) {
            if (kinds[armedFunction(i)] == OPEN) {
                reopen(i);
            }
        }
    }

    private void observe(int function, double observed, double slowdown) {
        // What the window would have seen without slowdown. A slow window must not count for less than another.
        double count = (calls[function] - callsAtOpening[function]) * slowdown;
        CallEstimate estimate = estimates[function];
        estimate.addWindow(count, observed);
        if (estimate.windows() == WINDOWS_PER_BLOCK) {
            estimate.endBlock(progress.now());
        }
        if (observed > 0) {
            rates[function] += RATE_WEIGHT * (count / observed - rates[function]);
        }
        int next = kindFor(rates[function]);
        // Half as much before a function is opened again, so that it does not change to and fro.
        kinds[function] = (byte) (next == OPEN && kindFor(2 * rates[function]) != OPEN ? KINDS - 1 : next);
    }

    private void reopen(int position) {
        int function = armedFunction(position);
        estimates[function].endBlock(progress.now());
        estimates[function].startBlock(progress.now(), 0);
        callsEstimated[function] = calls[function];
        arm(position, function, NO_DEADLINE);
        long unused = api.arm(armed + (long) position * Integer.BYTES, longest + (long) position * Long.BYTES, 1);
    }

    /// Reads all counts of calls, and advances the clock of progress up to now.
    ///
    /// @param fresh whether the windows that are open were opened since the last call
    private void advance(boolean fresh) {
        long cpu = api.programCpuNanos();
        System.arraycopy(calls, 0, callsBefore, 0, calls.length);
        readCalls();
        double probeTicks = 0;
        for (int i = 0; i < calls.length; i++) {
            long count = calls[i] - callsBefore[i];
            if (kinds[i] != OPEN && count > 0) {
                probeTicks += count * COUNTED_TICKS;
                probeTicks += fresh ? FETCH_TICKS + Math.min(count, sampleSize) * TIMED_TICKS : 0;
            }
        }
        progress.advance(cpu, probeTicks / ticksPerNano);
    }

    private void readCalls() {
        Arrays.fill(calls, 0);
        long thread = Memory.getLongAcquire(header + HeaderDescriptor.THREADS);
        for (; thread != 0; thread = Memory.getLong(thread + ThreadDescriptor.NEXT)) {
            Memory.copy(Memory.getLong(thread + ThreadDescriptor.CALLS), scratch);
            for (int i = 0; i < calls.length; i++) {
                calls[i] += scratch[i];
            }
        }
    }

    private int kindFor(double rate) {
        for (int kind = 0; kind < KINDS; kind++) {
            if (rate * windowNanos[kind] >= CALLS_PER_SAMPLE * sampleSize) {
                return kind;
            }
        }
        return OPEN;
    }

    private void arm(int position, int function, long longestTicks) {
        Memory.putInt(armed + (long) position * Integer.BYTES, function);
        Memory.putLong(longest + (long) position * Long.BYTES, longestTicks);
    }

    private long longestTicks(int kind) {
        return (long) (LONGEST_FACTOR * windowNanos[kind] * ticksPerNano);
    }

    private int armedFunction(int position) {
        return Memory.getInt(armed + (long) position * Integer.BYTES);
    }
}
