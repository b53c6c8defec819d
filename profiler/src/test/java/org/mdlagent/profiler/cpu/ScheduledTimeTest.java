package org.mdlagent.profiler.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScheduledTimeTest {
    @Test
    void shouldReadWhatTheSchedulerTells() {
        assertThat(ScheduledTime.parse("1200300 45 67\n")).isEqualTo(new ScheduledTime(1_200_300, 67));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n", "1 2", "1 2 x", "1 2 3 4", "99999999999999999999 0 1"})
    void shouldNotGuessWhatItDoesNotTell(String line) {
        assertThat(ScheduledTime.parse(line)).isNull();
    }

    @Test
    void shouldKnowThisProcessAndNoneThatThereIsNot() {
        ScheduledTime own = ScheduledTime.of((int) ProcessHandle.current().pid());

        assertThat(own).isNotNull();
        assertThat(ScheduledTime.of(0)).isNull();
    }

    @Test
    void shouldTellWhatHasComeSince() {
        ScheduledTime before = new ScheduledTime(1_000, 10);

        assertThat(new ScheduledTime(1_500, 12).since(before)).isEqualTo(new ScheduledTime(500, 2));
        assertThat(new ScheduledTime(1_500, 12).since(null)).isEqualTo(new ScheduledTime(1_500, 12));
        assertThat(new ScheduledTime(900, 12).since(before)).isEqualTo(new ScheduledTime(900, 12));
        assertThat(new ScheduledTime(1_500, 9).since(before)).isEqualTo(new ScheduledTime(1_500, 9));
    }
}
