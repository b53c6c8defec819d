package org.mdlagent.runtime.cli.report;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.mdlagent.runtime.cli.terminal.CommandFailure;

/// A time in a session as the user writes it: `14:05`, `14:05:30`, `2026-03-01T14:05:00Z` (RFC 3339), or
/// `-10m` before the session's end.
final class ReportTime {
    private static final Pattern BEFORE_END = Pattern.compile("-(\\d{1,6})([smh])");

    private ReportTime() {}

    /// @param option that has the text, for messages
    /// @param end    of the session; a time of day means the last one before it
    /// @param zone   of times of day
    /// @throws CommandFailure when the text is not a time
    static Instant parse(String option, String text, Instant end, ZoneId zone) {
        Matcher before = BEFORE_END.matcher(text);
        if (before.matches()) {
            long count = Long.parseLong(before.group(1));
            return end.minus(
                    switch (before.group(2)) {
                        case "s" -> Duration.ofSeconds(count);
                        case "m" -> Duration.ofMinutes(count);
                        default -> Duration.ofHours(count);
                    });
        }
        try {
            return text.contains("T")
                    ? OffsetDateTime.parse(text).toInstant()
                    : lastBefore(LocalTime.parse(text), end, zone);
        } catch (DateTimeException e) {
            throw CommandFailure.usage(
                    option + "=" + text + " is not possible",
                    "a time is 14:05, 14:05:30, 2026-03-01T14:05:00Z, or -10m before the session's end (s, m or h)");
        }
    }

    private static Instant lastBefore(LocalTime time, Instant end, ZoneId zone) {
        LocalDate day = LocalDate.ofInstant(end, zone);
        Instant that = ZonedDateTime.of(day, time, zone).toInstant();
        return that.isAfter(end)
                ? ZonedDateTime.of(day.minusDays(1), time, zone).toInstant()
                : that;
    }
}
