package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.stream.Collectors;
import org.mdlagent.profiler.report.codec.ForeignText;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;

/// The report for flame graph tools: a line for each call path, as Brendan Gregg's `stackcollapse` programs write them
/// ("The Flame Graph", CACM 59(6), 2016): the functions, the caller of all first, with semicolons between them, and the
/// time on that path that the last one took by itself, in nanoseconds. How paths are found stands in [CallTree].
public final class FoldedReport {
    private FoldedReport() {}

    /// Writes all paths of a profile.
    public static void write(Profile profile, Appendable out) throws IOException {
        for (CallTree.Node node : CallTree.of(profile).nodes()) {
            if (node.selfNanos() > 0) {
                out.append(node.path().stream().map(FoldedReport::frame).collect(Collectors.joining(";")))
                        .append(' ')
                        .append(Long.toString(node.selfNanos()))
                        .append('\n');
            }
        }
    }

    private static String frame(FunctionProfile function) {
        return ForeignText.printable(function.name()).replace(';', ',');
    }
}
