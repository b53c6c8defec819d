package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.List;
import org.mdlagent.profiler.report.profile.EventCounts;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.text.BaseName;
import org.mdlagent.profiler.text.ForeignText;

/// The report for people of a session that counts an event of the kernel: functions by their events.
///
/// @param limit  functions to show
/// @param colour whether the output understands ANSI colours
public record EventsTable(int limit, boolean colour) {
    public void write(Profile profile, EventCounts events, Appendable out) throws IOException {
        Style style = new Style(colour);
        List<EventCounts.OfFunction> functions = events.functions();
        List<EventCounts.OfFunction> shown = functions.subList(0, Math.min(limit, functions.size()));
        List<TextColumn> columns =
                List.of(new TextColumn("SELF", true), new TextColumn("PART", true), new TextColumn("TOTAL", true));
        int width = "FUNCTION".length();
        for (EventCounts.OfFunction of : shown) {
            columns.get(0).add(exactly(of.self()));
            columns.get(1).add(Quantity.percent(100.0 * of.self() / events.count()));
            columns.get(2).add(exactly(of.all()));
            width = Math.max(width, ShortName.columns(name(of)));
        }
        out.append(style.bold(facts(profile, events))).append('\n');
        if (!shown.isEmpty()) {
            out.append(style.dim(PlainText.pad("FUNCTION", width) + TextColumn.titles(columns)))
                    .append('\n');
        }
        for (int i = 0; i < shown.size(); i++) {
            String line = PlainText.pad(name(shown.get(i)), width) + TextColumn.cells(columns, i);
            out.append(line.stripTrailing()).append('\n');
        }
        notes(events, functions.size(), shown.size(), style, out);
        for (String warning : ProfileNotes.warnings(profile)) {
            out.append("mdl: ").append(warning).append('\n');
        }
    }

    private static String facts(Profile profile, EventCounts events) {
        return String.join(
                " · ",
                "mdl  " + ForeignText.printable(profile.session().name()),
                "pid " + profile.session().pid(),
                PlainText.elapsed(profile.session().elapsedNanos().orElse(0)),
                PlainText.grouped(events.count()) + " " + (events.event().isEmpty() ? "events" : events.event()),
                "session " + ForeignText.printable(profile.session().id()));
    }

    private static void notes(EventCounts events, int functions, int shown, Style style, Appendable out)
            throws IOException {
        if (events.count() == 0) {
            out.append(style.dim("no event came, or the kernel refuses to count them: agent.log says why"))
                    .append('\n');
        }
        if (shown < functions) {
            out.append(style.dim(PlainText.grouped(functions) + " functions, " + PlainText.grouped(shown)
                            + " shown (--limit)"))
                    .append('\n');
        }
        if (events.withoutStack() > 0) {
            out.append(style.dim("TOTAL is estimated: " + PlainText.grouped(events.withoutStack())
                            + " events came too fast to keep their callers"))
                    .append('\n');
        }
        if (events.lost() > 0) {
            out.append("mdl: ")
                    .append(PlainText.grouped(events.lost()))
                    .append(" more events came too fast to see where\n");
        }
    }

    private static String name(EventCounts.OfFunction of) {
        String image = of.function().image();
        return ForeignText.printable(of.function().name())
                + (image.isEmpty() ? "" : "  " + ForeignText.printable(BaseName.of(image)));
    }

    private static Quantity exactly(long count) {
        return new Quantity(PlainText.grouped(count), "", "", "");
    }
}
