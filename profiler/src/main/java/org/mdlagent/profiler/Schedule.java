package org.mdlagent.profiler;

/// When to collect. All durations are in milliseconds of elapsed time, and begin when the first probes are in place.
///
/// @param afterMillis from then to the first period
/// @param forMillis   duration of a period; 0: until the program ends
/// @param everyMillis from the beginning of a period to the beginning of the next; 0: there is one period
public record Schedule(long afterMillis, long forMillis, long everyMillis) {
    /// All the time.
    public static final Schedule ALWAYS = new Schedule(0, 0, 0);

    /// @throws IllegalArgumentException if a period would begin before the last one has ended
    public Schedule {
        if (everyMillis > 0 && (forMillis == 0 || forMillis > everyMillis)) {
            throw new IllegalArgumentException("every is a duration from for on, and needs it");
        }
    }

    /// Whether it is [#ALWAYS].
    public boolean isAlways() {
        return afterMillis == 0 && forMillis == 0 && everyMillis == 0;
    }

    /// Whether a period is on at this time.
    boolean isOn(long millis) {
        if (millis < afterMillis) {
            return false;
        }
        long since = everyMillis > 0 ? (millis - afterMillis) % everyMillis : millis - afterMillis;
        return forMillis == 0 || since < forMillis;
    }

    /// The next time, after this one, at which a period begins or ends; `Long.MAX_VALUE` if there is none.
    long nextChange(long millis) {
        if (millis < afterMillis) {
            return afterMillis;
        }
        if (forMillis == 0) {
            return Long.MAX_VALUE;
        }
        long begin = everyMillis > 0 ? millis - (millis - afterMillis) % everyMillis : afterMillis;
        if (millis < begin + forMillis) {
            return begin + forMillis;
        }
        return everyMillis > 0 ? begin + everyMillis : Long.MAX_VALUE;
    }
}
