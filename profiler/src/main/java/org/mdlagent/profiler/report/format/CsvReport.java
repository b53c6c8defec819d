package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.text.ForeignText;

/// The report for spreadsheets: CSV (RFC 4180) with a header row. Durations are in nanoseconds; unknown
/// values are empty. Columns of CPU time exist if it was sampled.
public final class CsvReport {
    private static final List<String> HEADER = List.of(
            "name",
            "symbol",
            "file",
            "line",
            "image",
            "calls",
            "callsExact",
            "callsError",
            "sampled",
            "totalNanos",
            "totalError",
            "selfNanos",
            "selfError",
            "minNanos",
            "meanNanos",
            "p50Nanos",
            "p90Nanos",
            "p99Nanos",
            "p999Nanos",
            "maxNanos",
            "damage");

    private static final List<String> CPU_HEADER = List.of("cpuNanos", "cpuError");

    private static final Pattern TO_QUOTE = Pattern.compile("[\",]");

    private CsvReport() {}

    /// Writes the first `limit` functions of a profile, in the given order.
    public static void write(Profile profile, ProfileOrder order, int limit, Appendable out) throws IOException {
        boolean hasCpu = !profile.cpu().isEmpty();
        List<String> header = new ArrayList<>(HEADER);
        header.addAll(hasCpu ? CPU_HEADER : List.of());
        row(header, out);
        for (FunctionProfile function : order.first(limit, profile.functions())) {
            List<String> fields = fields(function);
            if (hasCpu) {
                fields.add(text(function.shownCpuNanos()));
                fields.add(text(function.shownCpuError()));
            }
            row(fields, out);
        }
    }

    private static List<String> fields(FunctionProfile function) {
        Latency latency = function.latency();
        List<String> fields = new ArrayList<>();
        fields.add(function.name());
        fields.add(function.symbol());
        fields.add(function.file() == null ? "" : function.file());
        fields.add(function.line() > 0 ? Integer.toString(function.line()) : "");
        fields.add(function.image());
        fields.add(text(function.knownCalls()));
        fields.add(Boolean.toString(function.callsExact()));
        fields.add(text(function.callsError()));
        fields.add(Long.toString(function.sampled()));
        fields.add(text(function.shownTotalNanos()));
        fields.add(text(function.shownTotalError()));
        fields.add(text(function.shownSelfNanos()));
        fields.add(text(function.shownSelfError()));
        fields.add(text(latency.minNanos()));
        fields.add(text(latency.meanNanos()));
        fields.add(text(function.percentileNanos(50)));
        fields.add(text(function.percentileNanos(90)));
        fields.add(text(function.percentileNanos(99)));
        fields.add(text(function.percentileNanos(99.9)));
        fields.add(text(latency.maxNanos()));
        fields.add(function.damage() == null ? "" : function.damage());
        return fields;
    }

    static void row(List<String> fields, Appendable out) throws IOException {
        String separator = "";
        for (String field : fields) {
            out.append(separator).append(quoted(field));
            separator = ",";
        }
        out.append("\r\n");
    }

    private static String quoted(String field) {
        String printable = ForeignText.printable(field);
        return TO_QUOTE.matcher(printable).find() ? '"' + printable.replace("\"", "\"\"") + '"' : printable;
    }

    static String text(OptionalLong value) {
        return value.isPresent() ? Long.toString(value.getAsLong()) : "";
    }

    private static String text(OptionalDouble value) {
        return value.isPresent() ? Double.toString(value.getAsDouble()) : "";
    }
}
