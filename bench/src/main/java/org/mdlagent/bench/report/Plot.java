package org.mdlagent.bench.report;

import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.svg.SVGProcessor;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import java.awt.Color;
import java.awt.Font;
import java.awt.font.GlyphVector;
import java.awt.geom.Rectangle2D;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.text.NumberFormat;
import java.util.List;
import java.util.Locale;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.NumberTickUnit;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.block.BlockBorder;

/// A plot of a benchmark's figures, as SVG.
public abstract sealed class Plot permits Bars, Curves {
    /// Okabe and Ito's palette, which colour-blind readers can distinguish.
    static final List<Color> COLOURS = List.of(
            new Color(0x0072B2),
            new Color(0xD55E00),
            new Color(0x009E73),
            new Color(0xCC79A7),
            new Color(0xE69F00),
            new Color(0x56B4E9),
            new Color(0x7F7F7F));

    static final Color INK = new Color(0x333333);
    static final Color GRID = new Color(0xBBBBBB);

    /// Verdana has the same widths, where a reader has no DejaVu.
    private static final String FONT = "DejaVu Sans";

    private static final String FONTS = "'DejaVu Sans',Verdana,sans-serif";

    /// Not 12, because the library omits that size as the default.
    static final Font SMALL = new Font(FONT, Font.PLAIN, 11);

    private static final Font TITLE = new Font(FONT, Font.BOLD, 14);

    private static final String DARK =
            "<style>@media (prefers-color-scheme: dark) { svg { filter: invert(0.9) hue-rotate(180deg); } }</style>";

    private static final int WIDTH = 900;

    private final String title;

    Plot(String title) {
        this.title = title;
    }

    /// An axis.
    ///
    /// @param title       with the unit
    /// @param logarithmic whether equal steps are equal ratios; values must be above 0 then
    public record Axis(String title, boolean logarithmic) {
        public static Axis linear(String title) {
            return new Axis(title, false);
        }

        public static Axis logarithmic(String title) {
            return new Axis(title, true);
        }

        ValueAxis draw() {
            ValueAxis axis = logarithmic ? decades() : numbers();
            axis.setLabelFont(SMALL);
            axis.setTickLabelFont(SMALL);
            axis.setLabelPaint(INK);
            axis.setTickLabelPaint(INK);
            return axis;
        }

        private LogAxis decades() {
            LogAxis axis = new LogAxis(title);
            axis.setTickUnit(new NumberTickUnit(1));
            axis.setMinorTickMarksVisible(true);
            axis.setMinorTickCount(9);
            axis.setNumberFormatOverride(number("#,##0.####"));
            return axis;
        }

        private NumberAxis numbers() {
            NumberAxis axis = new NumberAxis(title);
            axis.setNumberFormatOverride(number("#,##0.##"));
            return axis;
        }
    }

    /// Letters as outlines are filled, not stroked.
    private static final class Drawing extends VectorGraphics2D {
        @Override
        public void drawGlyphVector(GlyphVector letters, float x, float y) {
            fill(letters.getOutline(x, y));
        }
    }

    /// The subtitle.
    abstract org.jfree.chart.plot.Plot draw();

    /// In pixels.
    abstract int height();

    String title() {
        return title;
    }

    /// @param file is overwritten
    void write(Path file) throws IOException {
        JFreeChart chart = new JFreeChart(title, TITLE, draw(), true);
        chart.setBackgroundPaint(Color.WHITE);
        chart.getPlot().setBackgroundPaint(Color.WHITE);
        chart.getPlot().setOutlineVisible(false);
        chart.getTitle().setPaint(INK);
        chart.getLegend().setItemFont(SMALL);
        chart.getLegend().setItemPaint(INK);
        chart.getLegend().setFrame(BlockBorder.NONE);
        Drawing graphics = new Drawing();
        chart.draw(graphics, new Rectangle2D.Double(0, 0, WIDTH, height()));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new SVGProcessor()
                .getDocument(graphics.getCommands(), new PageSize(WIDTH, height()))
                .writeTo(bytes);
        Files.writeString(
                file,
                bytes.toString(StandardCharsets.UTF_8)
                        .replace("&quot;" + FONT + "&quot;", FONTS)
                        .replaceFirst("<defs>", DARK + "<defs>"));
    }

    static Color colour(int series) {
        return COLOURS.get(series % COLOURS.size());
    }

    /// Independent of the locale.
    static NumberFormat number(String pattern) {
        return new DecimalFormat(pattern, DecimalFormatSymbols.getInstance(Locale.ROOT));
    }
}
