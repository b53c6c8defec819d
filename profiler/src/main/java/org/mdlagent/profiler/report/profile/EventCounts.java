package org.mdlagent.profiler.report.profile;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;

/// How often an event of the kernel came to the program's threads, in all.
///
/// @param event        perf's name of it
/// @param count        all of them, except lost ones
/// @param lost         known to have come, but not where
/// @param withoutStack of `count`: only their innermost function is known. The tree has them on the path of the
///     last event before them in the same thread and function
/// @param paths        with events in place of nanoseconds
public record EventCounts(String event, long count, long lost, long withoutStack, CallTree paths) {

    /// For a session without events.
    public static final EventCounts NONE = new EventCounts("", 0, 0, 0, CallTree.NONE);

    /// A function's events.
    ///
    /// @param self in its own code
    /// @param all  also in functions that it has called; an estimate if some events have no stack
    public record OfFunction(CodeFrame function, long self, long all) {}

    /// The functions with events, those with the most first.
    public List<OfFunction> functions() {
        IdentityHashMap<CodeFrame, long[]> sums = new IdentityHashMap<>();
        for (CallTree.Node node : paths.nodes()) {
            sums.computeIfAbsent(node.frame(), absent -> new long[2])[0] += node.selfNanos();
            if (!isAbove(node)) {
                sums.computeIfAbsent(node.frame(), absent -> new long[2])[1] += node.nanos();
            }
        }
        List<OfFunction> functions = new ArrayList<>();
        sums.forEach((frame, sum) -> functions.add(new OfFunction(frame, sum[0], sum[1])));
        functions.sort(Comparator.comparingLong(OfFunction::self)
                .thenComparingLong(OfFunction::all)
                .reversed()
                .thenComparing(of -> of.function.name()));
        return functions;
    }

    @SuppressWarnings("ReferenceEquality") // there is one frame of each function
    private static boolean isSame(CodeFrame one, CodeFrame other) {
        return one == other;
    }

    /// Whether the node's function is on its path before: it has been counted there.
    private boolean isAbove(CallTree.Node node) {
        for (CallTree.Node at = node.parent(); !paths.isRoot(at); at = at.parent()) {
            if (isSame(at.frame(), node.frame())) {
                return true;
            }
        }
        return false;
    }
}
