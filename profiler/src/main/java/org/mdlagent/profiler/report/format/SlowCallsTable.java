package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.CodeFrame;
import org.mdlagent.profiler.report.profile.SlowCall;
import org.mdlagent.profiler.text.ForeignText;

/// Slow calls for people: the longest as trees of what they called, with the time that each was not on a processor and
/// the place where it waited.
///
/// @param limit  slow calls to show
/// @param colour whether the output supports ANSI colours
public record SlowCallsTable(int limit, boolean colour) {
    /// Callees shown of a call, the longest ones.
    private static final int CALLEES_MAX = 8;

    private static final int DEPTH_MAX = 12;

    /// Frames shown of a place.
    private static final int FRAMES_MAX = 4;

    /// A shorter wait may be an error of the CPU clock's last reading.
    private static final double WAIT_PART_MIN = 0.1;

    public void write(SlowCall.All slow, Appendable out) throws IOException {
        if (slow.equals(SlowCall.All.NONE)) {
            return;
        }
        List<SlowCall> requests = slow.requests();
        List<SlowCall> shown = requests.subList(0, Math.min(limit, requests.size()));
        out.append('\n').append(new Style(colour).bold(title(slow))).append('\n');
        if (!shown.isEmpty()) {
            out.append(new Style(colour)
                            .dim(String.format(Locale.ROOT, "%10s %10s %10s  %s", "TIME", "OWN", "WAITED", "CALL")))
                    .append('\n');
        }
        for (SlowCall call : shown) {
            write(call, 0, out);
        }
        if (shown.size() < requests.size()) {
            out.append(new Style(colour)
                            .dim("the " + PlainText.grouped(shown.size()) + " longest of "
                                    + PlainText.grouped(requests.size()) + " kept (--limit)"))
                    .append('\n');
        }
    }

    private static String title(SlowCall.All slow) {
        String threshold = slow.thresholdNanos() > 0
                ? " of " + Quantity.duration(slow.thresholdNanos()).text() + " or more"
                : " beyond their function's p99.9";
        return PlainText.grouped(slow.count())
                + (slow.count() == 1 ? " slow call" : " slow calls")
                + threshold
                + (slow.cut() > 0 ? "; " + PlainText.grouped(slow.cut()) + " lack some of their first callees" : "");
    }

    private void write(SlowCall call, int depth, Appendable out) throws IOException {
        String waited = isWaiting(call)
                ? Quantity.duration(call.waitNanos().getAsLong()).text()
                : "-";
        out.append(String.format(
                Locale.ROOT,
                "%10s %10s %10s  ",
                Quantity.duration(call.nanos()).text(),
                Quantity.duration(call.ownNanos()).text(),
                call.waitNanos().isEmpty() ? "?" : waited));
        out.append("  ".repeat(depth))
                .append(ForeignText.printable(call.function().name()));
        if (depth == 0) {
            out.append(
                    new Style(colour).dim(" at " + PlainText.elapsed(call.startNanos()) + " in thread " + call.tid()));
        }
        if (isWaiting(call) && !call.waits().isEmpty()) {
            out.append(", in ").append(place(call.waits().getFirst(), call));
        }
        out.append('\n');
        List<SlowCall> longest = call.callees().stream()
                .sorted(Comparator.comparingLong(SlowCall::nanos).reversed())
                .limit(CALLEES_MAX)
                .toList();
        for (SlowCall callee : depth < DEPTH_MAX ? call.callees() : List.<SlowCall>of()) {
            if (longest.contains(callee)) {
                write(callee, depth + 1, out);
            }
        }
        int others = call.callees().size() - longest.size();
        if (others > 0 && depth < DEPTH_MAX) {
            out.append(" ".repeat(34 + 2 * depth))
                    .append("and " + PlainText.grouped(others) + " shorter")
                    .append('\n');
        }
    }

    private static boolean isWaiting(SlowCall call) {
        return call.waitNanos().orElse(0) > WAIT_PART_MIN * call.nanos();
    }

    /// The frames of a wait below the call, innermost first; all of them if the call is not on the path, as with tail
    /// calls.
    static String place(CallTree.Wait wait, SlowCall call) {
        List<CodeFrame> path = wait.path().path();
        int from = 0;
        for (int i = 0; i < path.size(); i++) {
            if (call.function().equals(path.get(i).function())) {
                from = i + 1;
            }
        }
        if (from == path.size()) {
            return "its own code";
        }
        return path.subList(from, path.size()).reversed().stream()
                .limit(FRAMES_MAX)
                .map(frame -> ForeignText.printable(frame.name()))
                .collect(Collectors.joining(" < "));
    }
}
