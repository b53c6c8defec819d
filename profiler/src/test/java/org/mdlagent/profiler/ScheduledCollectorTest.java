package org.mdlagent.profiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.mdlagent.fastinst.install.Tier;

class ScheduledCollectorTest {
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final double LOOK_NANOS = 500e6;

    private final Set<Integer> closed = new TreeSet<>();
    private final Set<Integer> open = new TreeSet<>();
    private long now = 77;

    /// Keeps what is open and what is closed.
    private final class Fake implements Collector {
        @Override
        public void open(List<Integer> functions, boolean whole) {
            open.addAll(functions);
        }

        @Override
        public void reopen(List<Integer> functions) {
            open.addAll(functions);
            functions.forEach(closed::remove);
        }

        @Override
        public void close(List<Integer> functions) {
            closed.addAll(functions);
            functions.forEach(open::remove);
        }

        @Override
        public void setTier(List<Integer> functions, Tier tier) {}

        @Override
        public double tick() {
            return LOOK_NANOS;
        }

        @Override
        public boolean settle() {
            return true;
        }
    }

    private ScheduledCollector scheduled(long after, long duration, long every) {
        return new ScheduledCollector(new Fake(), new Schedule(after, duration, every), closed::contains, () -> now);
    }

    private static void pass(ScheduledCollector collector) {
        assertThat(collector.tick()).isLessThanOrEqualTo(LOOK_NANOS);
    }

    @Test
    void shouldCollectInPeriods() {
        ScheduledCollector collector = scheduled(100, 50, 200);

        collector.open(List.of(1, 2), true);
        assertThat(open).isEmpty();
        assertThat(collector.tick()).isEqualTo(100.0 * NANOS_PER_MILLI);
        now += 100 * NANOS_PER_MILLI;
        assertThat(collector.tick()).isEqualTo(50.0 * NANOS_PER_MILLI);
        assertThat(open).containsExactly(1, 2);
        now += 50 * NANOS_PER_MILLI;
        assertThat(collector.tick()).isEqualTo(150.0 * NANOS_PER_MILLI);
        assertThat(open).isEmpty();
        now += 150 * NANOS_PER_MILLI;
        pass(collector);
        assertThat(open).containsExactly(1, 2);
    }

    @Test
    void shouldLetWhatIsOpenedInBetweenWaitForTheNextPeriod() {
        ScheduledCollector collector = scheduled(100, 0, 0);
        collector.open(List.of(1), true);
        now += 50 * NANOS_PER_MILLI;

        collector.open(List.of(2), true);

        assertThat(open).isEmpty();
        now += 50 * NANOS_PER_MILLI;
        assertThat(collector.tick()).isEqualTo(LOOK_NANOS);
        assertThat(open).containsExactly(1, 2);
    }

    @Test
    void shouldLeaveClosedWhatSomebodyHasClosed() {
        ScheduledCollector collector = scheduled(0, 100, 200);
        collector.open(List.of(1, 2, 3), true);
        collector.close(List.of(1));
        now += 100 * NANOS_PER_MILLI;
        pass(collector);
        collector.close(List.of(2));
        collector.reopen(List.of(1));

        assertThat(open).isEmpty();
        now += 100 * NANOS_PER_MILLI;
        pass(collector);
        assertThat(open).containsExactly(1, 3);
    }

    /// The agent closes what is open when it is detached, reopens it when it is attached, and ticks at once.
    @Test
    void shouldKeepItsClockWhileTheAgentIsDetached() {
        ScheduledCollector collector = scheduled(0, 100, 200);
        collector.open(List.of(1), true);
        collector.rest();
        collector.close(List.of(1));

        now += 350 * NANOS_PER_MILLI;
        collector.reopen(List.of(1));
        pass(collector);
        assertThat(open).isEmpty();
        collector.rest();
        now += 300 * NANOS_PER_MILLI;
        pass(collector);
        assertThat(open).containsExactly(1);
    }
}
