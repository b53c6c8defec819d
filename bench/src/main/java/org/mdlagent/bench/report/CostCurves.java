package org.mdlagent.bench.report;

import static java.lang.String.format;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/// Scaling of a cost with a quantity, for several tools: a table, linear fits, and a plot.
public final class CostCurves {
    private final String title;
    private final Plot.Axis quantity;
    private final Plot.Axis cost;
    private final Map<String, NavigableMap<Integer, List<Double>>> curves = new LinkedHashMap<>();

    /// A least-squares linear fit.
    ///
    /// @param rSquared fraction of the variance that it explains
    private record Line(double slope, double intercept, double rSquared) {
        static Line of(double[] xs, double[] ys) {
            double x = Arrays.stream(xs).average().orElseThrow();
            double y = Arrays.stream(ys).average().orElseThrow();
            double xx = 0;
            double xy = 0;
            double yy = 0;
            for (int i = 0; i < xs.length; i++) {
                xx += (xs[i] - x) * (xs[i] - x);
                xy += (xs[i] - x) * (ys[i] - y);
                yy += (ys[i] - y) * (ys[i] - y);
            }
            return new Line(xy / xx, y - xy / xx * x, xy * xy / (xx * yy));
        }
    }

    /// @param quantity that grows, in the plural
    /// @param cost     its unit
    public CostCurves(String title, Plot.Axis quantity, Plot.Axis cost) {
        this.title = title;
        this.quantity = quantity;
        this.cost = cost;
    }

    /// Adds a measurement; for several at the same point the median counts.
    ///
    /// @param who has this cost
    public void add(String who, int x, double cost) {
        curves.computeIfAbsent(who, any -> new TreeMap<>())
                .computeIfAbsent(x, any -> new ArrayList<>())
                .add(cost);
    }

    /// @param plot tells the plot apart from others of the report
    public void print(Report report, String plot) throws IOException {
        Set<Integer> xs = new TreeSet<>();
        curves.values().forEach(curve -> xs.addAll(curve.keySet()));
        StringBuilder heading = new StringBuilder(format("%-44s", title + ": " + cost.title()));
        xs.forEach(x -> heading.append(format(Locale.ROOT, " %,9d", x)));
        report.line("");
        report.line(heading + "  EACH MORE OF " + quantity.title().toUpperCase(Locale.ROOT));
        Curves picture = new Curves(title, quantity, cost);
        curves.forEach((who, curve) -> {
            report.line(row(who, xs, curve));
            report.raw("raw " + title + ", " + who + ": " + curve);
            picture.curve(who, points(curve), at(curve, 50), at(curve, 0), at(curve, 100));
        });
        report.plot(plot, picture);
    }

    private String row(String who, Set<Integer> xs, NavigableMap<Integer, List<Double>> curve) {
        StringBuilder row = new StringBuilder(format("%-44s", who));
        for (Integer x : xs) {
            List<Double> costs = curve.get(x);
            row.append(format(Locale.ROOT, " %9s", costs == null ? "-" : number(Percentile.of(costs, 50))));
        }
        Line line = Line.of(points(curve), at(curve, 50));
        return row.append(format(
                        Locale.ROOT,
                        "  %.3g %s, and %.3g at first (R2 %.3f)",
                        line.slope,
                        cost.title(),
                        line.intercept,
                        line.rSquared))
                .toString();
    }

    private static String number(double cost) {
        return format(Locale.ROOT, cost < 10 ? "%,.3f" : "%,.1f", cost);
    }

    private static double[] points(NavigableMap<Integer, List<Double>> curve) {
        return curve.keySet().stream().mapToDouble(Integer::doubleValue).toArray();
    }

    private static double[] at(NavigableMap<Integer, List<Double>> curve, int percent) {
        return curve.values().stream()
                .mapToDouble(costs -> Percentile.of(costs, percent))
                .toArray();
    }
}
