package org.mdlagent.calibrator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.calibrator.Processors.Distance;
import org.mdlagent.calibrator.Processors.Pair;

/// Which processors are measured against which.
class ProcessorsTest {
    @TempDir
    private Path system;

    /// Two sockets of four cores with two threads each, numbered as Linux does: the second threads last.
    private Processors machine() throws IOException {
        for (int number = 0; number < 16; number++) {
            int core = number % 8;
            Path topology = Files.createDirectories(system.resolve("cpu" + number + "/topology"));
            Files.writeString(topology.resolve("physical_package_id"), core / 4 + "\n");
            Files.writeString(topology.resolve("thread_siblings_list"), core + "," + (core + 8) + "\n");
        }
        return Processors.of(IntStream.range(0, 16).boxed().toList(), system);
    }

    @Test
    void shouldReadListsOfTheKernel() {
        assertThat(Processors.numbers("\t0-3,8,10-11\n")).containsExactly(0, 1, 2, 3, 8, 10, 11);
        assertThat(Processors.numbers("0")).containsExactly(0);
        assertThat(Processors.numbers("-1")).containsExactly(-1);
    }

    @Test
    void shouldTellHowFarProcessorsAreFromEachOther() throws IOException {
        List<Processors.Processor> list = machine().list();

        assertThat(new Pair(list.get(0), list.get(8)).distance()).isEqualTo(Distance.SIBLING);
        assertThat(new Pair(list.get(0), list.get(3)).distance()).isEqualTo(Distance.SOCKET);
        assertThat(new Pair(list.get(0), list.get(4)).distance()).isEqualTo(Distance.OTHER_SOCKET);
    }

    @Test
    void shouldMeasureSomePairsOfEveryDistance() throws IOException {
        List<Pair> pairs = machine().pairs(4);

        Map<Distance, Long> count =
                pairs.stream().collect(Collectors.groupingBy(Pair::distance, Collectors.counting()));
        assertThat(count)
                .containsExactlyInAnyOrderEntriesOf(
                        Map.of(Distance.SIBLING, 4L, Distance.SOCKET, 4L, Distance.OTHER_SOCKET, 4L));
        assertThat(pairs).doesNotHaveDuplicates();
    }

    @Test
    void shouldMeasureTwoProcessorsBothWays() throws IOException {
        machine();
        Processors two = Processors.of(List.of(0, 1), system);

        assertThat(two.pairs(4))
                .extracting(
                        pair -> pair.writer().number(), pair -> pair.executor().number())
                .containsExactlyInAnyOrder(tuple(0, 1), tuple(1, 0));
    }

    @Test
    void shouldLetProcessorsOfEveryDistanceExecute() throws IOException {
        Processors processors = machine();

        assertThat(processors.executors(4))
                .containsExactly(8, 1, 4, 2)
                .doesNotContain(processors.patcher().number());
        assertThat(processors.executors(100)).hasSize(15).doesNotHaveDuplicates();
    }

    @Test
    void shouldKnowTheProcessorsOfThisProcess() throws IOException {
        assertThat(Processors.ofProcess().list()).hasSize(Runtime.getRuntime().availableProcessors());
    }
}
