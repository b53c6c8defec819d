package org.mdlagent.runtime.serve;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.exposition.SessionSeries;
import org.mdlagent.profiler.report.live.HeatNews;
import org.mdlagent.profiler.report.live.LiveReport;
import org.mdlagent.profiler.report.live.SpentNews;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.profile.TimedCall;
import org.mdlagent.profiler.report.session.SessionReader;

/// A session and its cached results for readers. It is read at most twice a second, whatever the number of
/// readers.
///
/// The session is opened for each look, because its data moves when the program ends.
final class WatchedSession {
    private static final long FRESH_NANOS = Duration.ofMillis(500).toNanos();
    private static final long KEPT_NANOS = Duration.ofMinutes(1).toNanos();

    private final String id;
    private final Path directory;
    private final Predicate<SessionFacts> runs;
    private SessionFacts facts;
    private boolean live;
    private @Nullable Profile profile;
    private @Nullable LiveReport report;
    private @Nullable SessionSeries series;
    private long looked;

    /// @param runs whether a session's program runs
    WatchedSession(Path directory, Predicate<SessionFacts> runs) throws IOException {
        this.id = directory.getFileName().toString();
        this.directory = directory;
        this.runs = runs;
        try (SessionReader reader = SessionReader.open(directory)) {
            facts = reader.facts();
        }
        live = runs.test(facts);
    }

    String id() {
        return id;
    }

    /// Result of the last look.
    synchronized SessionFacts facts() {
        return facts;
    }

    /// Whether the program ran at the last look.
    synchronized boolean isLive() {
        return live;
    }

    /// Checks whether the program still runs, and drops results that have not been requested for some time.
    synchronized void check(long nanoTime) throws IOException {
        if (live) {
            try (SessionReader reader = SessionReader.open(directory)) {
                facts = reader.facts();
            }
            live = runs.test(facts);
        }
        if (!live) {
            series = null;
        }
        if (nanoTime - looked > KEPT_NANOS) {
            profile = null;
            report = null;
        }
    }

    /// The recorded data.
    synchronized Profile profile() throws IOException {
        long now = System.nanoTime();
        Profile known = profile;
        if (known != null && now - looked < FRESH_NANOS) {
            return known;
        }
        try (SessionReader reader = SessionReader.open(directory)) {
            known = reader.profile();
        }
        profile = known;
        facts = known.session();
        live = runs.test(facts);
        looked = now;
        if (report != null) {
            report = report.next(known, live, System.currentTimeMillis());
        }
        return known;
    }

    /// The report.
    synchronized LiveReport report() throws IOException {
        Profile now = profile();
        LiveReport known = report;
        if (known == null) {
            known = new LiveReport(now, live, System.currentTimeMillis());
            report = known;
        }
        return known;
    }

    /// New data of a function's heat map, by position, since a time slice.
    HeatNews heat(int function, long from) throws IOException {
        try (SessionReader reader = SessionReader.open(directory)) {
            return new HeatNews(reader, function, from);
        }
    }

    /// New data of the time spent in some functions, by positions, since a time slice.
    SpentNews spent(Set<Integer> functions, long from) throws IOException {
        try (SessionReader reader = SessionReader.open(directory)) {
            return new SpentNews(reader, functions, from);
        }
    }

    /// The last timed calls of each thread.
    List<TimedCall> lastCalls() throws IOException {
        try (SessionReader reader = SessionReader.open(directory)) {
            return reader.lastCalls();
        }
    }

    /// Figures for monitoring systems: the hottest `limit` functions.
    synchronized SessionSeries series(int limit) throws IOException {
        Profile now = profile();
        SessionSeries known = series;
        known = known == null ? new SessionSeries(now, limit) : known.next(now);
        series = known;
        return known;
    }
}
