package org.mdlagent.runtime.cli.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.mdlagent.profiler.report.profile.MetricValue;

/// A metric on the lines of `mdl watch`.
class MetricColumnTest {
    private static MetricValue value(double amount, double... history) {
        List<MetricValue.Point> points = DoubleStream.of(history)
                .mapToObj(past -> new MetricValue.Point(1, past))
                .toList();
        return new MetricValue(
                "msgs",
                "Messages",
                "messages",
                MetricValue.UnitsType.AMOUNT,
                List.of(),
                OptionalDouble.of(amount),
                OptionalDouble.of(1),
                0,
                points);
    }

    @Test
    void shouldDrawEachLookAgainstTheLargest() {
        MetricColumn column = new MetricColumn(value(0));
        column.add(value(7));
        column.add(value(14));

        assertThat(column.head()).startsWith("msgs (messages)");
        assertThat(column.cell().stripTrailing()).isEqualTo("        14  ▅█");
    }

    @Test
    void shouldDrawWhatWasBeforeTheFirstLook() {
        assertThat(new MetricColumn(value(0)).past()).isBlank();
        assertThat(new MetricColumn(value(7, 0, 1, 7)).past().stripTrailing()).isEqualTo("▁▂█");
        double[] many = DoubleStream.iterate(0, n -> n + 1).limit(240).toArray();
        assertThat(new MetricColumn(value(240, many)).past().stripTrailing())
                .matches("▁+▂+▃+▄+▅+▆+▇+█+")
                .hasSizeLessThan(25);
    }
}
