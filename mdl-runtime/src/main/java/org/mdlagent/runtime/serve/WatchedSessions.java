package org.mdlagent.runtime.serve;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.exposition.SessionSeries;

/// The sessions of this user, kept up to date.
public final class WatchedSessions {
    private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();

    private final SessionSource source;
    private final int limit;

    /// Held while files are opened, which may be slow: a thread that finds it held uses the known sessions.
    private final ReentrantLock looking = new ReentrantLock();

    /// Sessions by directory, newest first. Copy on write.
    private volatile @Nullable Map<Path, WatchedSession> known;

    private volatile long looked;

    /// @param limit maximum functions of a program for monitoring systems
    public WatchedSessions(SessionSource source, int limit) {
        this.source = source;
        this.limit = limit;
    }

    /// All sessions, newest first.
    List<WatchedSession> all() throws IOException {
        Map<Path, WatchedSession> before = known;
        if (before != null && (System.nanoTime() - looked < FRESH_NANOS || !looking.tryLock())) {
            return List.copyOf(before.values());
        }
        if (before == null) {
            looking.lock();
        }
        try {
            long now = System.nanoTime();
            Map<Path, WatchedSession> newest = known;
            if (newest == null || now - looked >= FRESH_NANOS) {
                newest = refreshed(newest == null ? Map.of() : newest, now);
                looked = now;
                known = newest;
            }
            return List.copyOf(newest.values());
        } finally {
            looking.unlock();
        }
    }

    private Map<Path, WatchedSession> refreshed(Map<Path, WatchedSession> before, long now) throws IOException {
        Map<Path, WatchedSession> found = new LinkedHashMap<>();
        for (Path directory : source.directories()) {
            try {
                WatchedSession session = before.get(directory);
                if (session == null) {
                    session = new WatchedSession(directory, source::runs);
                }
                session.check(now);
                found.put(directory, session);
            } catch (IOException e) {
                // Damaged, being created, or being removed; mdl list shows which.
            }
        }
        return found;
    }

    /// Sessions with running programs. For a process that has executed another program, only its newest session.
    List<WatchedSession> live() throws IOException {
        Set<Integer> processes = new HashSet<>();
        List<WatchedSession> live = new ArrayList<>();
        for (WatchedSession session : all()) {
            if (session.isLive() && processes.add(session.facts().pid())) {
                live.add(session);
            }
        }
        return live;
    }

    /// The session with this name. The name is never used as a path.
    Optional<WatchedSession> find(String id) throws IOException {
        return all().stream().filter(session -> session.id().equals(id)).findFirst();
    }

    /// Figures of running programs for monitoring systems.
    List<SessionSeries> series() throws IOException {
        List<SessionSeries> series = new ArrayList<>();
        for (WatchedSession session : live()) {
            try {
                series.add(session.series(limit));
            } catch (IOException e) {
                // As above: the others are not affected.
            }
        }
        return series;
    }
}
