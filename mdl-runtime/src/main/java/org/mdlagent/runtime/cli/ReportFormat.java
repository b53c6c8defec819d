package org.mdlagent.runtime.cli;

import java.io.IOException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.JsonReport;
import org.mdlagent.profiler.report.Profile;
import org.mdlagent.profiler.report.ProfileOrder;
import org.mdlagent.profiler.report.TableReport;

/// The formats of a report.
enum ReportFormat {
    TABLE,
    JSON;

    private static final int TABLE_LIMIT = 24;
    private static final String LATER = " csv html folded speedscope pprof trace prometheus ";

    static ReportFormat of(String name) {
        return switch (name) {
            case "table" -> TABLE;
            case "json" -> JSON;
            default ->
                throw CommandFailure.usage(
                        LATER.contains(" " + name + " ")
                                ? "the format " + name + " is not in this version yet"
                                : "there is no format " + name,
                        "there are table and json");
        };
    }

    static ProfileOrder order(String name) {
        try {
            return ProfileOrder.valueOf(name.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(
                    "functions cannot be sorted by " + name,
                    "there are self, total, calls, mean, p50, p90, p99, p999, max and name");
        }
    }

    /// @param order null for that which suits the session
    /// @param limit functions to show, null for the format's own
    /// @param width columns of the terminal, 0 for none
    void write(
            Profile profile,
            @Nullable ProfileOrder order,
            @Nullable Integer limit,
            Appendable out,
            boolean colour,
            int width)
            throws IOException {
        ProfileOrder used = order == null ? ProfileOrder.byDefault(profile) : order;
        if (this == JSON) {
            JsonReport.write(profile, used, limit == null ? Integer.MAX_VALUE : limit, out);
        } else {
            new TableReport(used, limit == null ? TABLE_LIMIT : limit, colour, width).write(profile, out);
        }
    }
}
