package org.mdlagent.runtime.cli.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.cli.terminal.CommandFailure;

class ReportTimeTest {
    private static final Instant END = Instant.parse("2026-03-01T13:05:30Z");
    private static final ZoneId ZONE = ZoneId.of("Europe/Berlin");

    @ParameterizedTest
    @CsvSource({
        "14:05, 2026-03-01T13:05:00Z",
        "14:05:30, 2026-03-01T13:05:30Z",
        "14:05:31, 2026-02-28T13:05:31Z",
        "23:59, 2026-02-28T22:59:00Z",
        "2026-03-01T12:00:00Z, 2026-03-01T12:00:00Z",
        "2026-03-01T12:00:00.25+02:00, 2026-03-01T10:00:00.25Z",
        "-30s, 2026-03-01T13:05:00Z",
        "-10m, 2026-03-01T12:55:30Z",
        "-1h, 2026-03-01T12:05:30Z",
        "-0s, 2026-03-01T13:05:30Z"
    })
    void shouldReadATime(String text, Instant time) {
        assertThat(ReportTime.parse("--from", text, END, ZONE)).isEqualTo(time);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "now", "25:00", "14", "10m", "-10", "-10d", "-9999999s", "2026-03-01", "2026-03-01T12:00"})
    void shouldSayHowATimeIsWritten(String text) {
        assertThatThrownBy(() -> ReportTime.parse("--from", text, END, ZONE))
                .isInstanceOf(CommandFailure.class)
                .hasMessage("--from=" + text + " is not possible");
    }
}
