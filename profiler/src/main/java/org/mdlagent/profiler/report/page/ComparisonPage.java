package org.mdlagent.profiler.report.page;

import java.io.IOException;
import java.util.IdentityHashMap;
import java.util.List;
import org.mdlagent.profiler.report.format.ComparisonJson;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.statistics.Comparison;
import org.mdlagent.profiler.report.statistics.FunctionChange;
import org.mdlagent.profiler.text.JsonWriter;

/// A comparison as a self-contained page that loads nothing. The data is embedded as JSON; `comparison.js`
/// draws it.
public final class ComparisonPage {
    private ComparisonPage() {}

    private static final List<String> SCRIPTS = List.of("table.js", "views.js", "flame.js", "comparison.js");

    /// Writes the first `limit` functions.
    ///
    /// @param paths of the later run, if its CPU time was sampled
    public static void write(Comparison comparison, CallTree paths, int limit, Appendable out) throws IOException {
        StringBuilder data = new StringBuilder();
        JsonWriter json = JsonWriter.ofPage(data).beginObject();
        ComparisonJson.members(comparison, limit, true, json);
        IdentityHashMap<FunctionProfile, Long> positions = new IdentityHashMap<>();
        List<FunctionChange> shown = comparison.changes().stream().limit(limit).toList();
        for (int i = 0; i < shown.size(); i++) {
            FunctionProfile after = shown.get(i).after();
            if (after != null) {
                positions.put(after, (long) i);
            }
        }
        HtmlReport.paths(paths, positions, json);
        json.endObject();
        Page.write("comparison.html", "", List.of("report.css", "comparison.css"), data, SCRIPTS, out);
    }
}
