package org.mdlagent.profiler.text;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/// Writes JSON (RFC 8259). A member whose value is unknown is left out.
public final class JsonWriter {
    private final Appendable out;
    private final boolean indented;
    private final boolean shown;
    private int depth;
    private boolean first = true;

    public JsonWriter(Appendable out) {
        this(out, true);
    }

    /// @param indented whether to format it for people; otherwise everything is on one line
    public JsonWriter(Appendable out, boolean indented) {
        this(out, indented, false);
    }

    private JsonWriter(Appendable out, boolean indented, boolean shown) {
        this.out = out;
        this.indented = indented;
        this.shown = shown;
    }

    /// For a page: characters that affect how others are shown are replaced, not escaped, because scripts
    /// show strings as they are.
    public static JsonWriter ofPage(Appendable out) {
        return new JsonWriter(out, false, true);
    }

    public JsonWriter beginObject() throws IOException {
        return begin('{');
    }

    public JsonWriter endObject() throws IOException {
        return end('}');
    }

    public JsonWriter beginArray(String name) throws IOException {
        name(name);
        return begin('[');
    }

    public JsonWriter beginArray() throws IOException {
        return begin('[');
    }

    public JsonWriter endArray() throws IOException {
        return end(']');
    }

    /// The next value of an array.
    public JsonWriter element() throws IOException {
        separate();
        return this;
    }

    public JsonWriter element(long value) throws IOException {
        separate();
        out.append(Long.toString(value));
        return this;
    }

    /// A number in an array, with all its digits.
    public JsonWriter element(BigDecimal value) throws IOException {
        separate();
        out.append(value.toPlainString());
        return this;
    }

    /// A string in an array.
    public JsonWriter element(String value) throws IOException {
        separate();
        quote(value);
        return this;
    }

    /// An array of two numbers on one line.
    public JsonWriter pair(double first, double second) throws IOException {
        separate();
        out.append('[').append(text(first)).append(", ").append(text(second)).append(']');
        return this;
    }

    public JsonWriter name(String name) throws IOException {
        separate();
        quote(name);
        out.append(": ");
        return this;
    }

    public JsonWriter member(String name, @Nullable String value) throws IOException {
        if (value != null) {
            name(name);
            quote(value);
        }
        return this;
    }

    public JsonWriter member(String name, long value) throws IOException {
        name(name);
        out.append(Long.toString(value));
        return this;
    }

    public JsonWriter member(String name, boolean value) throws IOException {
        name(name);
        out.append(Boolean.toString(value));
        return this;
    }

    public JsonWriter member(String name, OptionalLong value) throws IOException {
        return value.isPresent() ? member(name, value.getAsLong()) : this;
    }

    public JsonWriter member(String name, OptionalInt value) throws IOException {
        return value.isPresent() ? member(name, value.getAsInt()) : this;
    }

    /// A finite number with all its digits.
    public JsonWriter member(String name, double value) throws IOException {
        name(name);
        out.append(Double.toString(value));
        return this;
    }

    /// A number with all its digits.
    public JsonWriter member(String name, BigDecimal value) throws IOException {
        name(name);
        out.append(value.toPlainString());
        return this;
    }

    /// A number rounded for people.
    public JsonWriter member(String name, OptionalDouble value) throws IOException {
        if (value.isPresent() && Double.isFinite(value.getAsDouble())) {
            name(name);
            out.append(text(value.getAsDouble()));
        }
        return this;
    }

    /// Rounded to millionths, as far as a double is that precise.
    private static String text(double value) {
        return Double.toString(Math.abs(value) < 0x1p33 ? Math.round(value * 1e6) / 1e6 : value);
    }

    private JsonWriter begin(char bracket) throws IOException {
        out.append(bracket);
        depth++;
        first = true;
        return this;
    }

    private JsonWriter end(char bracket) throws IOException {
        depth--;
        if (!first) {
            newLine();
        }
        out.append(bracket);
        first = false;
        return this;
    }

    private void separate() throws IOException {
        if (!first) {
            out.append(',');
        }
        first = false;
        newLine();
    }

    private void newLine() throws IOException {
        if (!indented) {
            return;
        }
        out.append('\n');
        for (int i = 0; i < depth; i++) {
            out.append("  ");
        }
    }

    private void quote(String given) throws IOException {
        String text = shown ? ForeignText.printable(given) : given;
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (!ForeignText.isPrintable(c)) {
                out.append("\\u")
                        .append(hex(c >> 12))
                        .append(hex(c >> 8))
                        .append(hex(c >> 4))
                        .append(hex(c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    private static char hex(int digit) {
        return Character.forDigit(digit & 15, 16);
    }
}
