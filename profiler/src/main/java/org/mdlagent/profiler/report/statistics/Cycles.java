package org.mdlagent.profiler.report.statistics;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/// Which functions call themselves by way of others: the strongly connected components of a graph (Tarjan,
/// "Depth-First Search and Linear Graph Algorithms", 1972), without recursion of its own.
final class Cycles {
    private static final int UNSEEN = -1;

    private final List<int[]> neighbours;

    /// By node: when it was met first, and the first one that it leads back to.
    private final int[] met;

    private final int[] back;

    /// By node: a number that all nodes of its component have; [#UNSEEN] until that is known.
    private final int[] component;

    private final Deque<Integer> open = new ArrayDeque<>();
    private int meetings;

    /// @param neighbours by node: where its edges lead, all of them the same way
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

    /// Whether two nodes lead to each other. A node leads to itself.
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

    /// @return the node, and how many of its edges have been followed
    private int[] meet(int node) {
        met[node] = meetings;
        back[node] = meetings++;
        open.push(node);
        return new int[] {node, 0};
    }

    /// All that was met since and is open leads back to it, if it leads to nothing before it.
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
