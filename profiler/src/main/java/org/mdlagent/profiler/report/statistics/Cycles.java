package org.mdlagent.profiler.report.statistics;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/// Mutual recursion: the strongly connected components of a graph (Tarjan, "Depth-First Search and Linear
/// Graph Algorithms", 1972), computed iteratively.
final class Cycles {
    private static final int UNSEEN = -1;

    private final List<int[]> neighbours;

    /// By node: the order in which it was met, and the earliest open node that it leads back to.
    private final int[] met;

    private final int[] back;

    /// By node: the number of its component; [#UNSEEN] until known.
    private final int[] component;

    private final Deque<Integer> open = new ArrayDeque<>();
    private int meetings;

    /// @param neighbours by node: the targets of its edges, or for all nodes the sources
    Cycles(List<int[]> neighbours) {
        this.neighbours = neighbours;
        met = new int[neighbours.size()];
        back = new int[met.length];
        component = new int[met.length];
        Arrays.fill(met, UNSEEN);
        Arrays.fill(component, UNSEEN);
        for (int node = 0; node < met.length; node++) {
            if (met[node] == UNSEEN) {
                walk(node);
            }
        }
    }

    /// Whether two nodes are in one component. A node is always in its own.
    boolean join(int one, int other) {
        return component[one] == component[other];
    }

    private void walk(int root) {
        Deque<int[]> path = new ArrayDeque<>();
        path.push(meet(root));
        while (!path.isEmpty()) {
            int[] step = path.peek();
            int node = step[0];
            int[] next = neighbours.get(node);
            if (step[1] == next.length) {
                path.pop();
                leave(node);
                if (!path.isEmpty()) {
                    int before = path.peek()[0];
                    back[before] = Math.min(back[before], back[node]);
                }
            } else {
                int to = next[step[1]++];
                if (met[to] == UNSEEN) {
                    path.push(meet(to));
                } else if (component[to] == UNSEEN) {
                    back[node] = Math.min(back[node], met[to]);
                }
            }
        }
    }

    /// @return the node, and the number of its edges followed
    private int[] meet(int node) {
        met[node] = meetings;
        back[node] = meetings++;
        open.push(node);
        return new int[] {node, 0};
    }

    /// If the node leads to no earlier open node, it and all open nodes met since are a component.
    private void leave(int node) {
        if (back[node] == met[node]) {
            int member;
            do {
                member = open.pop();
                component[member] = node;
            } while (member != node);
        }
    }
}
