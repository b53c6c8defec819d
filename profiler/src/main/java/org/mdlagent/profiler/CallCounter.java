package org.mdlagent.profiler;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.install.Tier;

/// Counts calls and times none: all calls, or, for coverage, the first call of each function.
///
/// Machine code does all of it. A function's probe is on under a lease (`lease.c`). Counts have a lease without an end.
/// Coverage has a lease of no duration: the first call finds that it is over, is counted, and switches the probe off by
/// one store.
///
/// Used by one thread, the agent's.
public final class CallCounter implements Collector {
    /// Poll interval. For coverage it doubles up to the last one, because there is less and less to do: a poll takes
    /// half a millisecond, and the cost of coverage must stay below 0.1 % of a processor.
    private static final double FIRST_POLL_NANOS = 500e6;

    private static final double LAST_POLL_NANOS = 5e9;

    /// In ticks: longer than a process lives, and no overflow when it is added to the time-stamp counter.
    private static final long FOREVER = 1L << 62;

    private final NativeApi api;
    private final Probes probes;
    private final boolean coverage;
    private final EnteredCalls entered;
    private final ArmList changes;
    private final BitSet ended = new BitSet();
    private int known;
    private double pollNanos = FIRST_POLL_NANOS;

    /// @param coverage whether the first call of each function is enough
    public CallCounter(NativeApi api, Probes probes, boolean coverage) {
        this.api = api;
        this.probes = probes;
        this.coverage = coverage;
        entered = new EnteredCalls(api.session());
        changes = new ArmList(api);
    }

    @Override
    public void open(List<Integer> functions, boolean whole) {
        probes.activateOpenedUnknown();
        for (int function : functions) {
            if (function >= known || !whole) {
                Memory.putInt(probes.function(function) + FunctionDescriptor.WHOLE, whole ? 1 : 0);
            }
        }
        known = probes.functionCount();
        functions.forEach(ended::clear);
        arm(functions.stream().filter(function -> !probes.isLeftOut(function)).toList());
        pollNanos = FIRST_POLL_NANOS;
    }

    /// Switches on the probes that still have something to tell.
    private void arm(List<Integer> functions) {
        long[] calls = coverage ? entered.read(probes.functionCount()) : new long[0];
        changes.clear();
        for (int function : functions) {
            if (!coverage || calls[function] == 0) {
                changes.add(function, coverage ? 0 : FOREVER);
            }
        }
        changes.arm();
    }

    @Override
    public void reopen(List<Integer> functions) {
        arm(leaveOut(functions, false));
    }

    @Override
    public void close(List<Integer> functions) {
        changes.disarm(leaveOut(functions, true));
    }

    /// @return those for which this is a change
    private List<Integer> leaveOut(List<Integer> functions, boolean out) {
        List<Integer> changed = functions.stream()
                .filter(function -> probes.isLeftOut(function) != out)
                .toList();
        for (int function : changed) {
            probes.leaveOut(function, out);
            Memory.putInt(probes.function(function) + FunctionDescriptor.WHOLE, 0);
        }
        return changed;
    }

    @Override
    public void setTier(List<Integer> functions, Tier tier) {
        throw new IllegalArgumentException("calls are only counted in this session");
    }

    @Override
    public double tick() {
        changes.disarm(probes.adoptLearnedSites());
        api.renewClocks();
        if (!coverage) {
            return FIRST_POLL_NANOS;
        }
        endLeases();
        double next = pollNanos;
        pollNanos = Math.min(2 * pollNanos, LAST_POLL_NANOS);
        return next;
    }

    /// Ends what first calls leave: jumps at entries that no single store removes, and leases that the calls cannot
    /// end (in processes that gave up rights, and on small stacks).
    private void endLeases() {
        long[] calls = entered.read(probes.functionCount());
        List<Integer> called = new ArrayList<>();
        for (int function = 0; function < calls.length; function++) {
            if (calls[function] > 0 && !ended.get(function)) {
                ended.set(function);
                called.add(function);
            }
        }
        changes.disarm(called);
    }

    /// Counts are not kept by slices of time.
    @Override
    public boolean settle() {
        return false;
    }
}
