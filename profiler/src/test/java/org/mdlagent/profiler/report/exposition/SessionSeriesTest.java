package org.mdlagent.profiler.report.exposition;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.LatencyBuilder;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;

class SessionSeriesTest {
    @TempDir
    private Path directory;

    private Profile session;

    @BeforeEach
    void read() throws IOException {
        session = Profiles.read(SessionImage.exactSample(), directory);
    }

    private Profile with(FunctionProfile... functions) {
        return Profiles.with(session, List.of(functions));
    }

    private static long timed(FunctionSeries function) {
        return LongStream.of(function.buckets()).sum();
    }

    @Test
    void shouldNotLetAFigureFall() {
        SessionSeries series = new SessionSeries(with(Profiles.function("f", 100, 300_000)), 10);

        // As when an estimate is corrected, and a record missed.
        SessionSeries next = series.next(with(Profiles.function("f", 100)));

        FunctionSeries function = next.functions().getFirst();
        assertThat(function.calls()).hasValue(2);
        assertThat(function.total()).hasValue(300_100);
        assertThat(timed(function)).isEqualTo(2);
        assertThat(next.next(with(Profiles.function("f", 100, 100, 300_000)))
                        .functions()
                        .getFirst()
                        .calls())
                .hasValue(3);
    }

    /// It knows of first calls only.
    @Test
    void shouldTellOfNoCallsOfACoverageSession() throws IOException {
        SessionImage image = SessionImage.exactSample();
        image.putInt(HeaderDescriptor.FLAGS, HeaderDescriptor.FLAG_MIXED | Collected.COVERAGE.flags());

        assertThat(new SessionSeries(Profiles.read(image, directory.resolve("coverage")), 10).functions())
                .isEmpty();
    }

    @Test
    void shouldKeepACallInItsBucketWhenTheClockIsKnownBetter() {
        LatencyBuilder latency = new LatencyBuilder();
        latency.add(199);
        FunctionProfile function = Profiles.function("f", 199);
        FunctionProfile later = function.with(
                1,
                function.callsError(),
                1,
                latency.build(1.02),
                new FunctionProfile.Times(
                        function.totalNanos(),
                        function.times().totalError(),
                        function.selfNanos(),
                        function.times().selfError()));

        SessionSeries first = new SessionSeries(with(function), 10);
        SessionSeries next = first.next(with(later));

        assertThat(later.latency().middle(0)).isGreaterThan(200);
        assertThat(next.functions().getFirst().buckets())
                .isEqualTo(first.functions().getFirst().buckets());
    }

    @Test
    void shouldTellOfTheHottestOnlyAndOfHowManyItDoesNot() {
        Profile profile = with(
                Profiles.function("cold", 10), Profiles.function("hot", 1_000_000), Profiles.function("never called"));

        SessionSeries series = new SessionSeries(profile, 1);

        assertThat(series.functions())
                .extracting(one -> one.labels().function())
                .containsExactly("hot");
        assertThat(series.leftOut()).isEqualTo(1);
    }

    @Test
    void shouldKnowAFunctionAgainThatWasLeftOutMeanwhile() {
        SessionSeries series = new SessionSeries(with(Profiles.function("f", 500, 500)), 1)
                .next(with(Profiles.function("f", 500, 500), Profiles.function("g", 9_000)))
                .next(with(Profiles.function("f", 500)));

        assertThat(series.functions().getFirst().calls()).hasValue(2);
    }
}
