package org.mdlagent.profiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScheduleTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                // after, for, every; now; on; next change, -1 for none
                "0, 0, 0; 0; true; -1",
                "5, 0, 0; 4; false; 5",
                "5, 0, 0; 5; true; -1",
                "0, 3, 0; 2; true; 3",
                "0, 3, 0; 3; false; -1",
                "5, 3, 0; 7; true; 8",
                "5, 3, 10; 8; false; 15",
                "5, 3, 10; 15; true; 18",
                "5, 3, 10; 24; false; 25",
                "0, 3, 3; 3; true; 6"
            })
    void shouldTellWhenAPeriodIsOn(String line) {
        String[] parts = line.split(";");
        String[] times = parts[0].split(",");
        Schedule schedule = new Schedule(number(times[0]), number(times[1]), number(times[2]));
        long now = number(parts[1]);

        assertThat(schedule.isOn(now)).isEqualTo(Boolean.parseBoolean(parts[2].strip()));
        long next = schedule.nextChange(now);
        assertThat(next == Long.MAX_VALUE ? -1 : next).isEqualTo(number(parts[3]));
    }

    private static long number(String text) {
        return Long.parseLong(text.strip());
    }

    @Test
    void shouldRefusePeriodsThatOverlap() {
        assertThatThrownBy(() -> new Schedule(0, 10, 9)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Schedule(0, 0, 9)).isInstanceOf(IllegalArgumentException.class);
    }
}
