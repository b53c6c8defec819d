package org.mdlagent.profiler.report.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.layout.SlicesDescriptor;
import org.mdlagent.profiler.report.live.LiveFile;
import org.mdlagent.profiler.report.profile.CallEdge;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.TimeRange;
import org.mdlagent.profiler.report.slice.TimeSlice;
import org.mdlagent.profiler.slice.TimeSlices;

/// Slices of time as the agent writes them, read as reports read them.
class TimeSlicesTest {
    private static final long SECOND = LiveFile.SECOND;
    private static final Instant START = Instant.ofEpochSecond(LiveFile.START_SECONDS);
    private static final long LIMIT = 256 << 20;

    @TempDir
    private Path directory;

    private static TimeSlices slices(LiveFile file, boolean exact, int millis) {
        return new TimeSlices(file.header, file::allocate, exact, millis, SECOND);
    }

    /// Ends the n-th slice of a second.
    private static void end(LiveFile file, TimeSlices slices, int n) {
        long tsc = LiveFile.START_TSC + n * SECOND;
        file.now(tsc);
        assertThat(slices.isDue(tsc - 1)).isFalse();
        assertThat(slices.isDue(tsc)).isTrue();
        slices.write(tsc);
    }

    private Profile read(int fromSecond, int toSecond) throws IOException {
        try (SessionReader reader = SessionReader.open(directory)) {
            return reader.profile(reader.slices().stream()
                    .filter(slice -> slice.overlaps(START.plusSeconds(fromSecond), START.plusSeconds(toSecond)))
                    .toList());
        }
    }

    @Test
    void shouldTellWhatWasCalledWhen() throws IOException {
        try (LiveFile file = new LiveFile(directory, 4, LIMIT)) {
            TimeSlices slices = slices(file, false, 1000);
            file.sampled(0, 100, 10, 5_000);
            end(file, slices, 1);
            file.sampled(0, 200, 20, 7_000);
            file.sampled(1, 50, 50, 40);
            file.calledBy(1, 0, 50, 40);
            end(file, slices, 2);
            end(file, slices, 3);
            file.sampled(2, 7, 7, 1_000_000);
            end(file, slices, 4);

            Profile second = read(1, 2);
            assertThat(second.functions()).extracting(FunctionProfile::calls).containsExactly(200L, 50L, 0L, 0L);
            FunctionProfile first = second.functions().get(0);
            assertThat(first.sampled()).isEqualTo(20);
            assertThat(first.totalNanos()).hasValue(200 * 7_000);
            assertThat((double) first.latency().percentileNanos(50).getAsLong()).isCloseTo(7_000, within(300.0));
            assertThat(second.edges())
                    .extracting(edge -> edge.caller().name(), CallEdge::calls)
                    .containsExactly(tuple("f0", 50L));
            assertThat(second.session().elapsedNanos()).hasValue(SECOND);

            assertThat(read(0, 2).functions())
                    .extracting(FunctionProfile::calls)
                    .containsExactly(300L, 50L, 0L, 0L);
            assertThat(read(2, 4).functions())
                    .extracting(FunctionProfile::calls)
                    .containsExactly(0L, 0L, 7L, 0L);
            assertThat(read(2, 3).range()).isEqualTo(new TimeRange(START.plusSeconds(2), START.plusSeconds(3), 1, 0));
        }
    }

    @Test
    void shouldAddUpTheThreadsOfAnExactSession() throws IOException {
        try (LiveFile file = new LiveFile(directory, 2, LIMIT)) {
            TimeSlices slices = slices(file, true, 1000);
            long one = file.thread();
            long other = file.thread();
            file.exact(one, 0, 10, 100);
            end(file, slices, 1);
            file.exact(one, 0, 5, 100);
            file.exact(other, 0, 6, 300);
            end(file, slices, 2);

            FunctionProfile second = read(1, 2).functions().getFirst();
            assertThat(second.calls()).isEqualTo(11);
            assertThat(second.callsExact()).isTrue();
            assertThat(second.totalNanos()).hasValue(5 * 100 + 6 * 300);
            assertThat(second.selfNanos()).isEqualTo(OptionalLong.of(5 * 100 + 6 * 300));
        }
    }

    @Test
    void shouldMakeSlicesLongerWhereWritingThemIsDear() throws IOException {
        try (LiveFile file = new LiveFile(directory, 1, LIMIT)) {
            TimeSlices slices = slices(file, false, 0);
            long first = LiveFile.START_TSC + SECOND / 40;
            assertThat(slices.isDue(first - 1000)).isFalse();
            write(file, slices, first);
            slices.setWritingNanos(100_000_000);
            assertThat(slices.isDue(first + SECOND / 40)).isTrue();

            long second = first + SECOND / 40;
            write(file, slices, second);
            slices.setWritingNanos(6_000_000);
            assertLength(slices, second, 2);
            slices.setWritingNanos(1_000_000_000);
            assertLength(slices, second, 10);
        }
    }

    @Test
    void shouldWakeNobodyForSlicesOfAnIdleProgram() throws IOException {
        try (LiveFile file = new LiveFile(directory, 1, LIMIT)) {
            TimeSlices slices = slices(file, false, 1000);
            assertThat(slices.nanosToEnd(LiveFile.START_TSC)).isEqualTo(1_000_000_000);
            write(file, slices, LiveFile.START_TSC + SECOND);
            assertThat(slices.nanosToEnd(LiveFile.START_TSC + SECOND)).isEqualTo(Long.MAX_VALUE);
            file.sampled(0, 100, 10, 5_000);
            write(file, slices, LiveFile.START_TSC + 2 * SECOND);
            assertThat(slices.nanosToEnd(LiveFile.START_TSC + 5 * SECOND / 2)).isEqualTo(500_000_000);
            assertThat(slices.nanosToEnd(LiveFile.START_TSC + 4 * SECOND)).isZero();
        }
    }

    private static void write(LiveFile file, TimeSlices slices, long tsc) {
        file.now(tsc);
        slices.write(tsc);
    }

    private static void assertLength(TimeSlices slices, long begin, int seconds) {
        assertThat(slices.isDue(begin + seconds * SECOND - 1000)).isFalse();
        assertThat(slices.isDue(begin + seconds * SECOND + 1000)).isTrue();
    }

    @Test
    void shouldWriteNoSlicesIntoASessionThatIsFull() throws IOException {
        try (LiveFile file = new LiveFile(directory, 1, LIMIT)) {
            TimeSlices slices = new TimeSlices(file.header, size -> 0, false, 1000, SECOND);
            file.sampled(0, 100, 10, 5_000);

            end(file, slices, 1);
            slices.setWritingNanos(1_000_000_000);
            end(file, slices, 2);

            try (SessionReader reader = SessionReader.open(directory)) {
                assertThat(reader.slices()).isEmpty();
            }
        }
    }

    @Test
    void shouldNotCountCallsAgainWhenAnEstimateHasFallen() throws IOException {
        try (LiveFile file = new LiveFile(directory, 1, LIMIT)) {
            TimeSlices slices = slices(file, false, 1000);
            long[] estimates = {100, 80, 130};
            for (int i = 0; i < estimates.length; i++) {
                file.sampled(0, 0, 1, 10);
                file.estimate(0, estimates[i]);
                end(file, slices, i + 1);
            }

            assertThat(read(0, 1).functions().getFirst().calls()).isEqualTo(100);
            assertThat(read(2, 3).functions().getFirst().calls()).isEqualTo(30);
            assertThat(read(0, 3).functions().getFirst().calls()).isEqualTo(130);
        }
    }

    @Test
    void shouldLeaveOutFunctionsWithTheLeastTimeWhereThereIsNoRoom() throws IOException {
        int functions = 400;
        long limit = 16 << 20;
        try (LiveFile file = new LiveFile(directory, functions, limit)) {
            TimeSlices slices = slices(file, false, 1000);
            call(file, functions);
            long before = file.used();
            int rounds = 2 * SlicesDescriptor.SLICES;
            for (int n = 1; n <= rounds; n++) {
                end(file, slices, n);
                call(file, functions);
            }

            assertThat(file.used() - before).isBetween(SlicesDescriptor.SIZE, limit / 6 + SlicesDescriptor.SIZE);
            Profile profile = read(rounds - 1, rounds);
            int leftOut = (int) profile.range().leftOut();
            assertThat(leftOut).isBetween(1, functions / 2);
            assertThat(profile.functions().subList(0, leftOut)).allMatch(f -> f.calls() == 0);
            assertThat(profile.functions().subList(leftOut, functions)).allMatch(f -> f.calls() == 1);
        }
    }

    /// One function for longer than the other.
    private static void call(LiveFile file, int functions) {
        for (int i = 0; i < functions; i++) {
            file.sampled(i, 1, 1, 1_000_000 + i * 1_000L);
        }
    }

    @Test
    void shouldKeepTheLastHourOfADayInBoundedMemory() throws IOException {
        int functions = 1_000;
        int quiet = 20;
        long busySecond = 22 * 3600;
        SplittableRandom random = new SplittableRandom(24);
        try (LiveFile file = new LiveFile(directory, functions, LIMIT)) {
            long atFirst = heap();
            TimeSlices slices = slices(file, false, 0);
            long rows = 0;
            int written = 0;
            for (int second = 1; second <= 24 * 3600; second++) {
                long tsc = LiveFile.START_TSC + second * SECOND;
                if (!slices.isDue(tsc)) {
                    continue;
                }
                long before = file.used();
                for (int i = 0; i < (second < busySecond ? quiet : functions); i++) {
                    file.sampled(i, written + 1L, 1, 1 + (random.nextLong() >>> random.nextInt(30, 60)));
                }
                rows += file.used() - before;
                file.now(tsc);
                slices.write(tsc);
                written++;
            }
            long heap = heap() - atFirst;
            assertThat(slices.isDue(0)).isFalse(); // it is in use until here

            try (SessionReader reader = SessionReader.open(directory)) {
                List<TimeSlice> kept = reader.slices();
                Instant end = kept.getLast().end();
                long bytes = file.used() - rows;
                System.out.printf(
                        "%,d slices in 24 h, %d kept, %,d bytes of the file, %,d of the heap%n",
                        written, kept.size(), bytes, heap);
                assertThat(written).isGreaterThan(8_640);
                assertThat(bytes + heap).isLessThan(64 << 20);
                assertThat(kept).hasSize(SlicesDescriptor.SLICES - 1);
                assertThat(Duration.between(kept.getFirst().start(), end)).isGreaterThan(Duration.ofHours(1));
                assertThat(end).isAfter(START.plus(Duration.ofHours(24)).minusSeconds(11));
                for (int i = 0; i < kept.size(); i++) {
                    long calls = written - kept.size() + i + 1;
                    assertThat(kept.get(i).functions()).isNotEmpty().allMatch(f -> f.calls() == calls);
                    assertThat(i == 0
                                    || kept.get(i - 1).end().equals(kept.get(i).start()))
                            .isTrue();
                }
            }
        }
    }

    private static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /// In slice n every function is called n + 1 times, so a slice with parts of two would show.
    @Test
    void shouldShowNoSliceThatIsHalfWritten() throws Exception {
        int functions = 300;
        AtomicBoolean stop = new AtomicBoolean();
        try (LiveFile file = new LiveFile(directory, functions, LIMIT)) {
            TimeSlices slices = slices(file, false, 1000);
            Thread writer = new Thread(() -> {
                for (int n = 1; !stop.get(); n++) {
                    for (int i = 0; i < functions; i++) {
                        file.sampled(i, n, 1, 1_000);
                    }
                    slices.write(LiveFile.START_TSC + n * SECOND);
                }
            });
            writer.start();
            try (SessionReader reader = SessionReader.open(directory)) {
                long newest = 0;
                for (int round = 0; round < 200 || newest < 3 * SlicesDescriptor.SLICES; round++) {
                    for (TimeSlice slice : reader.slices()) {
                        long n = Duration.between(START, slice.end()).toSeconds();
                        assertThat(slice.functions()).hasSize(functions).allMatch(f -> f.calls() == n);
                        newest = Math.max(newest, n);
                    }
                }
            } finally {
                stop.set(true);
                writer.join();
            }
        }
    }
}
