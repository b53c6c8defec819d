package org.mdlagent.profiler.report.live;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.mdlagent.profiler.report.page.HtmlReport;
import org.mdlagent.profiler.report.page.Page;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.TimedCall;
import org.mdlagent.profiler.report.slice.Timeline;
import org.mdlagent.profiler.text.JsonWriter;

/// The report of a running program for a browser: the page of [HtmlReport], which polls for updates.
///
/// Functions keep their positions. An update contains only functions that have changed since the last look
/// the page has seen: their figures, and large or nearly constant data only if needed. Looks are numbered by
/// the clock, so a page served by an earlier process gets everything.
public final class LiveReport {
    private final Profile profile;
    private final boolean runs;
    private final long look;

    /// By function: the look at which it last changed.
    private final long[] changed;

    /// By function: the look at which its name or source location last changed.
    private final long[] described;

    /// The first look.
    ///
    /// @param runs   whether the program still runs
    /// @param millis time of this look, by the clock
    public LiveReport(Profile profile, boolean runs, long millis) {
        this(
                profile,
                runs,
                millis,
                new long[profile.functions().size()],
                new long[profile.functions().size()]);
        Arrays.fill(changed, look);
        Arrays.fill(described, look);
    }

    private LiveReport(Profile profile, boolean runs, long look, long[] changed, long[] described) {
        this.profile = profile;
        this.runs = runs;
        this.look = look;
        this.changed = changed;
        this.described = described;
    }

    /// A later look at the same session.
    public LiveReport next(Profile later, boolean stillRuns, long millis) {
        long number = Math.max(look + 1, millis);
        List<FunctionProfile> functions = later.functions();
        long[] nowChanged = Arrays.copyOf(changed, functions.size());
        long[] nowDescribed = Arrays.copyOf(described, functions.size());
        for (int i = 0; i < nowChanged.length; i++) {
            FunctionProfile before = i < changed.length ? profile.functions().get(i) : null;
            if (before == null || !isSame(before, functions.get(i))) {
                nowDescribed[i] = number;
            }
            if (nowDescribed[i] == number || differ(requireNonNull(before), functions.get(i))) {
                nowChanged[i] = number;
            }
        }
        return new LiveReport(later, stillRuns, number, nowChanged, nowDescribed);
    }

    private static boolean isSame(FunctionProfile a, FunctionProfile b) {
        return a.name().equals(b.name())
                && a.symbol().equals(b.symbol())
                && a.image().equals(b.image())
                && Objects.equals(a.file(), b.file())
                && a.line() == b.line();
    }

    private static boolean differ(FunctionProfile a, FunctionProfile b) {
        return a.calls() != b.calls()
                || a.sampled() != b.sampled()
                || !a.totalNanos().equals(b.totalNanos())
                || !a.selfNanos().equals(b.selfNanos())
                || !a.cpuNanos().equals(b.cpuNanos())
                || !a.cpu().totalNanos().equals(b.cpu().totalNanos())
                || !a.callsError().equals(b.callsError());
    }

    /// Writes the page.
    ///
    /// @param source path on the server. Below it are `profile.json` with `since` and `shown` ([#writeNews]),
    ///     `heat.json` with `function` and `from` ([HeatNews]), `spent.json` with `functions` and `from`
    ///     ([SpentNews]), `calls.json` ([#writeCalls]), and `samples.json` ([#writeSamples])
    public void writePage(String source, Appendable out) throws IOException {
        StringBuilder data = new StringBuilder();
        JsonWriter json = JsonWriter.ofPage(data).beginObject().member("source", source);
        news(0, Set.of(), json);
        json.endObject();
        List<String> scripts = new ArrayList<>(HtmlReport.SCRIPTS);
        scripts.add("asked.js");
        scripts.add("live.js");
        Page.write("report.html", "; connect-src 'self'", HtmlReport.STYLES, data, scripts, out);
    }

    /// Writes an update as JSON: the contents of the report, but only the functions that have changed, and in
    /// `positions` where they belong. It has names that are new, and histograms of functions that are in
    /// view.
    ///
    /// @param since  number of the last look that the reader knows, 0 for none
    /// @param inView positions of the functions whose histograms it needs, whether they have changed or not
    public void writeNews(long since, Set<Integer> inView, Appendable out) throws IOException {
        JsonWriter json = JsonWriter.ofPage(out).beginObject();
        news(since, inView, json);
        json.endObject();
    }

    /// Writes all single samples of CPU time as JSON, with the paths that they refer to.
    public void writeSamples(Appendable out) throws IOException {
        JsonWriter json = JsonWriter.ofPage(out).beginObject();
        HtmlReport.samplesWithPaths(profile.paths(), profile.functions(), json);
        json.endObject();
    }

    /// Writes the slowest of some calls as JSON.
    ///
    /// @param calls of the same session
    public void writeCalls(List<TimedCall> calls, Appendable out) throws IOException {
        JsonWriter json = JsonWriter.ofPage(out).beginObject();
        HtmlReport.calls(calls, profile.functions(), json);
        json.endObject();
    }

    private void news(long since, Set<Integer> inView, JsonWriter json) throws IOException {
        long known = since > look ? 0 : since;
        HtmlReport.Choice choice = new HtmlReport.Choice(
                position -> changed[position] > known || inView.contains(position),
                position -> described[position] > known,
                position -> described[position] > known || inView.contains(position));
        json.member("look", look).member("runs", runs).beginArray("positions");
        for (int i = 0; i < changed.length; i++) {
            if (choice.wanted().test(i)) {
                json.element(i);
            }
        }
        json.endArray();
        HtmlReport.data(profile, Timeline.NONE, ProfileOrder.byDefault(profile), profile.functions(), choice, json);
    }
}
