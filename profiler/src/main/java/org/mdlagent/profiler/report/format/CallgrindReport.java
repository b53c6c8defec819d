package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.CodeFrame;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.text.ForeignText;

/// The report for KCachegrind and `callgrind_annotate` ("Callgrind Format Specification", version 1, in the
/// manual of Valgrind): by function, the CPU time in its own code; by caller and callee, the CPU time below
/// the call; in nanoseconds.
///
/// Samples do not count calls, so call lines say `calls=0`, as those of `pprof -callgrind` do.
public final class CallgrindReport {
    private static final String UNKNOWN = "???";

    private final Appendable out;
    private final IdentityHashMap<CodeFrame, Integer> numbers = new IdentityHashMap<>();
    private final List<CodeFrame> functions = new ArrayList<>();

    /// By function number.
    private final Map<Integer, Long> own = new TreeMap<>();

    /// By caller number, then by callee number.
    private final Map<Integer, Map<Integer, Long>> calls = new TreeMap<>();

    private record Call(int caller, int callee) {}

    private CallgrindReport(Appendable out) {
        this.out = out;
    }

    /// Writes all call paths of a profile.
    public static void write(Profile profile, Appendable out) throws IOException {
        CallgrindReport report = new CallgrindReport(out);
        for (CallTree.Node node : profile.paths().nodes()) {
            if (node.selfNanos() > 0) {
                report.add(node.path(), node.selfNanos());
            }
        }
        report.write(profile.session().program(), profile.session().pid());
    }

    /// A call that occurs several times on a path, by recursion, adds its time once.
    private void add(List<CodeFrame> path, long nanos) {
        Set<Call> made = new HashSet<>();
        int last = number(path.getFirst());
        for (CodeFrame frame : path.subList(1, path.size())) {
            int called = number(frame);
            made.add(new Call(last, called));
            last = called;
        }
        own.merge(last, nanos, Long::sum);
        for (Call call : made) {
            calls.computeIfAbsent(call.caller, absent -> new TreeMap<>()).merge(call.callee, nanos, Long::sum);
        }
    }

    private int number(CodeFrame frame) {
        return numbers.computeIfAbsent(frame, absent -> {
            functions.add(frame);
            return functions.size() - 1;
        });
    }

    private void write(String program, int pid) throws IOException {
        out.append("# callgrind format\nversion: 1\ncreator: mdl\n");
        out.append("pid: " + pid + "\ncmd: " + ForeignText.printable(program) + "\n");
        out.append("positions: line\nevents: ns\n");
        out.append(
                "summary: " + own.values().stream().mapToLong(Long::longValue).sum() + "\n");
        for (int i = 0; i < functions.size(); i++) {
            out.append('\n');
            writePosition("", functions.get(i));
            out.append(functions.get(i).line() + " " + own.getOrDefault(i, 0L) + "\n");
            for (Map.Entry<Integer, Long> call : calls.getOrDefault(i, Map.of()).entrySet()) {
                CodeFrame callee = functions.get(call.getKey());
                writePosition("c", callee);
                out.append("calls=0 " + callee.line() + "\n");
                out.append(functions.get(i).line() + " " + call.getValue() + "\n");
            }
        }
    }

    /// @param prefix of the fields: that of a callee, or ""
    private void writePosition(String prefix, CodeFrame frame) throws IOException {
        out.append(prefix + "ob=" + (frame.image().isEmpty() ? UNKNOWN : ForeignText.printable(frame.image())) + "\n");
        out.append(prefix + (prefix.isEmpty() ? "fl=" : "fi="))
                .append(frame.file() == null ? UNKNOWN : ForeignText.printable(frame.file()))
                .append('\n');
        out.append(prefix + "fn=" + ForeignText.printable(frame.name()) + "\n");
    }
}
