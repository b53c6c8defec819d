package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.Locale;
import org.mdlagent.profiler.report.codec.ForeignText;
import org.mdlagent.profiler.report.file.BaseName;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.CodeFrame;
import org.mdlagent.profiler.report.profile.Profile;

/// The report for tools that read the text of `perf script` (`tools/perf/Documentation/perf-script.txt` in the Linux
/// source): an event of `cpu-clock` for each call path, whose period is the CPU time in nanoseconds that the last
/// function of the path took by itself.
///
/// A session keeps neither when nor in which thread a sample was taken, nor its address. So the time of an event is the
/// CPU time of the events before it, its thread is the process, addresses are 0, and the offset in each function is
/// `+0x0`, which readers cut off.
public final class PerfScriptReport {
    private PerfScriptReport() {}

    /// Writes all paths of a profile.
    public static void write(Profile profile, Appendable out) throws IOException {
        String process = ForeignText.printable(BaseName.of(profile.session().program())) + " "
                + profile.session().pid();
        long time = 0;
        for (CallTree.Node node : profile.paths().nodes()) {
            if (node.selfNanos() > 0) {
                out.append(String.format(
                        Locale.ROOT, "%s %.6f: %10d cpu-clock:%n", process, time / 1e9, node.selfNanos()));
                for (CodeFrame frame : node.path().reversed()) {
                    out.append("\t%16x %s+0x0 (%s)%n".formatted(0, ForeignText.printable(frame.name()), image(frame)));
                }
                out.append('\n');
                time += node.selfNanos();
            }
        }
    }

    private static String image(CodeFrame frame) {
        return frame.image().isEmpty() ? "[unknown]" : ForeignText.printable(frame.image());
    }
}
