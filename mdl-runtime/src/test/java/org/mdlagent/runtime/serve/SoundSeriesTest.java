package org.mdlagent.runtime.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.exposition.SessionSeries;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.FakeSession;

class SoundSeriesTest {
    private static final int NOBODY = 5_000_000;

    @TempDir
    private Path root;

    private SessionSeries series(String id) throws IOException {
        try (SessionReader reader = SessionReader.open(FakeSession.in(root, id, NOBODY, 1))) {
            return new SessionSeries(reader.profile(), 10);
        }
    }

    private static String ids(List<SessionSeries> series) {
        return series.stream().map(each -> each.session().id()).collect(Collectors.joining(" "));
    }

    /// As an overflow in a report would.
    private static String failingForBad(List<SessionSeries> series) {
        String ids = ids(series);
        if (ids.contains("bad")) {
            throw new ArithmeticException("long overflow");
        }
        return ids;
    }

    @Test
    void shouldLeaveOutTheOneProgramWhoseFiguresCannotBeRendered() throws IOException {
        List<SessionSeries> all = List.of(
                series("good-1-20260101T000000"), series("bad-2-20260101T000000"), series("good-3-20260101T000000"));
        List<String> refused = new ArrayList<>();

        LeftOut leftOut = new LeftOut(refused::add);

        for (int i = 0; i < 2; i++) {
            assertThat(SoundSeries.render(all, SoundSeriesTest::failingForBad, leftOut))
                    .isEqualTo("good-1-20260101T000000 good-3-20260101T000000");
        }
        assertThat(refused).containsExactly("the session bad-2-20260101T000000 is left out: long overflow");
    }

    @Test
    void shouldRenderAllAtOnceWhereAllAreSound() throws IOException {
        List<SessionSeries> all = List.of(series("a-1-20260101T000000"), series("b-2-20260101T000000"));
        List<List<SessionSeries>> calls = new ArrayList<>();

        SoundSeries.render(all, series -> calls.add(series), new LeftOut(message -> {}));

        assertThat(calls).containsExactly(all);
    }
}
