package org.mdlagent.profiler.report.page;

import java.io.IOException;
import java.util.List;
import org.mdlagent.profiler.report.format.ComparisonJson;
import org.mdlagent.profiler.report.format.JsonWriter;
import org.mdlagent.profiler.report.statistics.Comparison;

/// A comparison for a browser: one file that holds all it needs, and loads nothing. What it shows stands in it as JSON;
/// `comparison.js` draws it.
public final class ComparisonPage {
    private ComparisonPage() {}

    /// Writes the first `limit` functions.
    public static void write(Comparison comparison, int limit, Appendable out) throws IOException {
        StringBuilder data = new StringBuilder();
        ComparisonJson.write(comparison, limit, true, new JsonWriter(data, false));
        List<String> styles = List.of("report.css", "comparison.css");
        Page.write("comparison.html", "", styles, data, List.of("table.js", "comparison.js"), out);
    }
}
