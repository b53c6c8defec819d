package org.mdlagent.profiler.report.exposition;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.SessionFacts;

/// The series of a session, look after look: the figures of its hottest functions, and the session's own.
///
/// Estimates may be corrected downwards, and a reader may miss records that the agent is moving. A monitoring
/// system takes a counter that falls for a restarted one and counts everything again, so no counter falls
/// here.
public final class SessionSeries {
    private final Profile profile;
    private final int limit;

    /// The newest figures of all functions reported so far.
    private final Map<FunctionSeries.Labels, FunctionSeries> known = new HashMap<>();

    private final List<FunctionSeries> functions;
    private final long leftOut;
    private long probeNanos;

    /// The first look.
    ///
    /// @param limit functions to report
    public SessionSeries(Profile profile, int limit) {
        this(profile, ProfileOrder.byDefault(profile), limit);
    }

    SessionSeries(Profile profile, ProfileOrder order, int limit) {
        this.profile = profile;
        this.limit = limit;
        // A coverage session does not know how often functions were called.
        boolean counts = profile.session().collected() != Collected.COVERAGE;
        List<FunctionProfile> called = profile.functions().stream()
                .filter(one -> counts && one.calls() > 0)
                .toList();
        List<FunctionProfile> hottest = order.first(limit, called);
        leftOut = (long) called.size() - hottest.size();
        Map<FunctionSeries.Labels, FunctionSeries> byLabels = new LinkedHashMap<>();
        for (FunctionProfile function : hottest) {
            byLabels.computeIfAbsent(FunctionSeries.Labels.of(function), FunctionSeries::new)
                    .add(function);
        }
        functions = List.copyOf(byLabels.values());
        known.putAll(byLabels);
        probeNanos = profile.probeNanos();
    }

    /// A later look at the same session.
    public SessionSeries next(Profile later) {
        SessionSeries next = new SessionSeries(later, limit);
        known.forEach((labels, before) -> {
            FunctionSeries now = next.known.putIfAbsent(labels, before);
            if (now != null) {
                now.atLeast(before);
            }
        });
        next.probeNanos = Math.max(next.probeNanos, probeNanos);
        return next;
    }

    public SessionFacts session() {
        return profile.session();
    }

    /// The profile as read; for counters that may fall, use the figures of this object.
    Profile profile() {
        return profile;
    }

    /// Hottest first.
    List<FunctionSeries> functions() {
        return functions;
    }

    /// Called functions that are not among [#functions].
    long leftOut() {
        return leftOut;
    }

    /// The cost of the probes for the program's threads.
    long probeNanos() {
        return probeNanos;
    }
}
