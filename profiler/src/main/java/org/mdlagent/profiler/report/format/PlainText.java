package org.mdlagent.profiler.report.format;

import java.util.Locale;
import java.util.OptionalLong;

/// Numbers and untrusted names in text for people.
public final class PlainText {
    private PlainText() {}

    public static Quantity duration(OptionalLong nanos) {
        return nanos.isPresent() ? Quantity.duration(nanos.getAsLong()) : Quantity.UNKNOWN;
    }

    public static String elapsed(long nanos) {
        double seconds = nanos / 1e9;
        if (seconds < 60) {
            return String.format(Locale.ROOT, seconds < 1 ? "%.3f s" : "%.1f s", seconds);
        }
        long rounded = Math.round(seconds);
        return rounded < 3600
                ? String.format(Locale.ROOT, "%d:%02d min", rounded / 60, rounded % 60)
                : String.format(Locale.ROOT, "%d:%02d:%02d h", rounded / 3600, rounded / 60 % 60, rounded % 60);
    }

    public static String grouped(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    /// Pads text with blanks to a width in terminal columns.
    static String pad(String text, int width) {
        return text + " ".repeat(Math.max(0, width - ShortName.columns(text)));
    }
}
