package org.mdlagent.bench.report;

import static java.lang.String.format;

import java.awt.geom.Rectangle2D;
import java.util.Locale;
import org.jfree.chart.axis.AxisLocation;
import org.jfree.chart.axis.CategoryAxis;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.labels.ItemLabelAnchor;
import org.jfree.chart.labels.ItemLabelPosition;
import org.jfree.chart.labels.StandardCategoryItemLabelGenerator;
import org.jfree.chart.plot.CategoryPlot;
import org.jfree.chart.plot.PlotOrientation;
import org.jfree.chart.renderer.category.BarRenderer;
import org.jfree.chart.renderer.category.CategoryItemRendererState;
import org.jfree.chart.renderer.category.StandardBarPainter;
import org.jfree.chart.ui.TextAnchor;
import org.jfree.data.category.CategoryDataset;
import org.jfree.data.category.DefaultCategoryDataset;
import org.jfree.data.general.DatasetUtils;

/// A horizontal bar chart with values, grouped by name.
public final class Bars extends Plot {
    private static final int BAR_HEIGHT = 18;
    private static final int GAP_HEIGHT = 8;
    private static final int FRAME_HEIGHT = 110;

    /// Room for the values beside the bars.
    private static final double MARGIN = 0.12;

    /// If no name has two bars, each bar fills its row.
    private static final class OneInRow extends BarRenderer {
        private static final long serialVersionUID = 1;

        @Override
        protected void calculateBarWidth(
                CategoryPlot plot, Rectangle2D area, int index, CategoryItemRendererState state) {
            super.calculateBarWidth(plot, area, index, state);
            state.setBarWidth(state.getBarWidth() * getRowCount());
        }

        @Override
        protected double calculateBarW0(
                CategoryPlot plot,
                PlotOrientation orientation,
                Rectangle2D area,
                CategoryAxis names,
                CategoryItemRendererState state,
                int row,
                int column) {
            return names.getCategoryStart(column, getColumnCount(), area, plot.getDomainAxisEdge());
        }
    }

    /// Beside a bar.
    private static final class Value extends StandardCategoryItemLabelGenerator {
        private static final long serialVersionUID = 1;

        @Override
        public String generateLabel(CategoryDataset bars, int row, int column) {
            double value = bars.getValue(row, column).doubleValue();
            return format(Locale.ROOT, Math.abs(value) < 100 ? "%,.2f" : "%,.0f", value);
        }
    }

    private final Axis values;
    private final DefaultCategoryDataset bars = new DefaultCategoryDataset();

    public Bars(String title, Axis values) {
        super(title);
        this.values = values;
    }

    /// @param series bars of a kind, which have one colour
    /// @param name   what the value is of
    public Bars bar(String series, String name, double value) {
        bars.addValue(value, series, name);
        return this;
    }

    @Override
    int height() {
        return FRAME_HEIGHT + bars.getColumnCount() * (barsOfName() * BAR_HEIGHT + GAP_HEIGHT);
    }

    /// Maximum: if each name has one bar, the series share a row.
    private int barsOfName() {
        int most = 0;
        for (int column = 0; column < bars.getColumnCount(); column++) {
            int count = 0;
            for (int row = 0; row < bars.getRowCount(); row++) {
                count += bars.getValue(row, column) == null ? 0 : 1;
            }
            most = Math.max(most, count);
        }
        return most;
    }

    @Override
    CategoryPlot draw() {
        CategoryAxis names = new CategoryAxis();
        names.setTickLabelFont(SMALL);
        names.setTickLabelPaint(INK);
        names.setMaximumCategoryLabelWidthRatio(0.6f);
        names.setLowerMargin(0.01);
        names.setUpperMargin(0.01);
        ValueAxis axis = values.draw();
        axis.setUpperMargin(MARGIN);
        axis.setLowerMargin(0);
        CategoryPlot plot = new CategoryPlot(bars, names, axis, renderer());
        plot.setOrientation(PlotOrientation.HORIZONTAL);
        plot.setRangeAxisLocation(AxisLocation.BOTTOM_OR_RIGHT);
        plot.setRangeGridlinePaint(GRID);
        return plot;
    }

    private BarRenderer renderer() {
        BarRenderer renderer = barsOfName() > 1 ? new BarRenderer() : new OneInRow();
        if (values.logarithmic()) {
            renderer.setBase(leastDecade());
        }
        renderer.setBarPainter(new StandardBarPainter());
        renderer.setShadowVisible(false);
        renderer.setItemMargin(0);
        for (int i = 0; i < bars.getRowCount(); i++) {
            renderer.setSeriesPaint(i, colour(i));
        }
        renderer.setDefaultItemLabelGenerator(new Value());
        renderer.setDefaultItemLabelsVisible(true);
        renderer.setDefaultItemLabelFont(SMALL);
        renderer.setDefaultItemLabelPaint(INK);
        renderer.setDefaultPositiveItemLabelPosition(
                new ItemLabelPosition(ItemLabelAnchor.OUTSIDE3, TextAnchor.CENTER_LEFT));
        return renderer;
    }

    /// Below all values, so that each has a bar.
    private double leastDecade() {
        Number least = DatasetUtils.findMinimumRangeValue(bars);
        return Math.pow(10, Math.ceil(Math.log10(least.doubleValue())) - 1);
    }
}
