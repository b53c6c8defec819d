package org.mdlagent.profiler.report.live;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.mdlagent.profiler.report.format.LatencyBars;
import org.mdlagent.profiler.report.format.PlainText;
import org.mdlagent.profiler.report.format.ProfileNotes;
import org.mdlagent.profiler.report.format.Quantity;
import org.mdlagent.profiler.report.format.ShortName;
import org.mdlagent.profiler.report.format.Style;
import org.mdlagent.profiler.report.profile.CallEdge;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.text.ForeignText;

/// The live view's lines for people. Columns have fixed positions, so that nothing moves between looks.
///
/// @param width  columns of the terminal
/// @param colour whether it supports ANSI sequences
public record LiveTable(int width, boolean colour) {
    private static final String PARTS = "▏▎▍▌▋▊▉█";
    private static final int BAR = 8;
    private static final String CALLED_BY = "called by ";

    /// Width of a caller's share with its error.
    private static final int SHARE = 13;

    /// Maximum callers named.
    private static final int CALLERS = 3;

    private static final int NAME_MIN = 12;

    /// Width reserved for names before there is room for sparklines and bars.
    private static final int NAME_WISHED = 32;

    private static final int NAME_MAX = 60;

    /// Width of the columns beside the name: rate and durations, the sparkline, the bar.
    private static final int NUMBERS = 47;

    private static final int WITH_RATES = NUMBERS + 1 + LiveSession.LOOKS;
    private static final int WITH_BAR = WITH_RATES + 1 + BAR;

    /// One line about the program and the agent's overhead.
    public String facts(LiveProfile live) {
        SessionFacts session = live.whole().session();
        List<String> facts = new ArrayList<>();
        facts.add("mdl top");
        facts.add(ForeignText.printable(session.name()) + " " + session.pid());
        facts.add("up " + PlainText.elapsed(session.elapsedNanos().orElse(0)));
        int threads = live.threads().size();
        facts.add(threads == 1 ? "1 thread" : PlainText.grouped(threads) + " threads");
        live.probePercent().ifPresent(percent -> facts.add(String.format(Locale.ROOT, "probes %.1f %%", percent)));
        live.agentPercent().ifPresent(percent -> facts.add(String.format(Locale.ROOT, "agent %.1f %%", percent)));
        facts.add(ProfileNotes.mode(live.whole()));
        return style().bold(cut(String.join(" · ", facts)));
    }

    /// The header of [#function], with a mark at the sort key.
    public String head(LiveOrder order) {
        StringBuilder line = new StringBuilder(fit("  FUNCTION" + mark(order == LiveOrder.NAME), nameWidth() + 2));
        line.append(right("RATE" + mark(order == LiveOrder.RATE), 11));
        if (width - NAME_WISHED >= WITH_RATES) {
            line.append(" ").append(" ".repeat(LiveSession.LOOKS));
        }
        line.append(right("p50" + mark(order == LiveOrder.P50), 8));
        line.append(right("p99" + mark(order == LiveOrder.P99), 8));
        line.append(right("p99.9" + mark(order == LiveOrder.P999), 8));
        line.append(right("TOTAL" + mark(order == LiveOrder.TOTAL), 9));
        return style().dim(cut(line.toString()));
    }

    private static String mark(boolean sorted) {
        return sorted ? "▾" : "";
    }

    /// One function's line.
    public String function(LiveFunction function, boolean selected) {
        StringBuilder line = new StringBuilder(selected ? "▶ " : "  ");
        String name = ShortName.of(ForeignText.printable(function.whole().name()), nameWidth());
        line.append(fit(name, nameWidth()));
        line.append(right(function.whole().on() ? Quantity.rate(function.rate()).text() : "off", 11));
        if (width - NAME_WISHED >= WITH_RATES) {
            line.append(" ").append(sparkline(function.rates()));
        }
        line.append(right(duration(function.percentileNanos(50)), 8));
        line.append(right(duration(function.percentileNanos(99)), 8));
        line.append(right(duration(function.percentileNanos(99.9)), 8));
        line.append(right(percent(function.totalPercent()), 9));
        if (width - NAME_WISHED >= WITH_BAR) {
            line.append(" ").append(bar(function.totalPercent().orElse(0) / 100, BAR));
        }
        String text = cut(line.toString());
        return selected ? style().reversed(fit(text, width)) : function.whole().on() ? text : style().dim(text);
    }

    /// The header of [#thread].
    public String threadHead() {
        return style().dim(cut(fit("  THREAD", 12) + fit("NAME", 18) + right("CPU", 9) + right("CALLS SEEN", 13)));
    }

    /// One thread's line.
    ///
    /// @param name the thread's own name
    public String thread(LiveThread thread, String name) {
        return cut(fit("  " + thread.whole().tid(), 12)
                + fit(ForeignText.printable(name), 18)
                + right(percent(thread.cpuPercent()), 9)
                + right(Quantity.rate(thread.rate()).text(), 13));
    }

    /// The details of one function, with a histogram of its recent durations.
    ///
    /// @param session of the function; it may know the callers
    public List<String> detail(LiveFunction function, Profile session) {
        FunctionProfile whole = function.whole();
        List<String> lines = new ArrayList<>();
        lines.add(style().bold(cut(ShortName.of(ForeignText.printable(whole.name()), width))));
        if (whole.file() != null) {
            lines.add(cut(ForeignText.printable(whole.file()) + (whole.line() > 0 ? ":" + whole.line() : "")));
        }
        lines.add(cut(ForeignText.printable(whole.image())));
        lines.add(cut((whole.callsExact() ? "" : "about ")
                + Quantity.count(whole.calls()).text() + " calls so far" + (whole.on() ? "" : ", off now")));
        callers(session.callers().getOrDefault(whole, List.of()), lines);
        lines.add("");
        if (function.latency().known()) {
            histogram(function.latency(), lines);
        } else {
            lines.add(style().dim(cut("no call was timed lately")));
        }
        return lines;
    }

    /// The callers with the most time.
    private void callers(List<CallEdge> callers, List<String> lines) {
        double nanos = callers.stream().mapToDouble(CallEdge::nanos).sum();
        for (CallEdge edge : callers.subList(0, Math.min(CALLERS, callers.size()))) {
            String name = edge.caller() == null
                    ? "code without probes"
                    : edge.caller().name();
            double share = nanos > 0 ? 100 * edge.nanos() / nanos : 0;
            String text = edge.error().isPresent()
                    ? Quantity.share(share, edge.error().getAsDouble()).text()
                    : Quantity.percent(share).text() + " ±?";
            int room = Math.max(1, width - CALLED_BY.length() - SHARE);
            lines.add(cut(CALLED_BY + fit(ShortName.of(ForeignText.printable(name), room), room) + right(text, SHARE)));
        }
    }

    /// Steps of 1, 2, 5; each line is labelled with the start of its step.
    private void histogram(Latency latency, List<String> lines) {
        double[] bounds = steps(latency.minNanos().orElse(0), latency.maxNanos().orElse(0));
        long[] counts = latency.spread(bounds);
        long sum = 0;
        for (long count : counts) {
            sum += count;
        }
        int room = Math.max(1, width - 16);
        for (int i = 0; i < counts.length; i++) {
            double part = (double) counts[i] / Math.max(1, sum);
            Quantity begin = Quantity.duration(Math.round(bounds[i]));
            lines.add(cut(right(begin.whole() + begin.unit(), 6) + " ▏" + fit(bar(part, room), room)
                    + right(String.format(Locale.ROOT, "%.1f%%", 100 * part), 7)));
        }
    }

    private static double[] steps(long min, long max) {
        double[] mantissas = {1, 2, 5};
        List<Double> steps = new ArrayList<>();
        for (int i = 0; steps.isEmpty() || steps.getLast() <= max; i++) {
            double step = mantissas[i % 3] * Math.pow(10, Math.floorDiv(i, 3));
            if (step <= min) {
                steps.clear();
            }
            steps.add(step);
        }
        return steps.stream().mapToDouble(Double::doubleValue).toArray();
    }

    private int nameWidth() {
        int taken =
                width - NAME_WISHED >= WITH_BAR ? WITH_BAR : width - NAME_WISHED >= WITH_RATES ? WITH_RATES : NUMBERS;
        return Math.clamp(width - taken, NAME_MIN, NAME_MAX);
    }

    private static String sparkline(float[] rates) {
        float most = 0;
        for (float rate : rates) {
            most = Math.max(most, rate);
        }
        StringBuilder line = new StringBuilder();
        // Without the highest: steady rates would turn all lines into one block.
        String bars = LatencyBars.HEIGHTS.substring(0, LatencyBars.HEIGHTS.length() - 1);
        for (float rate : rates) {
            int height = (int) Math.ceil(rate / most * bars.length());
            line.append(rate == 0 ? ' ' : bars.charAt(Math.clamp(height - 1, 0, bars.length() - 1)));
        }
        return line.toString();
    }

    private static String bar(double part, int cells) {
        int eighths = (int) Math.round(Math.clamp(part, 0, 1) * cells * PARTS.length());
        String full = PARTS.substring(PARTS.length() - 1).repeat(eighths / PARTS.length());
        int rest = eighths % PARTS.length();
        return rest == 0 ? full : full + PARTS.charAt(rest - 1);
    }

    private static String duration(OptionalLong nanos) {
        return PlainText.duration(nanos).text();
    }

    private static String percent(OptionalDouble percent) {
        return percent.isPresent() ? Quantity.percent(percent.getAsDouble()).text() : "-";
    }

    private static String right(String text, int columns) {
        return " ".repeat(Math.max(0, columns - ShortName.columns(text))) + text;
    }

    private static String fit(String text, int columns) {
        return text + " ".repeat(Math.max(0, columns - ShortName.columns(text)));
    }

    private String cut(String text) {
        return ShortName.columns(text) <= width ? text : text.substring(0, text.offsetByCodePoints(0, width));
    }

    private Style style() {
        return new Style(colour);
    }
}
