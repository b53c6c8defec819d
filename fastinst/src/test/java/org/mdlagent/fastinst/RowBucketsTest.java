package org.mdlagent.fastinst;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mdlagent.fastinst.ProbedFunctions.API;
import static org.mdlagent.fastinst.ProbedFunctions.HEADER;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.StreamSupport;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.mdlagent.arch.layout.CallDescriptor;
import org.mdlagent.arch.layout.FrameDescriptor;
import org.mdlagent.arch.layout.RowBuckets;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.session.FunctionRecords;
import org.mdlagent.arch.session.ThreadBlock;
import org.mdlagent.arch.session.ThreadBlocks;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement;
import org.mdlagent.fastinst.ProbeClient.Recorder;
import org.mdlagent.fastinst.ProbedFunctions.Probed;
import org.mdlagent.fastinst.snippet.Snippets;

/// The slots of a row as [RowBuckets] defines them, and all who compute them: the library, whose slots they are, the
/// shim, and generated code.
class RowBucketsTest {
    private static final long HIGHEST = (1L << 54) - 1;
    private static final int CASES = 20_000;

    /// A value that no other test has.
    private static final int ERRORS = ValueDescriptor.VALUES - 2;

    private static final Snippets SNIPPETS =
            new Snippets(API, ProbedFunctions.INSTRUCTIONS, ProbedFunctions.CODE, API.recordingEntryPoints(true));

    private static MethodHandle recordSlow;
    private static long lengthener;

    /// The block of the thread that runs tests.
    private static ThreadBlock thread;

    /// How much longer ago the open call began than it did.
    private static long longer;

    /// Calls whose frame was not found.
    private static int lost;

    private final SplittableRandom random = new SplittableRandom(1);

    @BeforeAll
    static void prepare() throws Exception {
        recordSlow = Linker.nativeLinker()
                .downcallHandle(
                        MemorySegment.ofAddress(API.recordingEntryPoints(true).recordSlow()),
                        FunctionDescriptor.ofVoid(
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG));
        lengthener = Linker.nativeLinker()
                .upcallStub(
                        MethodHandles.lookup()
                                .findStatic(
                                        RowBucketsTest.class,
                                        "lengthen",
                                        MethodType.methodType(long.class, long.class)),
                        FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
                        Arena.global())
                .address();
        ProbeClient client = new ProbeClient(API);
        client.activate(Recorder.LATENCY, 0, 1, 2, 3);
        ProbedFunctions.call(Probed.HOOKS);
        ProbedFunctions.call(Probed.WHOLE);
        client.deactivate(0, 1, 2, 3);
        int tid = Integer.parseInt(
                Path.of("/proc/thread-self").toRealPath().getFileName().toString());
        thread = StreamSupport.stream(new ThreadBlocks(HEADER).spliterator(), false)
                .filter(block -> block.tid() == tid && block.isLiveAcquire())
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1, 1",
        "255, 255",
        "256, 256",
        "257, 256",
        "511, 383",
        "512, 384",
        "1000, 506",
        "100000, 1347",
        "9007199254740992, 6016",
        "18014398509481983, 6143"
    })
    void shouldCountDurationsWhereTheyAlwaysWere(long ticks, int index) throws Throwable {
        assertThat(RowBuckets.index(ticks)).isEqualTo(index);
        assertThat(RowBuckets.lowest(index)).isLessThanOrEqualTo(ticks);
        assertThat(RowBuckets.highest(index)).isGreaterThanOrEqualTo(ticks);
        assertThat(recordedByTheShim(ticks)).isTrue();
    }

    @Test
    void shouldUseTheSlotsOfTheLibrary() {
        Histogram library = new Histogram(1, HIGHEST, 2);
        int wrong = 0;
        for (int i = 0; i < 1_000_000; i++) {
            long ticks = anyDuration();
            int index = RowBuckets.index(ticks);
            if (RowBuckets.lowest(index) != library.lowestEquivalentValue(ticks)
                    || RowBuckets.highest(index) != library.highestEquivalentValue(ticks)) {
                wrong++;
            }
        }
        assertThat(wrong).isZero();
    }

    @Test
    void shouldNumberTheSlotsWithoutAGap() {
        long expected = 0;
        for (int index = 0; index < RowBuckets.SLOTS; index++) {
            assertThat(RowBuckets.lowest(index)).isEqualTo(expected);
            assertThat(RowBuckets.index(RowBuckets.lowest(index))).isEqualTo(index);
            assertThat(RowBuckets.index(RowBuckets.highest(index))).isEqualTo(index);
            expected = RowBuckets.highest(index) + 1;
        }
        assertThat(expected).isEqualTo(HIGHEST + 1);
    }

    @Test
    void shouldBeTheSlotsOfTheShim() throws Throwable {
        for (int i = 0; i < CASES; i++) {
            long ticks = anyDuration();
            assertThat(recordedByTheShim(ticks)).as("%d ticks", ticks).isTrue();
        }
    }

    /// Calls that last as long as their start says, which a snippet or the function moves into the past. All chunks are
    /// there, so no call is left to the shim.
    @ParameterizedTest
    @EnumSource(names = {"HOOKS", "WHOLE"})
    void shouldBeTheSlotsOfGeneratedCode(Probed probed) throws Throwable {
        for (int index = 0; index < RowBuckets.SLOTS; index += RowDescriptor.CHUNK_SLOTS) {
            record(probed, RowBuckets.lowest(index));
        }
        ProbeClient client = new ProbeClient(API);
        client.activate(Recorder.LATENCY, probed.probes);
        Snippet lengthening = Snippet.of(new Statement.Run(new Expression.Call(
                lengthener, List.of(new Expression.Constant(ProbedFunctions.address(probed))), ERRORS)));
        boolean bySnippet = probed == Probed.HOOKS;
        SNIPPETS.attach(probed.probes[1], Snippets.Order.APPEND, lengthening); // without one, the shim records here
        lost = 0;
        int longest = 0;
        try {
            for (int i = 0; i < CASES; i++) {
                longer = anyDuration() >>> 1;
                long[] before = counts(probed);
                // No thread runs for so long that the sum has no room.
                Memory.putLong(row(probed) + RowDescriptor.TOTAL, 0);
                Memory.putLong(row(probed) + RowDescriptor.NESTED, 0);

                ProbedFunctions.call(probed, bySnippet ? 0 : longer, 0);

                long ticks = total(probed);
                assertThat(ticks).isBetween(longer, HIGHEST);
                assertThat(increased(before, counts(probed))).containsExactly(RowBuckets.index(ticks));
                longest = Math.max(longest, RowBuckets.index(ticks));
            }
        } finally {
            SNIPPETS.detach(probed.probes[1], lengthening);
            client.deactivate(probed.probes);
        }
        assertThat(lost).isZero();
        assertThat(longest).isGreaterThan(RowBuckets.SLOTS / 2);
    }

    /// What a snippet calls at a return, before the recorder looks at the clock.
    private static long lengthen(long function) {
        if (function == ProbedFunctions.address(Probed.WHOLE)) {
            return 0; // its own code does it
        }
        long frame = Memory.getLong(thread.address() + ThreadDescriptor.SP) - FrameDescriptor.SIZE;
        long record = Memory.getLong(frame + FrameDescriptor.FUNCTION);
        if (record != 0 && Memory.getLong(record) == function) {
            Memory.addLong(frame + FrameDescriptor.CALL + CallDescriptor.START, -longer);
        } else {
            lost++;
        }
        return 0;
    }

    /// Whether a duration is counted in its slot, and only there.
    private boolean recordedByTheShim(long ticks) throws Throwable {
        long[] before = counts(Probed.HOOKS);
        record(Probed.HOOKS, ticks);
        int[] increased = increased(before, counts(Probed.HOOKS));
        return increased.length == 1 && increased[0] == RowBuckets.index(ticks);
    }

    private static void record(Probed probed, long ticks) throws Throwable {
        recordSlow.invokeExact(new FunctionRecords(HEADER).address(probed.ordinal()), ticks, 0L, 0L);
    }

    private static long row(Probed probed) {
        return Memory.getLong(thread.rows() + (long) probed.ordinal() * Long.BYTES);
    }

    private static long total(Probed probed) {
        return Memory.getLong(row(probed) + RowDescriptor.TOTAL);
    }

    /// Of all slots.
    private static long[] counts(Probed probed) {
        return LongStream.range(0, RowDescriptor.CHUNKS)
                .map(chunk -> Memory.getLong(
                        row(probed) + RowBuckets.chunkAt(Math.toIntExact(chunk * RowDescriptor.CHUNK_SLOTS))))
                .flatMap(chunk -> {
                    long[] slots = new long[RowDescriptor.CHUNK_SLOTS];
                    if (chunk != 0) {
                        Memory.copy(chunk, slots);
                    }
                    return LongStream.of(slots);
                })
                .toArray();
    }

    private static int[] increased(long[] before, long[] after) {
        return IntStream.range(0, before.length)
                .filter(slot -> after[slot] != before[slot])
                .toArray();
    }

    private long anyDuration() {
        return random.nextLong(HIGHEST + 1) >>> random.nextInt(55);
    }
}
