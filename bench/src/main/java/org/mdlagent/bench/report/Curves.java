package org.mdlagent.bench.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.geom.Ellipse2D;
import java.util.ArrayList;
import java.util.List;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.DeviationRenderer;
import org.jfree.data.xy.YIntervalSeries;
import org.jfree.data.xy.YIntervalSeriesCollection;

/// Lines through points, and histograms.
public final class Curves extends Plot {
    private static final int HEIGHT = 420;
    private static final double POINT = 6;
    private static final float LINE = 1.8f;
    private static final int BAND_OPACITY = 40;

    /// In a histogram, of a factor of 10.
    private static final int BINS = 24;

    private final Axis x;
    private final Axis y;
    private final List<YIntervalSeries> lines = new ArrayList<>();
    private final List<Boolean> points = new ArrayList<>();

    public Curves(String title, Axis x, Axis y) {
        super(title);
        this.x = x;
        this.y = y;
    }

    /// @param ys a value for each of `xs`
    public Curves curve(String name, double[] xs, double[] ys) {
        return curve(name, xs, ys, ys, ys);
    }

    /// With a band around it.
    ///
    /// @param ys    a value for each of `xs`
    /// @param lows  the lower edge of the band there
    /// @param highs the upper edge
    public Curves curve(String name, double[] xs, double[] ys, double[] lows, double[] highs) {
        YIntervalSeries line = new YIntervalSeries(name);
        for (int i = 0; i < xs.length; i++) {
            line.add(xs[i], ys[i], lows[i], highs[i]);
        }
        return add(line, true);
    }

    /// How many percent of the values lie in which range; the ranges are equal on a logarithmic axis.
    ///
    /// @param values above 0
    public Curves histogram(String name, double[] values) {
        int[] bins = new int[values.length];
        int least = Integer.MAX_VALUE;
        int greatest = Integer.MIN_VALUE;
        for (int i = 0; i < values.length; i++) {
            bins[i] = (int) Math.floor(Math.log10(values[i]) * BINS);
            least = Math.min(least, bins[i]);
            greatest = Math.max(greatest, bins[i]);
        }
        int[] counts = new int[greatest - least + 1];
        for (int bin : bins) {
            counts[bin - least]++;
        }
        YIntervalSeries line = new YIntervalSeries(name, false, true);
        line.add(edge(least), 0, 0, 0);
        for (int i = 0; i < counts.length; i++) {
            double percent = 100.0 * counts[i] / values.length;
            line.add(edge(least + i), percent, 0, percent);
            line.add(edge(least + i + 1), percent, 0, percent);
        }
        line.add(edge(greatest + 1), 0, 0, 0);
        return add(line, false);
    }

    private static double edge(int bin) {
        return Math.pow(10, (double) bin / BINS);
    }

    private Curves add(YIntervalSeries line, boolean hasPoints) {
        lines.add(line);
        points.add(hasPoints);
        return this;
    }

    private static Color band(int series) {
        Color line = colour(series);
        return new Color(line.getRed(), line.getGreen(), line.getBlue(), BAND_OPACITY);
    }

    @Override
    int height() {
        return HEIGHT;
    }

    @Override
    XYPlot draw() {
        YIntervalSeriesCollection data = new YIntervalSeriesCollection();
        DeviationRenderer renderer = new DeviationRenderer(true, false);
        renderer.setAlpha(1);
        renderer.setDrawSeriesLineAsPath(true);
        for (int i = 0; i < lines.size(); i++) {
            data.addSeries(lines.get(i));
            renderer.setSeriesPaint(i, colour(i));
            renderer.setSeriesFillPaint(i, band(i));
            renderer.setSeriesStroke(i, new BasicStroke(LINE));
            renderer.setSeriesShape(i, new Ellipse2D.Double(-POINT / 2, -POINT / 2, POINT, POINT));
            renderer.setSeriesShapesVisible(i, points.get(i));
        }
        XYPlot plot = new XYPlot(data, x.draw(), y.draw(), renderer);
        plot.setDomainGridlinePaint(GRID);
        plot.setRangeGridlinePaint(GRID);
        return plot;
    }
}
