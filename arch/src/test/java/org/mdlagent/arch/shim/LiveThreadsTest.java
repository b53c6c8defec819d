package org.mdlagent.arch.shim;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.layout.ApiDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ProcessDescriptor;

/// Of a session in memory, with a table of the shim that has nothing else.
class LiveThreadsTest {
    private final MemorySegment table = Arena.global().allocate(ApiDescriptor.SIZE, Long.BYTES);
    private final MemorySegment session = Arena.global().allocate(HeaderDescriptor.SIZE, Long.BYTES);
    private final NativeApi api = api();

    private NativeApi api() {
        table.set(ValueLayout.JAVA_LONG, 0, ApiDescriptor.SIZE);
        table.set(ValueLayout.JAVA_LONG, ApiDescriptor.SESSION, session.address());
        return new NativeApi(table.address());
    }

    /// Adds a running process.
    ///
    /// @param forks number of forks that had begun before its own
    private MemorySegment process(int pid, long forks) {
        MemorySegment row = Arena.global().allocate(ProcessDescriptor.SIZE, Long.BYTES);
        row.set(ValueLayout.JAVA_INT, ProcessDescriptor.OWNER, pid);
        row.set(ValueLayout.JAVA_INT, ProcessDescriptor.PID, pid);
        row.set(ValueLayout.JAVA_LONG, ProcessDescriptor.FORKS, forks);
        row.set(
                ValueLayout.JAVA_LONG,
                ProcessDescriptor.NEXT,
                session.get(ValueLayout.JAVA_LONG, HeaderDescriptor.PROCESSES));
        session.set(ValueLayout.JAVA_LONG, HeaderDescriptor.PROCESSES, row.address());
        return row;
    }

    private boolean anyMissed(long forks) {
        return LiveThreads.anyForkedBefore(api, forks, Set.of(1));
    }

    @Test
    void shouldMissWhatWasBeingForked() {
        process(1, 0);
        process(2, 4);

        assertThat(anyMissed(5)).isTrue();
    }

    @Test
    void shouldMissNothingThatWasListedOrForkedLater() {
        process(1, 0);
        process(2, 5);

        assertThat(anyMissed(5)).isFalse();
    }

    @Test
    void shouldMissNothingThatHasEndedOrRunsElsewhere() {
        process(2, 0).set(ValueLayout.JAVA_INT, ProcessDescriptor.STATE, ProcessDescriptor.STATE_ENDED);
        process(3, 0).set(ValueLayout.JAVA_INT, ProcessDescriptor.FLAGS, ProcessDescriptor.FLAG_ELSEWHERE);

        assertThat(anyMissed(5)).isFalse();
    }

    @Test
    void shouldOpenAllAgainWhenAThreadHasAppeared() {
        Deque<List<Integer>> tids = new ArrayDeque<>(List.of(List.of(1), List.of(1, 2), List.of(2)));
        List<String> steps = new ArrayList<>();

        List<LiveThreads> opened = LiveThreads.open(
                () -> List.of(new LiveThreads(0, 1, tids.poll())),
                threads -> steps.add("open " + LiveThreads.tids(threads)),
                () -> steps.add("close"));

        assertThat(steps).containsExactly("open [1]", "close", "open [1, 2]");
        assertThat(LiveThreads.tids(opened)).containsExactly(1, 2);
    }

    @Test
    void shouldGiveUpOnAProgramThatAlwaysCreatesThreads() {
        AtomicInteger tid = new AtomicInteger();
        AtomicInteger opened = new AtomicInteger();

        List<LiveThreads> last = LiveThreads.open(
                () -> List.of(new LiveThreads(0, 1, List.of(tid.incrementAndGet()))),
                threads -> opened.incrementAndGet(),
                opened::decrementAndGet);

        assertThat(opened).as("the last try is not closed").hasValue(1);
        assertThat(LiveThreads.tids(last)).containsExactly(10);
    }
}
