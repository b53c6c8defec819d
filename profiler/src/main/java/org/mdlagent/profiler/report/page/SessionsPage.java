package org.mdlagent.profiler.report.page;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import org.mdlagent.profiler.report.format.Quantity;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.text.ForeignText;

/// The page that lists the programs whose sessions are served, in the report's style.
public final class SessionsPage {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());

    private SessionsPage() {}

    /// A running program.
    ///
    /// @param id of its session
    public record Live(String id, Profile profile) {}

    /// A program that has ended.
    ///
    /// @param id     of its session
    /// @param ending how it ended
    public record Ended(String id, SessionFacts session, String ending) {}

    /// The server's path of a session's page.
    public static String path(String id) {
        return "/session/" + URLEncoder.encode(id, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /// Writes the page.
    ///
    /// @param ended programs to list
    /// @param host  name of the machine
    public static void write(List<Live> live, List<Ended> ended, String host, Appendable out) throws IOException {
        StringBuilder liveRows = new StringBuilder();
        live.forEach(one -> liveRows.append(row(one)));
        StringBuilder endedRows = new StringBuilder();
        ended.forEach(one -> endedRows.append(row(one)));
        out.append(Page.resource("sessions.html")
                .formatted(
                        Page.resource("report.css"),
                        Page.resource("sessions.css"),
                        text(host),
                        live.size() == 1 ? "1 program runs" : live.size() + " programs run",
                        live.isEmpty() ? "hidden" : "",
                        liveRows,
                        live.isEmpty() ? "" : "hidden",
                        ended.isEmpty() ? "hidden" : "",
                        endedRows,
                        Page.resource("sessions.js")));
    }

    private static String row(Live live) {
        Profile profile = live.profile();
        SessionFacts session = profile.session();
        List<FunctionProfile> functions = profile.functions();
        long called = functions.stream().filter(f -> f.calls() > 0).count();
        long calls = functions.stream().mapToLong(FunctionProfile::calls).sum();
        return "<tr>" + beginning(live.id(), session)
                + cell(Quantity.count(session.process().threads()).text())
                + cell(Quantity.count(called).text() + " of "
                        + Quantity.count(functions.size()).text())
                + cell((session.exact() ? "" : "≈ ") + Quantity.count(calls).text())
                + cell(busiest(profile))
                + overhead(profile)
                + "</tr>\n";
    }

    private static String row(Ended ended) {
        return "<tr>" + beginning(ended.id(), ended.session()) + cell(ended.ending()) + "</tr>\n";
    }

    private static String beginning(String id, SessionFacts session) {
        String program = session.program();
        return "<td><a href=\"" + path(id) + "\">" + text(session.name()) + "</a><small>" + text(program)
                + "</small></td>"
                + cell(Integer.toString(session.pid()))
                + cell(TIME.format(session.started()))
                + cell(elapsed(session));
    }

    private static String cell(String content) {
        return "<td>" + text(content) + "</td>";
    }

    /// The overhead, with a bar for the share of the budget that is used.
    private static String overhead(Profile profile) {
        if (profile.session().state() == SessionFacts.State.AGENT_DEAD) {
            return cell("agent failed");
        }
        OptionalDouble percent = profile.overheadPercent();
        OptionalDouble budget = profile.session().method().budgetPercent();
        double share = budget.orElse(0) > 0 ? Math.min(100, 100 * percent.orElse(0) / budget.getAsDouble()) : 0;
        return String.format(
                Locale.ROOT,
                "<td class=\"share\" style=\"--share: %.1f%%\">%s</td>",
                share,
                percent(percent) + (budget.isPresent() ? " of " + percent(budget) : ""));
    }

    private static String elapsed(SessionFacts session) {
        if (session.elapsedNanos().isEmpty()) {
            return "-";
        }
        Duration elapsed = Duration.ofNanos(session.elapsedNanos().getAsLong());
        return elapsed.toMinutes() == 0
                ? Quantity.duration(elapsed.toNanos()).text()
                : String.format(
                        Locale.ROOT,
                        "%d:%02d:%02d",
                        elapsed.toHours(),
                        elapsed.toMinutesPart(),
                        elapsed.toSecondsPart());
    }

    /// The function with the most self time or, if that is unknown, the most total time.
    private static String busiest(Profile profile) {
        return profile.functions().stream()
                .filter(f ->
                        f.shownSelfNanos().isPresent() || f.shownTotalNanos().isPresent())
                .max(Comparator.comparingLong(
                        f -> f.shownSelfNanos().orElse(f.shownTotalNanos().orElse(0))))
                .map(FunctionProfile::name)
                .orElse("-");
    }

    private static String percent(OptionalDouble percent) {
        return percent.isPresent() ? String.format(Locale.ROOT, "%.2f %%", percent.getAsDouble()) : "-";
    }

    /// Escaped for text of an element or an attribute.
    private static String text(String raw) {
        return ForeignText.printable(raw)
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
