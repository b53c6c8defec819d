package org.mdlagent.profiler.report.session;

/// Finds counts that have no counter: control that enters a node leaves it
/// ([org.mdlagent.arch.code.FunctionCopy]). The edges without a counter are a forest, so one edge after the
/// other is the only unknown one of a node.
///
/// Edges lead from node to node. Nothing is known of node 0, the outside.
final class FlowSolver {
    private final int[] from;
    private final int[] to;
    private final long[] counts;

    /// Of each node: what its edges with known counts bring, less what they take away; the number of the
    /// others; and the numbers of these, combined by exclusive or: the number of the last one, when there
    /// is one.
    private final long[] surplus;

    private final int[] unknown;
    private final int[] mixed;

    /// @param edges their number
    FlowSolver(int nodes, int edges) {
        from = new int[edges];
        to = new int[edges];
        counts = new long[edges];
        surplus = new long[nodes];
        unknown = new int[nodes];
        mixed = new int[nodes];
    }

    void known(int edge, int from, int to, long count) {
        this.from[edge] = from;
        this.to[edge] = to;
        set(edge, count);
    }

    void unknown(int edge, int from, int to) {
        this.from[edge] = from;
        this.to[edge] = to;
        change(edge, from, 1);
        change(edge, to, 1);
    }

    private void set(int edge, long count) {
        counts[edge] = count;
        surplus[to[edge]] += count;
        surplus[from[edge]] -= count;
    }

    private void change(int edge, int node, int by) {
        unknown[node] += by;
        mixed[node] ^= edge;
    }

    /// The count of each edge; 0 of those that do not follow. A count below 0 is that of a program that was
    /// in the middle of a block, or left it there.
    long[] solve() {
        for (int node = 1; node < unknown.length; node++) {
            int at = node;
            while (at != 0 && unknown[at] == 1) {
                int edge = mixed[at];
                long count = from[edge] == at ? surplus[at] : -surplus[at];
                int other = from[edge] == at ? to[edge] : from[edge];
                change(edge, at, -1);
                change(edge, other, -1);
                set(edge, count);
                at = other;
            }
        }
        return counts;
    }
}
