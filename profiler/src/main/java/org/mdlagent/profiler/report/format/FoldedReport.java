package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.stream.Collectors;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.CodeFrame;
import org.mdlagent.profiler.text.ForeignText;

/// The report for flame graph tools: one line per call path, as Brendan Gregg's `stackcollapse` programs
/// write them ("The Flame Graph", CACM 59(6), 2016): the functions, outermost first, separated by semicolons,
/// and the CPU time of the last function itself on that path, in nanoseconds.
public final class FoldedReport {
    private FoldedReport() {}

    /// Writes all call paths of a profile, or those of events, with their number in place of nanoseconds.
    public static void write(CallTree paths, Appendable out) throws IOException {
        for (CallTree.Node node : paths.nodes()) {
            if (node.selfNanos() > 0) {
                out.append(node.path().stream().map(FoldedReport::name).collect(Collectors.joining(";")))
                        .append(' ')
                        .append(Long.toString(node.selfNanos()))
                        .append('\n');
            }
        }
    }

    private static String name(CodeFrame frame) {
        return ForeignText.printable(frame.name()).replace(';', ',');
    }
}
