package org.mdlagent.profiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.mdlagent.fastinst.install.Tier;

class TriggeredCollectorTest {
    private static final int OF_RULE = 3;
    private static final long SECOND = 1_000_000_000;

    private final Set<Integer> closed = new TreeSet<>();
    private final Set<Integer> open = new TreeSet<>();
    private final List<Boolean> log = new ArrayList<>();
    private long now = 77;
    private long calls;

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
            return 5.0 * SECOND;
        }

        @Override
        public boolean settle() {
            return true;
        }
    }

    private final class Program implements RuleWatch.Source {
        @Override
        public long calls(int function) {
            return calls;
        }

        @Override
        public void addDurations(int function, long[] slots) {}
    }

    private TriggeredCollector collector(long after, long duration) {
        TriggeredCollector collector = new TriggeredCollector(
                new Fake(),
                new RuleWatch(Rule.parse("rate(f) > 100"), new Program(), 1),
                new Schedule(after, duration, 0),
                () -> List.of(OF_RULE),
                closed::contains,
                () -> now,
                log::add);
        collector.open(List.of(1, 2, OF_RULE), true);
        return collector;
    }

    /// Passes a second with this number of calls.
    private double second(TriggeredCollector collector, long some) {
        now += SECOND;
        calls += some;
        return collector.tick();
    }

    @Test
    void shouldLookAtTheFunctionsOfTheRuleAloneUntilItHolds() {
        TriggeredCollector collector = collector(0, 0);

        assertThat(open).containsExactly(OF_RULE);
        assertThat(second(collector, 100)).isEqualTo(SECOND);
        assertThat(open).containsExactly(OF_RULE);
        second(collector, 101);
        assertThat(open).containsExactly(1, 2, OF_RULE);
        second(collector, 0);
        assertThat(open).containsExactly(1, 2, OF_RULE);
        assertThat(log).containsExactly(true);
    }

    @Test
    void shouldCollectForATimeFromTheLastWindowOnInWhichItHeld() {
        TriggeredCollector collector = collector(0, 1500);

        second(collector, 200);
        second(collector, 200);
        assertThat(second(collector, 0)).isEqualTo(0.5 * SECOND);
        assertThat(open).containsExactly(1, 2, OF_RULE);
        now += SECOND / 2;
        collector.tick();
        assertThat(open).containsExactly(OF_RULE);
        second(collector, 200);
        assertThat(open).containsExactly(1, 2, OF_RULE);
        assertThat(log).containsExactly(true, false, true);
    }

    @Test
    void shouldNotCollectBeforeItsTime() {
        TriggeredCollector collector = collector(1500, 0);

        second(collector, 200);
        assertThat(open).containsExactly(OF_RULE);
        second(collector, 200);
        assertThat(open).containsExactly(1, 2, OF_RULE);
    }

    @Test
    void shouldNotDivideWindowsByTicksBetweenThem() {
        TriggeredCollector collector = collector(0, 0);

        calls += 90;
        now += SECOND / 10;
        assertThat(collector.tick()).isEqualTo(0.9 * SECOND);
        assertThat(open).containsExactly(OF_RULE);
        now += SECOND * 9 / 10;
        collector.tick();
        assertThat(open).containsExactly(OF_RULE);
    }

    @Test
    void shouldLeaveClosedWhatARequestHasClosed() {
        TriggeredCollector collector = collector(0, 0);

        collector.close(List.of(2));
        collector.reopen(List.of(4));
        assertThat(open).containsExactly(OF_RULE);
        second(collector, 200);
        assertThat(open).containsExactly(1, OF_RULE, 4);
    }

    @Test
    void shouldLetNewFunctionsWait() {
        TriggeredCollector collector = collector(0, 0);

        collector.open(List.of(5), true);
        assertThat(open).containsExactly(OF_RULE);
        second(collector, 200);
        assertThat(open).containsExactly(1, 2, OF_RULE, 5);
    }
}
