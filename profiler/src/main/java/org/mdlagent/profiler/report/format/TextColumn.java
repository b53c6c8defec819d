package org.mdlagent.profiler.report.format;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/// Cells in a column: decimal points are aligned if all cells have the same unit, otherwise the right ends.
final class TextColumn {
    private final String title;
    private final boolean onPoint;
    private final List<Quantity> cells = new ArrayList<>();
    private int whole;
    private int unit;
    private int tail;

    TextColumn(String title, boolean onPoint) {
        this.title = title;
        this.onPoint = onPoint;
    }

    void add(Quantity cell) {
        cells.add(cell);
        if (!onPoint) {
            whole = Math.max(whole, cell.text().length());
            return;
        }
        whole = Math.max(whole, cell.whole().length());
        unit = Math.max(unit, cell.fraction().length() + cell.unit().length());
        tail = Math.max(tail, cell.tail().length());
    }

    /// The titles of columns, side by side.
    static String titles(List<TextColumn> columns) {
        return columns.stream().map(column -> "  " + column.title()).collect(Collectors.joining());
    }

    /// One cell of each column.
    static String cells(List<TextColumn> columns, int row) {
        return columns.stream().map(column -> "  " + column.cell(row)).collect(Collectors.joining());
    }

    int width() {
        return Math.max(title.length(), whole + unit + tail);
    }

    String name() {
        return title;
    }

    String title() {
        return " ".repeat(width() - title.length()) + title;
    }

    String cell(int i) {
        Quantity cell = cells.get(i);
        if (!onPoint) {
            return " ".repeat(width() - cell.text().length()) + cell.text();
        }
        String text = " ".repeat(whole - cell.whole().length())
                + cell.whole()
                + PlainText.pad(cell.fraction() + cell.unit(), unit)
                + PlainText.pad(cell.tail(), tail);
        return " ".repeat(width() - text.length()) + text;
    }
}
