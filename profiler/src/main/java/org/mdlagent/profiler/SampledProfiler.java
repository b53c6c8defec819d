package org.mdlagent.profiler;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
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
/// is exact. The *windowed* ones are divided into groups, and take turns: the probes of one group are on at any time.
/// In either state the first `sampleSize` calls of an epoch are timed, the others only counted.
///
/// The calls of a windowed function are its calls in windows, scaled by the program's CPU time over its CPU time in
/// these windows ([CallEstimate]). Three things would spoil that, and are why it is done so:
///
/// - A window that ends with its n-th call, as in the paper, favours bursts. So its end does not depend on the calls
///   in it.
/// - On a busy machine the agent opens a window while it has a processor and the program has not. So CPU time counts,
///   and not elapsed time.
/// - Probes that are on make the program slower. So always one group is on, and it is about as slow in windows as
///   between them; what a group costs more or less than others is predicted.
///
/// The agent ends a window. Should it be late, the trampolines switch themselves off ([#LONGEST_FACTOR]), and the
/// window does not count.
///
/// Used by one thread, the agent's.
public final class SampledProfiler {
    /// Turns in an epoch.
    public static final int GROUPS = 8;

    /// Windows end by themselves after so many times their length.
    private static final int LONGEST_FACTOR = 4;

    /// Calls that a window should see, as a multiple of those that are timed: a function with fewer is open.
    private static final int CALLS_PER_SAMPLE = 4;

    /// Few, so that phases of the program stay apart; and a fixed number, for one that depends on what they show
    /// would make the estimate biased.
    private static final int WINDOWS_PER_BLOCK = 4;

    /// Predicted cost of a call in a window, and what timing it adds, in ticks; measured with a function that does
    /// nothing.
    private static final double COUNTED_TICKS = 7;

    private static final double TIMED_TICKS = 100;

    /// However wrong the predicted cost is, this part of the CPU time was the program's.
    private static final double PASSED_MIN = 0.05;

    private static final double RATE_WEIGHT = 0.3;

    /// An open function's window ends by itself so long after the last sign of life of this profiler, should its
    /// process be killed and others of the family go on.
    private static final double LEASE_NANOS = 5e9;

    private static final int RENEWALS_PER_LEASE = 5;

    /// The first lease, as a multiple: the agent reads line tables before it comes back.
    private static final int FIRST_LEASE_FACTOR = 12;

    private final NativeApi api;
    private final Probes probes;
    private final RingDrain drain;
    private final int sampleSize;
    private final double windowNanos;
    private final double ticksPerNano;
    private final long longestTicks;
    private final long leaseTicks;
    private long renewalTsc;
    private final long header;

    private boolean[] windowed = {};

    /// By function: calls so far, now and when the windows were last opened.
    private long[] calls = {};

    private long[] callsAtOpening = {};
    private long[] scratch = {};

    /// By open function: calls that are in its estimate.
    private long[] callsEstimated = {};

    /// By windowed function: calls for each nanosecond of CPU time, smoothed.
    private double[] rates = {};

    private CallEstimate[] estimates = {};

    /// By function: calls that its samples so far stand for, those that the next ones will, and how many these are.
    private double[] drained = {};

    private double[] undrained = {};
    private int[] timed = {};

    /// CPU time of the program, in nanoseconds: now, when this epoch began, and when the windows were last opened.
    private long cpu;

    private long cpuAtEpoch;
    private long cpuAtOpening;
    private long openingTsc;
    private int tick;

    /// CPU time that windows have cost the program, as predicted, in nanoseconds.
    private double lost;

    /// Arguments for the shim: the functions whose windows are open, and how long these may last.
    private long armed;

    private long longest;
    private int opened;

    /// @param sampleSize calls timed in each window
    /// @param tickNanos  time between two calls of [#tick], on average
    /// @param tscHz      frequency of the time-stamp counter, roughly
    public SampledProfiler(NativeApi api, Probes probes, int sampleSize, long tickNanos, double tscHz) {
        this.api = api;
        this.probes = probes;
        this.sampleSize = sampleSize;
        windowNanos = tickNanos;
        ticksPerNano = tscHz / 1e9;
        longestTicks = (long) (LONGEST_FACTOR * tickNanos * ticksPerNano);
        leaseTicks = (long) (LEASE_NANOS * ticksPerNano);
        header = api.session();
        drain = new RingDrain(api);
    }

    /// Opens the functions that [Probes#follow] has brought. Windows that are open now end.
    ///
    /// @param whole whether none of their calls has been missed
    public void open(List<Integer> functions, boolean whole) {
        int before = windowed.length;
        readClockAndCalls();
        closeWindows();
        grow();
        probes.activateOpenedUnknown();
        int arming = 0;
        for (int function : functions) {
            if (function >= before || !whole) {
                Memory.putInt(probes.function(function) + FunctionDescriptor.WHOLE, whole ? 1 : 0);
            }
            if (!windowed[function] && !probes.isLeftOut(function)) {
                arm(arming++, function, FIRST_LEASE_FACTOR * leaseTicks);
            }
        }
        renewalTsc = api.tsc();
        long unused = api.arm(armed, longest, arming);
    }

    /// Begins to record functions, or leaves them out. Windows that are open now end.
    public void record(List<Integer> functions, boolean on) {
        readClockAndCalls();
        closeWindows();
        int changed = 0;
        for (int function : functions) {
            if (probes.isLeftOut(function) == on) {
                probes.leaveOut(function, !on);
                Memory.putInt(probes.function(function) + FunctionDescriptor.WHOLE, 0);
                endEstimate(function);
                arm(changed++, function, leaseTicks);
            }
        }
        long unused = on ? api.arm(armed, longest, changed) : api.disarm(armed, changed);
    }

    /// The function is open from now on, without calls.
    private void endEstimate(int function) {
        if (windowed[function]) {
            windowed[function] = false;
            estimates[function].endBlock(progress());
            estimates[function].startBlock(progress(), 0);
            callsEstimated[function] = calls[function];
        }
    }

    /// Sites that were found to be of functions that are left out are on still.
    private void keepOut(Set<Integer> functions) {
        int out = 0;
        for (int function : functions) {
            if (probes.isLeftOut(function)) {
                arm(out++, function, 0);
            }
        }
        long unused = api.disarm(armed, out);
    }

    /// Makes room for functions that have come.
    private void grow() {
        int before = windowed.length;
        int functions = probes.functionCount();
        if (before == 0 && functions > 0) {
            int most = Memory.getInt(header + HeaderDescriptor.FUNCTION_CAPACITY);
            armed = Arena.global().allocate(ValueLayout.JAVA_INT, most).address();
            longest = Arena.global().allocate(ValueLayout.JAVA_LONG, most).address();
        }
        windowed = Arrays.copyOf(windowed, functions);
        calls = Arrays.copyOf(calls, functions);
        callsAtOpening = Arrays.copyOf(callsAtOpening, functions);
        scratch = Arrays.copyOf(scratch, functions);
        callsEstimated = Arrays.copyOf(callsEstimated, functions);
        rates = Arrays.copyOf(rates, functions);
        estimates = Arrays.copyOf(estimates, functions);
        drained = Arrays.copyOf(drained, functions);
        undrained = Arrays.copyOf(undrained, functions);
        timed = Arrays.copyOf(timed, functions);
        for (int i = before; i < functions; i++) {
            estimates[i] = new CallEstimate();
        }
    }

    /// Ends the windows of one group and opens those of the next; at the end of an epoch, looks at the open
    /// functions.
    public void tick() {
        Set<Integer> learned = probes.adoptLearnedSites();
        readClockAndCalls();
        closeWindows();
        keepOut(learned);
        int group = tick++ % GROUPS;
        if (group == 0) {
            estimateOpen();
            renewLeases();
        }
        drainRings();
        openWindows(group);
        api.renewClocks();
    }

    private void closeWindows() {
        // All or none: only those that were called late have ended by themselves.
        boolean late = api.tsc() - openingTsc > longestTicks;
        double observed = cpu - cpuAtOpening;
        double slowdown = slowdown(observed);
        for (int i = 0; i < opened && !late; i++) {
            observe(armedFunction(i), observed, slowdown);
        }
        long unused = api.disarm(armed, opened);
        for (int i = 0; i < opened; i++) {
            if (!windowed[armedFunction(i)]) {
                reopen(i);
            }
        }
        opened = 0;
    }

    /// How much longer than without probes the program took for what it did in the window that ends, as predicted;
    /// what it lost is taken off the clock of its progress.
    private double slowdown(double observed) {
        double ticks = 0;
        for (int i = 0; i < opened; i++) {
            long count = calls[armedFunction(i)] - callsAtOpening[armedFunction(i)];
            ticks += count * COUNTED_TICKS + Math.min(count, sampleSize) * TIMED_TICKS;
        }
        double passed = Math.max(PASSED_MIN * observed, observed - ticks / ticksPerNano);
        lost += observed - passed;
        return observed > 0 ? observed / passed : 1;
    }

    /// CPU time that the program would have taken so far without windows, in nanoseconds.
    private double progress() {
        return cpu - lost;
    }

    private void observe(int function, double observed, double slowdown) {
        // What the window would have seen without slowdown. A slow window must not count for less than another.
        double count = (calls[function] - callsAtOpening[function]) * slowdown;
        CallEstimate estimate = estimates[function];
        estimate.addWindow(count, observed);
        if (estimate.windows() == WINDOWS_PER_BLOCK) {
            estimate.endBlock(progress());
        }
        if (observed > 0) {
            rates[function] += RATE_WEIGHT * (count / observed - rates[function]);
        }
        // Half as much before a function is opened again, so that it does not change to and fro.
        windowed[function] = isHot(2 * rates[function]);
    }

    private void reopen(int position) {
        int function = armedFunction(position);
        estimates[function].endBlock(progress());
        estimates[function].startBlock(progress(), 0);
        callsEstimated[function] = calls[function];
        arm(position, function, leaseTicks);
        long unused = api.arm(armed + (long) position * Integer.BYTES, longest + (long) position * Long.BYTES, 1);
    }

    /// Lets the windows of open functions last, and opens those anew that have ended by themselves, because the
    /// agent was stopped.
    private void renewLeases() {
        long now = api.tsc();
        if (now - renewalTsc < leaseTicks / RENEWALS_PER_LEASE) {
            return;
        }
        renewalTsc = now;
        int ended = 0;
        for (int i = 0; i < windowed.length; i++) {
            long record = probes.function(i);
            if (windowed[i] || probes.isLeftOut(i)) {
                continue;
            }
            Memory.putLong(record + FunctionDescriptor.DEADLINE, now + leaseTicks);
            if (Memory.getIntAcquire(record + FunctionDescriptor.STATE) != FunctionDescriptor.STATE_SAMPLING) {
                arm(ended++, i, leaseTicks);
            }
        }
        long unused = api.arm(armed, longest, ended);
    }

    /// Adds the calls of open functions to their estimates, renews their samples, and makes those that are hot
    /// windowed.
    private void estimateOpen() {
        double passed = cpu - cpuAtEpoch;
        cpuAtEpoch = cpu;
        int closing = 0;
        for (int i = 0; i < windowed.length; i++) {
            long fresh = calls[i] - callsEstimated[i];
            if (windowed[i] || fresh == 0 || probes.isLeftOut(i)) {
                continue;
            }
            callsEstimated[i] = calls[i];
            estimates[i].addExact(fresh);
            double rate = passed > 0 ? fresh / passed : 0;
            if (isHot(rate)) {
                windowed[i] = true;
                rates[i] = rate;
                estimates[i].startBlock(progress(), rate);
                arm(closing++, i, 0);
            } else {
                Memory.putInt(probes.function(i) + FunctionDescriptor.REMAINING, sampleSize);
            }
        }
        long unused = api.disarm(armed, closing);
    }

    private void drainRings() {
        for (int i = 0; i < undrained.length; i++) {
            double estimate = estimates[i].calls(progress());
            // Of an open function the calls since the last epoch are not in the estimate yet.
            double all = windowed[i] ? estimate : estimate + calls[i] - callsEstimated[i];
            undrained[i] = all - drained[i];
            if (undrained[i] != 0) {
                long record = probes.function(i);
                Memory.putDouble(record + FunctionDescriptor.CALLS, all);
                Memory.putDouble(record + FunctionDescriptor.CALLS_VARIANCE, estimates[i].variance(progress()));
            }
        }
        long samples = header + HeaderDescriptor.SAMPLES;
        Memory.putLong(samples, Memory.getLong(samples) + drain.drain(undrained, timed));
        for (int i = 0; i < undrained.length; i++) {
            drained[i] += timed[i] > 0 ? undrained[i] : 0;
        }
    }

    private void openWindows(int group) {
        for (int i = group; i < windowed.length; i += GROUPS) {
            if (windowed[i]) {
                arm(opened++, i, longestTicks);
            }
        }
        openingTsc = api.tsc();
        long unused = api.arm(armed, longest, opened);
        readClockAndCalls();
        System.arraycopy(calls, 0, callsAtOpening, 0, calls.length);
        cpuAtOpening = cpu;
    }

    private void readClockAndCalls() {
        cpu = api.programCpuNanos();
        Arrays.fill(calls, 0);
        long thread = Memory.getLongAcquire(header + HeaderDescriptor.THREADS);
        for (; thread != 0; thread = Memory.getLong(thread + ThreadDescriptor.NEXT)) {
            Memory.copy(Memory.getLong(thread + ThreadDescriptor.CALLS), scratch);
            for (int i = 0; i < calls.length; i++) {
                calls[i] += scratch[i];
            }
        }
    }

    private boolean isHot(double rate) {
        return rate * windowNanos >= CALLS_PER_SAMPLE * sampleSize;
    }

    private void arm(int position, int function, long longestTicks) {
        Memory.putInt(armed + (long) position * Integer.BYTES, function);
        Memory.putLong(longest + (long) position * Long.BYTES, longestTicks);
    }

    private int armedFunction(int position) {
        return Memory.getInt(armed + (long) position * Integer.BYTES);
    }
}
