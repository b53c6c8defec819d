package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.mdlagent.arch.elf.SourceLine;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.report.profile.FunctionBlocks;
import org.mdlagent.profiler.report.profile.NotProbed;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.text.BaseName;
import org.mdlagent.profiler.text.ForeignText;

/// The report for people of a session that counts basic blocks: functions by the instructions that they
/// executed, and the blocks that executed the most, or the arcs that were taken the most.
///
/// @param limit  functions to show, and blocks
/// @param colour whether the output understands ANSI colours
public record BlocksTable(int limit, boolean colour) {
    private static final int LINES_SHOWN = 3;

    private record OfFunction(FunctionBlocks function, FunctionBlocks.Block block) {}

    /// @param notProbed what is known of functions whose blocks are not counted
    public void write(Profile profile, List<FunctionBlocks> functions, List<NotProbed> notProbed, Appendable out)
            throws IOException {
        Style style = new Style(colour);
        int called = (int) profile.functions().stream()
                .filter(function -> function.calls() > 0)
                .count();
        out.append(style.bold(TableReport.facts(profile, called))).append('\n');
        double executed =
                functions.stream().mapToDouble(FunctionBlocks::executed).sum();
        List<FunctionBlocks> shown = functions.stream()
                .filter(function -> function.ran() > 0)
                .sorted(Comparator.comparingDouble(FunctionBlocks::executed).reversed())
                .limit(limit)
                .toList();
        functions(shown, functions, executed, style, out);
        if (profile.session().collected() == Collected.ARCS) {
            arcs(shown, style, out);
        } else {
            blocks(shown, executed, style, out);
        }
        for (NotProbed without : notProbed) {
            out.append(style.dim(ForeignText.printable(without.image()) + ": "
                            + PlainText.grouped(without.functions()) + " functions have no block counts: "
                            + without.reasons()))
                    .append('\n');
        }
        for (FunctionBlocks function : functions) {
            if (function.unforeseen() > 0) {
                out.append("mdl: ")
                        .append(ForeignText.printable(function.function().name()))
                        .append(": ")
                        .append(PlainText.grouped(function.unforeseen()))
                        .append(" computed jumps led where no table of the function does: its counts are wrong\n");
            }
        }
        for (String warning : ProfileNotes.warnings(profile)) {
            out.append("mdl: ").append(warning).append('\n');
        }
    }

    private static void functions(
            List<FunctionBlocks> shown, List<FunctionBlocks> all, double executed, Style style, Appendable out)
            throws IOException {
        List<TextColumn> columns = List.of(
                new TextColumn("CALLS", true),
                new TextColumn("BLOCKS", true),
                new TextColumn("RAN", true),
                new TextColumn("INSTRUCTIONS", true),
                new TextColumn("PART", true));
        List<String> names = new ArrayList<>();
        for (FunctionBlocks function : shown) {
            names.add(ForeignText.printable(function.function().name()));
            columns.get(0).add(exactly(function.function().calls()));
            row(columns, function.blocks().size(), function.ran(), function.executed(), executed);
        }
        names.add("all");
        columns.get(0)
                .add(exactly(all.stream()
                        .mapToLong(function -> function.function().calls())
                        .sum()));
        row(
                columns,
                all.stream().mapToInt(function -> function.blocks().size()).sum(),
                all.stream().mapToInt(FunctionBlocks::ran).sum(),
                executed,
                executed);
        table("FUNCTION", names, columns, style, out);
    }

    private static void row(List<TextColumn> columns, int blocks, int ran, double instructions, double executed) {
        columns.get(1).add(exactly(blocks));
        columns.get(2).add(exactly(ran));
        columns.get(3).add(exactly(Math.round(instructions)));
        columns.get(4).add(Quantity.percent(executed == 0 ? 0 : 100 * instructions / executed));
    }

    private void blocks(List<FunctionBlocks> functions, double executed, Style style, Appendable out)
            throws IOException {
        List<OfFunction> hottest = functions.stream()
                .flatMap(function -> function.blocks().stream().map(block -> new OfFunction(function, block)))
                .sorted(Comparator.comparingDouble((OfFunction of) -> of.block.executed())
                        .reversed())
                .limit(limit)
                .toList();
        List<TextColumn> columns = List.of(
                new TextColumn("COUNT", true), new TextColumn("INSTRUCTIONS", true), new TextColumn("PART", true));
        List<String> names = new ArrayList<>();
        for (OfFunction of : hottest) {
            if (of.block.count() == 0) {
                break;
            }
            names.add(ForeignText.printable(of.function.function().name()) + " "
                    + String.format(Locale.ROOT, "0x%x", of.block.address()) + lines(of.block));
            columns.get(0).add(exactly(of.block.count()));
            columns.get(1).add(exactly(of.block.instructions()));
            columns.get(2).add(Quantity.percent(100 * of.block.executed() / executed));
        }
        if (!names.isEmpty()) {
            out.append('\n');
            table("BLOCK", names, columns, style, out);
        }
    }

    private record ArcOf(FunctionBlocks function, FunctionBlocks.Arc arc) {}

    /// The arcs that were taken the most.
    private void arcs(List<FunctionBlocks> functions, Style style, Appendable out) throws IOException {
        List<ArcOf> most = functions.stream()
                .flatMap(function -> function.arcs().stream().map(arc -> new ArcOf(function, arc)))
                .filter(of -> of.arc.count() > 0)
                .sorted(Comparator.comparingLong((ArcOf of) -> of.arc.count()).reversed())
                .limit(limit)
                .toList();
        List<TextColumn> columns = List.of(new TextColumn("COUNT", true), new TextColumn("BY", false));
        List<String> names = new ArrayList<>();
        for (ArcOf of : most) {
            FunctionBlocks.Way way = of.arc.way();
            names.add(ForeignText.printable(of.function.function().name()) + " " + place(way.from()) + " -> "
                    + place(way.to() == FunctionBlocks.OUTSIDE && way.target() != 0 ? way.target() : way.to()));
            columns.get(0).add(exactly(of.arc.count()));
            columns.get(1).add(new Quantity(way.kind().name().toLowerCase(Locale.ROOT), "", "", ""));
        }
        if (!names.isEmpty()) {
            out.append('\n');
            table("ARC", names, columns, style, out);
        }
    }

    private static String place(long address) {
        return address == FunctionBlocks.OUTSIDE ? "outside" : String.format(Locale.ROOT, "0x%x", address);
    }

    private static String lines(FunctionBlocks.Block block) {
        return block.lines().stream()
                .sorted(Comparator.comparing(SourceLine::file).thenComparingInt(SourceLine::line))
                .limit(LINES_SHOWN)
                .map(line -> " " + ForeignText.printable(BaseName.of(line.file())) + ":" + line.line())
                .collect(Collectors.joining());
    }

    private static void table(String title, List<String> names, List<TextColumn> columns, Style style, Appendable out)
            throws IOException {
        int width = Math.max(
                title.length(),
                names.stream().mapToInt(ShortName::columns).max().orElse(0));
        out.append(style.dim(PlainText.pad(title, width) + TextColumn.titles(columns)))
                .append('\n');
        for (int i = 0; i < names.size(); i++) {
            String line = PlainText.pad(names.get(i), width) + TextColumn.cells(columns, i);
            out.append(line.stripTrailing()).append('\n');
        }
    }

    private static Quantity exactly(long count) {
        return new Quantity(PlainText.grouped(count), "", "", "");
    }
}
