package org.mdlagent.profiler.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;

/// The report of a running program for a browser: the page of [HtmlReport], which goes on asking for what is new.
///
/// A function keeps its position, and news hold those functions only of which something has changed since a look that
/// the page has seen. Looks are numbered by the clock, so a page that was served by an earlier process gets all.
public final class LiveReport {
    private final Profile profile;
    private final boolean runs;
    private final long look;

    /// The look at which each function was seen to change.
    private final long[] changed;

    /// The first look.
    ///
    /// @param runs   whether the program does
    /// @param millis time of this look, by the clock
    public LiveReport(Profile profile, boolean runs, long millis) {
        this(profile, runs, millis, new long[profile.functions().size()]);
        Arrays.fill(changed, look);
    }

    private LiveReport(Profile profile, boolean runs, long look, long[] changed) {
        this.profile = profile;
        this.runs = runs;
        this.look = look;
        this.changed = changed;
    }

    /// A later look at the same session.
    public LiveReport next(Profile later, boolean stillRuns, long millis) {
        long number = Math.max(look + 1, millis);
        List<FunctionProfile> functions = later.functions();
        long[] now = Arrays.copyOf(changed, functions.size());
        for (int i = 0; i < now.length; i++) {
            if (i >= changed.length || differ(profile.functions().get(i), functions.get(i))) {
                now[i] = number;
            }
        }
        return new LiveReport(later, stillRuns, number, now);
    }

    private static boolean differ(FunctionProfile a, FunctionProfile b) {
        return a.calls() != b.calls()
                || a.sampled() != b.sampled()
                || !a.totalNanos().equals(b.totalNanos())
                || !a.selfNanos().equals(b.selfNanos())
                || !a.callsError().equals(b.callsError());
    }

    /// Writes the page.
    ///
    /// @param source where it gets news from, by [#writeNews]: a path on the server that it comes from
    public void writePage(String source, Appendable out) throws IOException {
        StringBuilder data = new StringBuilder();
        JsonWriter json = new JsonWriter(data, false).beginObject().member("source", source);
        news(0, json);
        json.endObject();
        List<String> scripts = List.of("table.js", "report.js", "live.js");
        Page.write("report.html", "; connect-src 'self'", List.of("report.css"), data, scripts, out);
    }

    /// Writes what is new as JSON: what the report holds, but of the functions those only that have changed, and in
    /// `positions` where they belong.
    ///
    /// @param since number of the look that the reader knows, 0 for none
    public void writeNews(long since, Appendable out) throws IOException {
        JsonWriter json = new JsonWriter(out, false).beginObject();
        news(since, json);
        json.endObject();
    }

    private void news(long since, JsonWriter json) throws IOException {
        long known = since > look ? 0 : since;
        List<FunctionProfile> functions = profile.functions();
        IdentityHashMap<FunctionProfile, Boolean> fresh = new IdentityHashMap<>();
        List<Long> positions = new ArrayList<>();
        for (int i = 0; i < changed.length; i++) {
            if (changed[i] > known) {
                fresh.put(functions.get(i), true);
                positions.add((long) i);
            }
        }
        json.member("look", look).member("runs", runs).beginArray("positions");
        for (long position : positions) {
            json.element(position);
        }
        json.endArray();
        HtmlReport.data(profile, Timeline.NONE, ProfileOrder.byDefault(profile), functions, fresh::containsKey, json);
    }
}
