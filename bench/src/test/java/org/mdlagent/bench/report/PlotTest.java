package org.mdlagent.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.jfree.data.xy.XYDataset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.bench.report.Plot.Axis;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

class PlotTest {
    @TempDir
    Path directory;

    @Test
    void shouldNameEveryBarSeriesAndValue() throws Exception {
        Bars bars = new Bars("Cost of a call", Axis.logarithmic("ticks"))
                .bar("this agent", "counter & flag", 0.9)
                .bar("other tools", "uprobe", 41_500);

        List<String> texts = elements(svg(bars), "text").stream()
                .map(Element::getTextContent)
                .toList();

        assertThat(texts)
                .contains("Cost of a call", "ticks", "this agent", "other tools", "counter & flag", "uprobe")
                .contains("0.90", "41,500");
    }

    @Test
    void shouldDrawBarsAsLongAsTheirValues() throws Exception {
        Bars bars = new Bars("", Axis.linear("")).bar("one", "a", 10).bar("other", "b", 25);

        Document svg = svg(bars);

        assertThat(width(svg, Plot.colour(1)) / width(svg, Plot.colour(0))).isCloseTo(2.5, within(0.02));
    }

    @Test
    void shouldCountEverySampleOfHistogramOnce() {
        double[] samples =
                IntStream.rangeClosed(1, 5_000).mapToDouble(i -> i * 0.7).toArray();

        XYDataset points = new Curves("", Axis.logarithmic(""), Axis.linear(""))
                .histogram("samples", samples)
                .draw()
                .getDataset();

        // An edge on the left and one on the right, and two points for each bin.
        double percent = IntStream.range(1, points.getItemCount(0) - 1)
                .filter(i -> i % 2 == 1)
                .mapToDouble(i -> points.getYValue(0, i))
                .sum();
        assertThat(percent).isCloseTo(100, within(1e-9));
        assertThat(points.getXValue(0, 0)).isLessThanOrEqualTo(0.7);
        assertThat(points.getXValue(0, points.getItemCount(0) - 1)).isGreaterThan(3_500);
    }

    @Test
    void shouldBeReadableOnDarkPages() throws Exception {
        Path file = directory.resolve("plot.svg");
        new Bars("", Axis.linear("")).bar("one", "a", 1).write(file);

        assertThat(Files.readString(file)).contains("@media (prefers-color-scheme: dark)");
    }

    private Document svg(Plot plot) throws IOException, ParserConfigurationException, SAXException {
        Path file = directory.resolve("plot.svg");
        plot.write(file);
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
        return factory.newDocumentBuilder().parse(file.toFile());
    }

    /// Of the widest rectangle of a colour: smaller ones are the legend's.
    private static double width(Document svg, Color colour) {
        String fill = "fill:rgb(%d,%d,%d)".formatted(colour.getRed(), colour.getGreen(), colour.getBlue());
        return elements(svg, "rect").stream()
                .filter(rectangle -> rectangle.getAttribute("style").contains(fill))
                .mapToDouble(rectangle -> Double.parseDouble(rectangle.getAttribute("width")))
                .max()
                .orElseThrow();
    }

    private static List<Element> elements(Document svg, String name) {
        NodeList nodes = svg.getElementsByTagName(name);
        return IntStream.range(0, nodes.getLength())
                .mapToObj(i -> (Element) nodes.item(i))
                .toList();
    }
}
