package org.mdlagent.profiler.report.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CyclesTest {
    private static final int[] NOTHING = {};

    @Test
    void shouldJoinWhatLeadsToEachOther() {
        Cycles cycles = new Cycles(List.of(new int[] {1}, new int[] {2}, new int[] {0, 3}, NOTHING, new int[] {4}));
        assertThat(cycles.join(0, 2)).isTrue();
        assertThat(cycles.join(2, 3)).isFalse();
        assertThat(cycles.join(4, 4)).isTrue();
        assertThat(cycles.join(4, 3)).isFalse();
    }

    /// Beside reachability by paths, which is the definition.
    @Test
    void shouldDoSoInGraphsOfAnyShape() {
        SplittableRandom random = new SplittableRandom(1);
        for (int round = 0; round < 200; round++) {
            int nodes = random.nextInt(1, 12);
            List<int[]> edges = new ArrayList<>();
            boolean[][] leads = new boolean[nodes][nodes];
            for (int from = 0; from < nodes; from++) {
                edges.add(random.ints(random.nextInt(3), 0, nodes).toArray());
                leads[from][from] = true;
                for (int to : edges.get(from)) {
                    leads[from][to] = true;
                }
            }
            for (int by = 0; by < nodes; by++) {
                for (int from = 0; from < nodes; from++) {
                    for (int to = 0; to < nodes; to++) {
                        leads[from][to] |= leads[from][by] && leads[by][to];
                    }
                }
            }
            Cycles cycles = new Cycles(edges);
            for (int one = 0; one < nodes; one++) {
                for (int other = 0; other < nodes; other++) {
                    assertThat(cycles.join(one, other)).isEqualTo(leads[one][other] && leads[other][one]);
                }
            }
        }
    }

    @Test
    void shouldFollowChainsDeeperThanAStack() {
        int nodes = 200_000;
        List<int[]> ring = IntStream.range(0, nodes)
                .mapToObj(node -> new int[] {(node + 1) % nodes})
                .toList();
        assertThat(new Cycles(ring).join(0, nodes - 1)).isTrue();
    }
}
