package org.mdlagent.profiler.report.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.report.session.SessionReader;

/// A session that goes on between looks. One tick is one nanosecond, and two seconds have passed at first.
class LiveSessionTest {
    private static final long SECOND = 1_000_000_000L;

    @TempDir
    private Path directory;

    private final SessionImage image = new SessionImage().exact();
    private final int parse = image.function("parse");
    private final int idle = image.function("idle");
    private final long thread = image.thread(4712);
    private long now = 2 * SECOND;
    private SessionReader reader;
    private LiveSession live;

    @BeforeEach
    void open() throws IOException {
        image.putInt(thread + ThreadDescriptor.STATE, ThreadDescriptor.STATE_LIVE);
        image.write(directory);
        reader = SessionReader.open(directory);
        live = new LiveSession(reader);
    }

    @AfterEach
    void close() throws IOException {
        reader.close();
    }

    private LiveProfile look() throws IOException {
        image.write(directory);
        return live.look();
    }

    private LiveProfile lookAfter(long nanos) throws IOException {
        now += nanos;
        image.putLong(HeaderDescriptor.NOW_TSC, 5_000 + now);
        image.putLong(HeaderDescriptor.NOW_MONO_NANOS, 77 + now);
        return look();
    }

    /// From now on `parse` has this number of calls, each of this duration.
    private void calls(int count, long nanos) {
        image.exactRow(
                thread, parse, 0, LongStream.generate(() -> nanos).limit(count).toArray());
    }

    @Test
    void shouldShowAveragesSinceTheBeginAtFirst() throws IOException {
        calls(100, 1000);

        LiveFunction function = look().functions().get(parse);

        assertThat(function.rate()).isEqualTo(50);
        assertThat(function.totalPercent()).hasValueCloseTo(100.0 * 100 * 1000 / (2 * SECOND), within(1e-9));
        assertThat(function.latency().percentileNanos(50)).hasValue(1000);
        assertThat(function.number()).isEqualTo(parse);
    }

    @Test
    void shouldShowWhatWasCalledSinceTheLastLook() throws IOException {
        calls(100, 1000);
        look();
        calls(300, 1000);

        LiveFunction function = lookAfter(SECOND / 2).functions().get(parse);

        // The thread has entered 100 and then 300 calls.
        assertThat(function.whole().calls()).isEqualTo(400);
        assertThat(function.rate()).isEqualTo(600);
        assertThat(function.rates()).hasSize(LiveSession.LOOKS).endsWith(50, 600);
    }

    @Test
    void shouldForgetLatenciesOfLongAgo() throws IOException {
        calls(1000, 5_000_000);
        look();
        image.exactRow(
                thread,
                parse,
                0,
                LongStream.concat(
                                LongStream.generate(() -> 5_000_000).limit(1000),
                                LongStream.generate(() -> 100).limit(10))
                        .toArray());

        LiveFunction function = lookAfter(SECOND).functions().get(parse);

        assertThat(function.latency().count()).isEqualTo(10);
        assertThat(function.latency().percentileNanos(99.9).getAsLong()).isBetween(100L, 101L);
        assertThat(function.whole().latency().percentileNanos(50).getAsLong()).isGreaterThan(4_900_000);
    }

    @Test
    void shouldKnowNothingOfAFunctionThatIsNotCalledAnyMore() throws IOException {
        calls(100, 1000);
        look();
        LiveProfile profile = null;
        for (int i = 0; i < LiveSession.LOOKS; i++) {
            profile = lookAfter(SECOND);
        }

        LiveFunction function = profile.functions().get(parse);

        assertThat(function.rate()).isZero();
        assertThat(function.totalPercent()).isEmpty();
        assertThat(function.latency().known()).isFalse();
        assertThat(profile.functions().get(idle).latency().known()).isFalse();
    }

    @Test
    void shouldShowFunctionsThatCome() throws IOException {
        look();
        int late = image.function("late");
        image.exactRow(thread, late, 0, 70, 80);

        LiveFunction function = lookAfter(SECOND).functions().get(late);

        assertThat(function.rate()).isEqualTo(2);
    }

    @Test
    void shouldNotDivideByATimeThatHasNotPassed() throws IOException {
        calls(100, 1000);
        look();

        LiveProfile profile = look();

        assertThat(profile.functions().get(parse).rate()).isZero();
        assertThat(profile.probePercent()).isEmpty();
    }

    @Test
    void shouldShowWhatTheAgentCostsNow() throws IOException {
        image.putLong(HeaderDescriptor.AGENT_CPU_NANOS, SECOND);
        assertThat(look().agentPercent()).hasValue(50);
        image.putLong(HeaderDescriptor.AGENT_CPU_NANOS, SECOND + SECOND / 100);

        assertThat(lookAfter(SECOND).agentPercent()).hasValueCloseTo(1.0, within(1e-9));
    }

    @Test
    void shouldShowThreadsThatLive() throws IOException {
        long gone = image.thread(4713);
        image.putInt(gone + ThreadDescriptor.STATE, ThreadDescriptor.STATE_FREE);
        calls(10, 1);
        look();
        calls(30, 1);

        List<LiveThread> threads = lookAfter(SECOND).threads();

        assertThat(threads).hasSize(1);
        assertThat(threads.getFirst().whole().tid()).isEqualTo(4712);
        assertThat(threads.getFirst().rate()).isEqualTo(30);
    }

    @Test
    void shouldSayWhichFunctionsAreOff() throws IOException {
        image.putInt(image.functionAt(idle) + FunctionDescriptor.FLAGS, FunctionDescriptor.FLAG_OFF);

        List<LiveFunction> functions = look().functions();

        assertThat(functions.get(parse).whole().on()).isTrue();
        assertThat(functions.get(idle).whole().on()).isFalse();
    }

    @Test
    void shouldSortTheGreatestFirstAndTheUnknownLast() throws IOException {
        image.exactRow(thread, idle, 0, 10_000);
        calls(100, 10);
        List<LiveFunction> functions = look().functions();

        assertThat(LiveOrder.RATE.sort(functions))
                .extracting(LiveFunction::number)
                .containsExactly(parse, idle);
        assertThat(LiveOrder.TOTAL.sort(functions))
                .extracting(LiveFunction::number)
                .containsExactly(idle, parse);
        assertThat(LiveOrder.P99.sort(functions))
                .extracting(LiveFunction::number)
                .containsExactly(idle, parse);
        assertThat(LiveOrder.NAME.sort(functions))
                .extracting(LiveFunction::number)
                .containsExactly(idle, parse);
    }
}
