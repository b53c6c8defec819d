package org.mdlagent.profiler.report.live;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.profile.ThreadProfile;
import org.mdlagent.profiler.report.session.SessionReader;

/// Follows a session while its program runs and reports what happened between looks.
///
/// Rates are since the last look. Latencies and shares cover the last [#LOOKS], because a percentile of few
/// calls says little. Time is the agent's: time for which it has not written data yet has not passed.
public final class LiveSession {
    /// Looks that latencies and sparklines cover.
    public static final int LOOKS = 10;

    private final SessionReader reader;
    private final Deque<Look> looks = new ArrayDeque<>();

    /// What is kept of a look. An unchanged latency is shared with the next look.
    private record Look(
            long elapsedNanos,
            long programNanos,
            long probeNanos,
            long agentNanos,
            long[] calls,
            long[] timed,
            Latency[] latencies,
            float[] rates,
            Map<Integer, ThreadProfile> threads) {}

    public LiveSession(SessionReader reader) {
        this.reader = reader;
    }

    /// What has happened since the last look; at the first, since the session began.
    ///
    /// @throws SessionFormatException when the session is damaged
    public LiveProfile look() throws IOException {
        Profile profile = reader.profile();
        Look last = looks.isEmpty() ? nothing() : looks.getLast();
        Look now = look(profile, reader.threadProfiles(), last);
        Look oldest = looks.isEmpty() ? last : looks.getFirst();
        looks.addLast(now);
        if (looks.size() > LOOKS) {
            looks.removeFirst();
        }
        long time = Math.max(now.elapsedNanos - last.elapsedNanos, now.programNanos - last.programNanos);
        return new LiveProfile(
                profile,
                functions(profile, now, oldest),
                threads(now, last, !profile.session().exact()),
                percent(now.probeNanos - last.probeNanos, time),
                percent(now.agentNanos - last.agentNanos, time));
    }

    private static Look nothing() {
        return new Look(0, 0, 0, 0, new long[0], new long[0], new Latency[0], new float[0], Map.of());
    }

    private static Look look(Profile profile, List<ThreadProfile> threads, Look last) {
        List<FunctionProfile> functions = profile.functions();
        SessionFacts facts = profile.session();
        long[] calls = new long[functions.size()];
        long[] timed = new long[calls.length];
        Latency[] latencies = new Latency[calls.length];
        float[] rates = new float[calls.length];
        long elapsed = Math.max(last.elapsedNanos, facts.elapsedNanos().orElse(0));
        // The first look covers the time since probes were in place.
        long from = Math.max(last.elapsedNanos, elapsed - facts.measuredNanos().orElse(0));
        double seconds = (elapsed - from) / 1e9;
        for (int i = 0; i < calls.length; i++) {
            FunctionProfile function = functions.get(i);
            boolean known = i < last.calls.length;
            calls[i] = function.calls();
            timed[i] = function.sampled();
            // An estimate may be corrected downwards.
            long fresh = Math.max(0, calls[i] - (known ? last.calls[i] : 0));
            rates[i] = seconds > 0 ? (float) (fresh / seconds) : 0;
            Latency latency = function.latency();
            latencies[i] = known && last.latencies[i].count() == latency.count() ? last.latencies[i] : latency;
        }
        Map<Integer, ThreadProfile> byId = new LinkedHashMap<>();
        threads.stream().filter(ThreadProfile::lives).forEach(thread -> byId.put(thread.tid(), thread));
        return new Look(
                elapsed,
                facts.costs().programNanos(),
                profile.probeNanos(),
                facts.costs().agentNanos(),
                calls,
                timed,
                latencies,
                rates,
                byId);
    }

    private static List<LiveThread> threads(Look now, Look last, boolean timed) {
        long passed = now.elapsedNanos - last.elapsedNanos;
        List<LiveThread> threads = new ArrayList<>();
        for (ThreadProfile thread : now.threads.values()) {
            ThreadProfile before = last.threads.get(thread.tid());
            long calls = thread.calls() - (before == null ? 0 : before.calls());
            long cpu = thread.cpuNanos() - (before == null ? 0 : before.cpuNanos());
            threads.add(new LiveThread(
                    thread,
                    passed > 0 ? calls * 1e9 / passed : 0,
                    timed ? percent(cpu, passed) : OptionalDouble.empty()));
        }
        return threads;
    }

    private List<LiveFunction> functions(Profile profile, Look now, Look oldest) {
        List<LiveFunction> functions = new ArrayList<>(now.calls.length);
        long passed = now.elapsedNanos - oldest.elapsedNanos;
        for (int i = 0; i < now.calls.length; i++) {
            boolean known = i < oldest.calls.length;
            Latency before = known ? oldest.latencies[i] : Latency.NONE;
            Latency lately = now.latencies[i] == before ? Latency.NONE : now.latencies[i].since(before);
            long calls = Math.max(0, now.calls[i] - (known ? oldest.calls[i] : 0));
            OptionalDouble total =
                    lately.known() ? percent(lately.meanNanos().orElse(0) * calls, passed) : OptionalDouble.empty();
            long timed = Math.max(0, now.timed[i] - (known ? oldest.timed[i] : 0));
            functions.add(
                    new LiveFunction(i, profile.functions().get(i), now.rates[i], rates(i), total, timed, lately));
        }
        return functions;
    }

    private float[] rates(int function) {
        float[] rates = new float[LOOKS];
        int at = LOOKS - looks.size();
        for (Look look : looks) {
            rates[at++] = function < look.rates.length ? look.rates[function] : 0;
        }
        return rates;
    }

    private static OptionalDouble percent(double part, long whole) {
        return whole > 0 ? OptionalDouble.of(100 * part / whole) : OptionalDouble.empty();
    }
}
