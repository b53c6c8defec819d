package org.mdlagent.profiler.report.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Counts that follow from others.
class FlowSolverTest {
    private static final int NODES = 40;
    private static final int EDGES = 120;
    private static final int WALKS = 50;

    /// Walks through random graphs: what walks count on the edges outside of a spanning tree gives the rest.
    @Test
    void shouldFindTheCountsOfASpanningTree() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            int[] from = new int[EDGES];
            int[] to = new int[EDGES];
            for (int edge = 0; edge < EDGES; edge++) {
                from[edge] = edge < NODES ? edge : random.nextInt(NODES);
                to[edge] = random.nextInt(NODES);
            }
            long[] counts = new long[EDGES];
            for (int walk = 0; walk < WALKS; walk++) {
                walk(from, to, counts, random);
            }

            assertThat(solved(from, to, counts, random)).isEqualTo(counts);
        }
    }

    /// From node 0 until it is back there, or not at all.
    private static void walk(int[] from, int[] to, long[] counts, Random random) {
        List<Integer> path = new ArrayList<>();
        int node = 0;
        do {
            int edge;
            do {
                edge = random.nextInt(EDGES);
            } while (from[edge] != node);
            path.add(edge);
            node = to[edge];
        } while (node != 0 && path.size() < 10_000);
        if (node == 0) {
            path.forEach(edge -> counts[edge]++);
        }
    }

    private static long[] solved(int[] from, int[] to, long[] counts, Random random) {
        int[] parent = new int[NODES];
        for (int node = 0; node < NODES; node++) {
            parent[node] = node;
        }
        List<Integer> order = new ArrayList<>();
        for (int edge = 0; edge < EDGES; edge++) {
            order.add(edge);
        }
        Collections.shuffle(order, random);
        FlowSolver solver = new FlowSolver(NODES, EDGES);
        for (int edge : order) {
            int one = root(parent, from[edge]);
            int other = root(parent, to[edge]);
            parent[one] = other;
            if (one == other) {
                solver.known(edge, from[edge], to[edge], counts[edge]);
            } else {
                solver.unknown(edge, from[edge], to[edge]);
            }
        }
        return solver.solve();
    }

    private static int root(int[] parent, int node) {
        return parent[node] == node ? node : root(parent, parent[node]);
    }

    @Test
    void shouldLeaveWhatDoesNotFollow() {
        FlowSolver solver = new FlowSolver(3, 3);
        solver.unknown(0, 1, 2);
        solver.unknown(1, 2, 1);
        solver.known(2, 0, 1, 5);

        assertThat(solver.solve()).containsExactly(0, 0, 5);
    }
}
