package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.Locale;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.CodeFrame;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.SampledThread;
import org.mdlagent.profiler.text.ForeignText;

/// The report for tools that read the text of `perf script` (`tools/perf/Documentation/perf-script.txt` in
/// the Linux source): one `cpu-clock` event per sample. Its period is the CPU time in nanoseconds that the
/// sample stands for; its time is relative to the start of the session.
///
/// The innermost frame of a path has the link-time address of the instruction. Other addresses are 0, and the
/// offset in each function is `+0x0`, which readers cut off.
public final class PerfScriptReport {
    private PerfScriptReport() {}

    /// Writes all samples of a profile whose paths are known.
    public static void write(Profile profile, Appendable out) throws IOException {
        CallTree tree = profile.paths();
        String program = profile.session().name();
        for (CallTree.Sample sample : tree.samplesByTime()) {
            if (tree.isRoot(sample.path())) {
                continue;
            }
            SampledThread thread = tree.threads().get(sample.thread());
            out.append(String.format(
                    Locale.ROOT,
                    "%s %d/%d %.6f: %10d cpu-clock:%n",
                    ForeignText.printable(thread.name().isBlank() ? program : thread.name()),
                    thread.pid(),
                    thread.tid(),
                    sample.startNanos() / 1e9,
                    sample.weight() * tree.samplesPerLogged() * tree.nanosPerSample()));
            long address = sample.address();
            for (CodeFrame frame : sample.path().path().reversed()) {
                out.append(
                        "\t%16x %s+0x0 (%s)%n".formatted(address, ForeignText.printable(frame.name()), image(frame)));
                address = 0;
            }
            out.append('\n');
        }
    }

    private static String image(CodeFrame frame) {
        return frame.image().isEmpty() ? "[unknown]" : ForeignText.printable(frame.image());
    }
}
