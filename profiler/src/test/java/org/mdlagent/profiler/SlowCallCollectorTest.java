package org.mdlagent.profiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.mdlagent.fastinst.install.Tier;

class SlowCallCollectorTest {
    private final List<String> done = new ArrayList<>();
    private long now = 1000;
    private boolean urgent;

    private final class Fake implements Collector {
        @Override
        public void open(List<Integer> functions, boolean whole) {
            done.add("open");
        }

        @Override
        public void reopen(List<Integer> functions) {}

        @Override
        public void close(List<Integer> functions) {}

        @Override
        public void setTier(List<Integer> functions, Tier tier) {}

        @Override
        public double tick() {
            done.add("tick");
            return 200;
        }

        @Override
        public double lookAtWaits() {
            done.add("waits");
            return 30;
        }

        @Override
        public double urgentNanos() {
            return urgent ? 0 : Double.POSITIVE_INFINITY;
        }

        @Override
        public boolean settle() {
            return true;
        }
    }

    private final SlowCallCollector collector =
            new SlowCallCollector(new Fake(), () -> done.add("grow"), () -> done.add("look"), () -> now);

    @Test
    void shouldMakeRoomBeforeFunctionsAreOpened() {
        collector.open(List.of(1), true);

        assertThat(done).containsExactly("grow", "open");
    }

    @Test
    void shouldLookAtWaitsBetweenTicks() {
        assertThat(collector.tick()).isEqualTo(30);
        now += 30;
        assertThat(collector.tick()).isEqualTo(30);
        now += 150;
        assertThat(collector.tick()).isEqualTo(20);
        now += 20;
        collector.tick();

        assertThat(done).containsExactly("look", "tick", "waits", "waits", "waits", "look", "tick", "waits");
    }

    @Test
    void shouldTickAtOnceWhenThatIsUrgent() {
        collector.tick();
        urgent = true;
        collector.tick();

        assertThat(done).containsExactly("look", "tick", "waits", "look", "tick", "waits");
    }

    @Test
    void shouldRefuseThresholdsThatMostCallsWouldReach() {
        assertThatThrownBy(() -> new SlowThreshold(99_999)).hasMessageContaining("100us");
        assertThat(SlowThreshold.OWN.isWanted()).isTrue();
        assertThat(SlowThreshold.NONE.isWanted()).isFalse();
        assertThat(new SlowThreshold(100_000).isOwn()).isFalse();
    }
}
