package org.mdlagent.runtime.serve;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;

/// Headers for each request to a collector, mainly for authentication. Their values are secrets: no message or
/// text of this class contains them.
public final class RequestHeaders {
    /// RFC 9110, section 5.6.2.
    private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

    /// RFC 9110, section 5.5, ASCII only.
    private static final Pattern VALUE = Pattern.compile("[\\t -~]*");

    /// Headers set by the request itself.
    private static final Set<String> TAKEN =
            Set.of("connection", "content-encoding", "content-length", "content-type", "host", "transfer-encoding");

    private final Map<String, String> values = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

    /// Adds a header `NAME=VALUE`; replaces one of the same name.
    ///
    /// @throws IllegalArgumentException if it is invalid; the message says why
    public void add(String header) {
        int equals = header.indexOf('=');
        if (equals < 0) {
            throw new IllegalArgumentException("there is no = in a header");
        }
        String name = header.substring(0, equals).strip();
        String value = header.substring(equals + 1).strip();
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("a header's name has letters, digits and - only");
        }
        if (TAKEN.contains(name.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException("mdl sets the header " + name + " itself");
        }
        if (!VALUE.matcher(value).matches()) {
            throw new IllegalArgumentException("the value of the header " + name + " is not ASCII text");
        }
        values.put(name, value);
    }

    /// Adds headers in OpenTelemetry's environment variable format: separated by commas, and percent-encoded
    /// ("OpenTelemetry Protocol Exporter", "Specifying headers via environment variables").
    ///
    /// @throws IllegalArgumentException if they are invalid; the message says why
    public void addEncoded(String headers) {
        for (String header : headers.split(",")) {
            if (!header.isBlank()) {
                add(decoded(header));
            }
        }
    }

    private static String decoded(String header) {
        try {
            // In these lists a plus sign is literal.
            return URLDecoder.decode(header.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            // Its message contains the secret text.
            throw new IllegalArgumentException("a % is not followed by two hexadecimal digits");
        }
    }

    /// Adds headers from the lines of a file; skips empty lines and those that begin with #.
    ///
    /// @throws IllegalArgumentException if they are invalid; the message says where and why
    public void addLines(List<String> lines) {
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).isBlank() || lines.get(i).startsWith("#")) {
                continue;
            }
            try {
                add(lines.get(i));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("line " + (i + 1) + ": " + e.getMessage(), e);
            }
        }
    }

    void forEach(BiConsumer<String, String> consumer) {
        values.forEach(consumer);
    }

    @Override
    public String toString() {
        return values.keySet().toString();
    }
}
