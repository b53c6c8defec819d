package org.mdlagent.profiler.records;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.layout.EdgeDescriptor;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.RecordDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.calls.ReturnSite;

class RingDrainTest {
    private static final NativeApi API = NativeApi.ofHarness(Path.of("../native-shim/target/cmake/libmdl_harness.so"));
    private static final long HEADER = API.session();

    private static final int FUNCTIONS = 400;
    private static final int RECORDS = 256;

    /// Code of function 7, of function 8, and of none.
    private static final long IN_7 = 0x7000;

    private static final long IN_8 = 0x8000;
    private static final long ELSEWHERE = 0x9000;

    private final long functions = API.allocate(FUNCTIONS * FunctionDescriptor.SIZE);
    private final long thread = API.allocate(ThreadDescriptor.SIZE);
    private final long ring = API.allocate(RECORDS * RecordDescriptor.SIZE);
    private final SampleWeights weights = new SampleWeights();
    private final List<Long> asked = new ArrayList<>();

    /// What is asked of a call site.
    private LongFunction<ReturnSite> returnSites =
            address -> new ReturnSite(address == IN_7 ? 7 : address == IN_8 ? 8 : ReturnSite.NONE, ReturnSite.NONE);

    private final RingDrain drain = new RingDrain(API, address -> {
        asked.add(address);
        return returnSites.apply(address);
    });

    RingDrainTest() {
        for (int i = 0; i < FUNCTIONS; i++) {
            Memory.putInt(function(i) + FunctionDescriptor.INDEX, i);
        }
        Memory.putLong(HEADER + HeaderDescriptor.FUNCTIONS, functions);
        Memory.putLong(HEADER + HeaderDescriptor.THREADS, thread);
        Memory.putLong(thread + ThreadDescriptor.RING, ring);
        Memory.putLong(thread + ThreadDescriptor.RING_MASK, RECORDS - 1);
        weights.grow(FUNCTIONS);
    }

    @Test
    void shouldAddUpCallsByFunctionAndByCaller() {
        record(1, 100, IN_7);
        record(1, 250, IN_8);
        record(2, 5, IN_7);
        record(1, 200, IN_7);
        record(1, 100_000, ELSEWHERE);

        assertThat(drain()).isEqualTo(5);

        assertThat(edge(1, 7)).isEqualTo(new Sums(2, 300, 2));
        assertThat(edge(1, 8)).isEqualTo(new Sums(1, 250, 1));
        assertThat(edge(1, EdgeDescriptor.CALLER_NONE)).isEqualTo(new Sums(1, 100_000, 1));
        assertThat(edge(2, 7)).isEqualTo(new Sums(1, 5, 1));
        assertThat(tail()).isEqualTo(5);
    }

    @Test
    void shouldGoOnFromWhatAnEdgeHoldsAlready() {
        record(1, 100, IN_7);
        drain();
        RingDrain next = new RingDrain(API, returnSites);
        record(1, 50, IN_7);
        record(1, 70, IN_7);

        assertThat(next.drain(weights)).isEqualTo(2);

        assertThat(edge(1, 7)).isEqualTo(new Sums(3, 220, 3));
    }

    @Test
    void shouldMoveAsManyBatchesAsThereAre() {
        int calls = 3 * RingDrain.BATCH + 1;
        for (int i = 0; i < calls; i++) {
            record(1 + i / 10 % 3, 1, IN_7);
        }

        assertThat(drain()).isEqualTo(calls);

        assertThat(edge(1, 7).calls + edge(2, 7).calls + edge(3, 7).calls).isEqualTo(calls);
        assertThat(tail()).isEqualTo(calls);
    }

    @Test
    void shouldFollowTheRingAroundItsEnd() {
        skipTo(RECORDS - 3);
        long expected = 0;
        for (int i = 1; i <= 10; i++) {
            record(1, i, IN_7);
            expected += i;
        }

        assertThat(drain()).isEqualTo(10);

        assertThat(edge(1, 7)).isEqualTo(new Sums(10, expected, 10));
        assertThat(tail()).isEqualTo(RECORDS + 7);
    }

    @Test
    void shouldTakeNoRecordOfTheLastTimeAroundForANewOne() {
        for (int i = 0; i < RECORDS; i++) {
            record(1, 1, IN_7);
        }
        drain();
        record(1, 1, IN_7);
        long incomplete = reserve();
        record(1, 1, IN_7);

        assertThat(drain()).isEqualTo(1);
        assertThat(tail()).isEqualTo(incomplete);
    }

    @Test
    void shouldStopAtARecordThatIsIncompleteAndGoOnWhenItIsComplete() {
        record(1, 10, IN_7);
        record(2, 20, IN_7);
        long incomplete = reserve();
        record(1, 40, IN_7);

        assertThat(drain()).isEqualTo(2);
        assertThat(tail()).isEqualTo(incomplete);
        complete(incomplete, 1, 30, IN_7);
        assertThat(drain()).isEqualTo(2);

        assertThat(edge(1, 7)).isEqualTo(new Sums(3, 80, 3));
        assertThat(tail()).isEqualTo(4);
    }

    @Test
    void shouldPassOverWhatIsIncompleteInTwoDrains() {
        record(1, 10, IN_7);
        reserve();
        record(1, 40, IN_7);
        long next = reserve();

        assertThat(drain()).isEqualTo(1);
        assertThat(drain()).isEqualTo(1);

        assertThat(edge(1, 7)).isEqualTo(new Sums(2, 50, 2));
        assertThat(tail()).as("seen once").isEqualTo(next);
        assertThat(drain()).isZero();
        assertThat(tail()).as("seen twice").isEqualTo(next + 1);
    }

    @Test
    void shouldCountASampleAsOftenAsItsWeight() {
        weights.begin(1, 0);
        weights.set(1, 30, 10);
        record(1, 7, IN_7);
        record(1, 7, IN_7);

        drain();

        assertThat(edge(1, 7)).isEqualTo(new Sums(6, 42, 2));
    }

    @Test
    void shouldLeaveOutWhatThereIsNoMemoryFor() {
        record(1, 10, IN_7);
        drain();
        for (int function = 2; function <= CallEdges.BLOCK; function++) {
            record(function, 1, IN_7);
        }
        drain();
        record(1, 20, IN_7); // its edge is there
        record(1, 20, IN_8); // no edge
        record(1, 30, IN_7);
        long limit = Memory.getLong(HEADER + HeaderDescriptor.LIMIT);
        long refused = Memory.getLong(HEADER + HeaderDescriptor.ARENA_REFUSED);

        Memory.putLong(HEADER + HeaderDescriptor.LIMIT, Memory.getLong(HEADER + HeaderDescriptor.ARENA_NEXT));
        try {
            assertThat(drain()).isEqualTo(3);
        } finally {
            Memory.putLong(HEADER + HeaderDescriptor.LIMIT, limit);
        }

        assertThat(Memory.getLong(HEADER + HeaderDescriptor.ARENA_REFUSED)).isEqualTo(refused + 1);
        assertThat(edge(1, 7)).isEqualTo(new Sums(3, 60, 3));

        record(1, 20, IN_8);
        drain();
        assertThat(edge(1, 8)).as("there is memory again").isEqualTo(new Sums(1, 20, 1));
    }

    @Test
    void shouldPassNoRecordThatIsNotInItsEdgeWhenItIsStopped() {
        for (int i = 0; i < 2 * RingDrain.BATCH + 10; i++) {
            record(1, 1, IN_7);
        }
        record(1, 1, ELSEWHERE);
        returnSites = address -> {
            if (address == ELSEWHERE) {
                throw new IllegalStateException("as if killed");
            }
            return new ReturnSite(7, ReturnSite.NONE);
        };

        assertThatThrownBy(this::drain).isInstanceOf(IllegalStateException.class);

        assertThat(tail()).isEqualTo(2 * RingDrain.BATCH);
        assertThat(edge(1, 7)).isEqualTo(new Sums(tail(), tail(), tail()));
    }

    @Test
    void shouldAskForACallSiteOnceUntilImagesComeOrGo() {
        record(1, 10, IN_7);
        record(2, 10, IN_7);
        record(1, 10, IN_7);
        drain();
        assertThat(asked).containsExactly(IN_7);

        drain.forgetCallSites();
        returnSites = address -> new ReturnSite(8, ReturnSite.NONE);
        record(1, 10, IN_7);
        drain();

        assertThat(asked).containsExactly(IN_7, IN_7);
        assertThat(edge(1, 7)).isEqualTo(new Sums(2, 20, 2));
        assertThat(edge(1, 8)).isEqualTo(new Sums(1, 10, 1));
        assertThat(edge(2, 7)).isEqualTo(new Sums(1, 10, 1));
    }

    @Test
    void shouldAddCallersWithoutRoomToOneEdge() {
        returnSites = address -> new ReturnSite((int) address, ReturnSite.NONE);
        for (int caller = 0; caller < RECORDS; caller++) {
            record(1, 1, caller);
        }
        drain();
        for (int caller = 10; caller > 0; caller--) {
            record(1, 1, RECORDS + caller % 3);
        }
        drain();

        assertThat(edge(1, 0)).isEqualTo(new Sums(1, 1, 1));
        assertThat(edge(1, EdgeDescriptor.CALLER_OTHER)).isEqualTo(new Sums(11, 11, 11));
    }

    private long drain() {
        return drain.drain(weights);
    }

    private void record(int function, long ticks, long caller) {
        complete(reserve(), function, ticks, caller);
    }

    /// A thread has a position, and has not written there yet.
    private long reserve() {
        long position = head();
        Memory.putLong(thread + ThreadDescriptor.HEAD, position + 1);
        return position;
    }

    private void complete(long position, int function, long ticks, long caller) {
        long record = ring + (position & RECORDS - 1) * RecordDescriptor.SIZE;
        Memory.putLong(record + RecordDescriptor.START, 1000);
        Memory.putLong(record + RecordDescriptor.DURATION, ticks);
        Memory.putLong(record + RecordDescriptor.CALLER, caller);
        Memory.putInt(record + RecordDescriptor.FUNCTION, function);
        Memory.putInt(record + RecordDescriptor.SEQ, (int) (position + 1));
    }

    private void skipTo(long position) {
        Memory.putLong(thread + ThreadDescriptor.HEAD, position);
        Memory.putLong(thread + ThreadDescriptor.TAIL, position);
    }

    private long head() {
        return Memory.getLong(thread + ThreadDescriptor.HEAD);
    }

    private long tail() {
        return Memory.getLong(thread + ThreadDescriptor.TAIL);
    }

    private long function(int index) {
        return functions + index * FunctionDescriptor.SIZE;
    }

    private record Sums(long calls, long ticks, long samples) {}

    private Sums edge(int function, int caller) {
        List<Sums> found = new ArrayList<>();
        long edge = Memory.getLong(function(function) + FunctionDescriptor.CALLERS);
        for (; edge != 0; edge = Memory.getLong(edge + EdgeDescriptor.NEXT)) {
            if (Memory.getInt(edge + EdgeDescriptor.CALLER) == caller) {
                found.add(new Sums(
                        Memory.getLong(edge + EdgeDescriptor.CALLS),
                        Memory.getLong(edge + EdgeDescriptor.TOTAL),
                        Memory.getLong(edge + EdgeDescriptor.SAMPLES)));
            }
        }
        assertThat(found).as("edges of caller %d", caller).hasSize(1);
        return found.getFirst();
    }
}
