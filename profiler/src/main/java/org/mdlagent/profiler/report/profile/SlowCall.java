package org.mdlagent.profiler.report.profile;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;

/// A slow call, or a call in one, with the calls in it that took a considerable part of its time. Times are elapsed
/// times in nanoseconds.
///
/// @param tid        of the thread
/// @param startNanos since the session began
/// @param slow       whether it reached the threshold
/// @param cpuNanos   of `nanos`, at most so much on a processor; empty if unknown
/// @param cpuLagNanos how much less it may be: time between the last reading of the CPU clock and the call
/// @param waits      where the agent saw it wait, the longest wait first; not in calls whose callees have the same wait
/// @param callees    in the order of time
public record SlowCall(
        int pid,
        int tid,
        FunctionProfile function,
        long startNanos,
        long nanos,
        boolean slow,
        OptionalLong cpuNanos,
        long cpuLagNanos,
        List<CallTree.Wait> waits,
        List<SlowCall> callees) {
    /// Slow callees from which on a call is a loop around requests.
    private static final int LOOP_CALLEES = 4;

    public SlowCall {
        waits = List.copyOf(waits);
        callees = List.copyOf(callees);
    }

    /// The slow calls of a session.
    ///
    /// @param count     slow calls so far; the session keeps the newest
    /// @param cut       of these: some of their first callees are missing
    /// @param thresholdNanos from which on a call is slow; 0: its function's own p99.9
    /// @param calls     the kept ones that are not in another one, in the order of time
    public record All(long count, long cut, long thresholdNanos, List<SlowCall> calls) {
        /// Of a session that keeps none.
        public static final All NONE = new All(0, 0, 0, List.of());

        public All {
            calls = List.copyOf(calls);
        }

        /// The calls to show, the longest first: slow calls in no other one. A slow call with many slow callees
        /// is a loop around requests: these callees are shown in its place. Functions called once come last,
        /// because they are slow compared with no other call.
        public List<SlowCall> requests() {
            List<SlowCall> requests = new ArrayList<>();
            calls.forEach(call -> call.collect(true, requests));
            requests.sort(Comparator.comparing(
                            (SlowCall call) -> call.function().calls() <= 1)
                    .thenComparing(Comparator.comparingLong(SlowCall::nanos).reversed()));
            return requests;
        }
    }

    private void collect(boolean listed, List<SlowCall> requests) {
        boolean loop = callees.stream().filter(SlowCall::slow).count() >= LOOP_CALLEES;
        if (slow && listed && !loop) {
            requests.add(this);
        }
        callees.forEach(callee -> callee.collect(!slow || loop, requests));
    }

    /// When it returned, since the session began.
    public long endNanos() {
        return startNanos + nanos;
    }

    /// Time in its own code, in callees that were not kept, and in code without probes.
    public long ownNanos() {
        return Math.max(0, nanos - callees.stream().mapToLong(SlowCall::nanos).sum());
    }

    /// Time off the processors, by the CPU clock; empty if unknown.
    public OptionalLong waitNanos() {
        return cpuNanos.isPresent() ? OptionalLong.of(Math.max(0, nanos - cpuNanos.getAsLong())) : cpuNanos;
    }
}
