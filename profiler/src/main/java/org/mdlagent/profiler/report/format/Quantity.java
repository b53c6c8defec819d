package org.mdlagent.profiler.report.format;

import java.util.Locale;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// A number for people, in the parts that a column aligns: `12`, `.4`, ` k/s`, and a tail.
///
/// @param whole    digits before the decimal point
/// @param fraction the point and the digits after it, or ""
/// @param unit     "" for none
/// @param tail     the error of an estimate, an asterisk, or ""
public record Quantity(String whole, String fraction, String unit, String tail) {
    /// An unknown value.
    static final Quantity UNKNOWN = new Quantity("-", "", "", "");

    /// An empty cell.
    static final Quantity NONE = new Quantity("", "", "", "");

    private static final String[] DURATION_UNITS = {"ns", "us", "ms", "s"};
    private static final String[] COUNT_UNITS = {"", " k", " M", " G", " T", " P", " E"};

    /// Two significant digits, the precision of the histograms.
    public static Quantity duration(long nanos) {
        return scaled((double) nanos, 2, DURATION_UNITS);
    }

    /// Three significant digits; small numbers are exact.
    public static Quantity count(long count) {
        return count < 1000 ? new Quantity(Long.toString(count), "", "", "") : scaled((double) count, 3, COUNT_UNITS);
    }

    public static Quantity rate(double perSecond) {
        Quantity scaled = perSecond > 0 && perSecond < 1 ? decimal(perSecond, 2) : scaled(perSecond, 2, COUNT_UNITS);
        return new Quantity(scaled.whole, scaled.fraction, scaled.unit.isEmpty() ? " /s" : scaled.unit + "/s", "");
    }

    public static Quantity percent(double percent) {
        Quantity decimal = decimal(percent, 1);
        return new Quantity(decimal.whole, decimal.fraction, "%", "");
    }

    /// A share in percent, with its relative error converted to percentage points: for a share of 0.2 %, an
    /// error of 50 % is only 0.1 points.
    public static Quantity share(double percent, double relative) {
        return percent(percent).plusMinusPoints(percent * relative);
    }

    /// A change in percent, or as a factor if that is easier to read.
    static Quantity change(double before, double after) {
        double percent = 100 * (after / before - 1);
        Quantity decimal = percent < 999.5 ? decimal(Math.abs(percent), 1) : decimal(after / before, 0);
        String sign = percent >= 999.5 ? "×" : percent < 0 ? "-" : "+";
        return new Quantity(sign + decimal.whole, decimal.fraction, percent < 999.5 ? "%" : "", "");
    }

    /// With another tail.
    Quantity withTail(String text) {
        return new Quantity(whole, fraction, unit, text);
    }

    /// The calls of a function, with their error if they are estimated.
    static Quantity calls(FunctionProfile function) {
        if (function.shownCalls().isEmpty()) {
            return UNKNOWN;
        }
        Quantity calls = count(function.calls());
        if (function.areCallsLeast()) {
            return calls.atLeast();
        }
        return function.callsError().isPresent()
                ? calls.plusMinus(function.callsError().getAsDouble())
                : calls;
    }

    /// With a relative error.
    Quantity plusMinus(double relative) {
        double percent = 100 * relative;
        String digits = percent >= 999.5 ? ">999" : percent < 0.95 ? decimalText(percent, 1) : decimalText(percent, 0);
        return new Quantity(whole, fraction, unit, " ±" + digits + "%");
    }

    /// Marked as CPU time; unknown values are unchanged.
    Quantity ofCpu() {
        return equals(UNKNOWN) ? this : new Quantity(whole, fraction, unit + " cpu", tail);
    }

    /// With an error in percentage points.
    Quantity plusMinusPoints(double points) {
        String digits = points >= 999.5 ? ">999" : decimalText(points, points < 9.95 ? 1 : 0);
        return new Quantity(whole, fraction, unit, " ±" + digits);
    }

    /// Marked as a lower bound; unknown if the bound is zero; unknown values are unchanged.
    Quantity atLeast() {
        return equals(UNKNOWN) || whole.equals("0") && fraction.isEmpty()
                ? UNKNOWN
                : new Quantity("≥" + whole, fraction, unit, tail);
    }

    /// Marked as an upper bound; unknown values are unchanged.
    Quantity atMost() {
        return equals(UNKNOWN) ? this : new Quantity("≤" + whole, fraction, unit, tail);
    }

    /// With an asterisk, which a note explains.
    Quantity marked() {
        return new Quantity(whole, fraction, unit, "*");
    }

    private static Quantity scaled(double value, int digits, String[] units) {
        int unit = 0;
        double scaled = value;
        // 999.5 would be printed as 1000.
        while (scaled >= 999.5 && unit < units.length - 1) {
            scaled /= 1000;
            unit++;
        }
        int decimals = unit == 0 && value == Math.rint(value) ? 0 : digits - 1;
        // A number that rounds up to one more digit before the point has one fewer after it.
        for (double bound = 10; decimals > 0 && scaled >= bound - 0.5 * Math.pow(10, -decimals); bound *= 10) {
            decimals--;
        }
        Quantity number = decimal(scaled, decimals);
        return new Quantity(number.whole, number.fraction, units[unit], "");
    }

    private static Quantity decimal(double value, int decimals) {
        String text = decimalText(value, decimals);
        int point = text.indexOf('.');
        return point < 0
                ? new Quantity(text, "", "", "")
                : new Quantity(text.substring(0, point), text.substring(point), "", "");
    }

    private static String decimalText(double value, int decimals) {
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }

    /// All parts, concatenated.
    public String text() {
        return whole + fraction + unit + tail;
    }
}
