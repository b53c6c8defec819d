package org.mdlagent.runtime.serve;

import com.sun.net.httpserver.Headers;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The request line and headers (RFC 9112).
///
/// @param isOld whether it is HTTP/1.0, which has no chunked encoding
record RequestHead(String method, URI uri, boolean isOld, Headers headers) {
    static final int BYTES_MAX = 16_384;

    private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

    /// The request is invalid, and so is the rest of the connection.
    static final class Refused extends IOException {
        private static final long serialVersionUID = 1;
        private final int status;

        Refused(int status, String message) {
            super(message);
            this.status = status;
        }

        int status() {
            return status;
        }
    }

    /// Reads the next request head; null at the end.
    static @Nullable RequestHead read(InputStream in) throws IOException {
        String line = line(in, BYTES_MAX);
        if (line == null) {
            return null;
        }
        int rest = BYTES_MAX - line.length();
        String[] words = line.split(" ", -1);
        if (words.length != 3 || !words[2].matches("HTTP/1\\.[01]")) {
            throw new Refused(400, "this is not an HTTP/1 request");
        }
        Headers headers = new Headers();
        for (String field = field(in, rest); !field.isEmpty(); field = field(in, rest)) {
            rest -= field.length();
            int colon = field.indexOf(':');
            // A header name with a blank may be parsed differently by proxies.
            if (colon < 0 || !NAME.matcher(field.substring(0, colon)).matches()) {
                throw new Refused(400, "a header has no name");
            }
            try {
                headers.add(
                        field.substring(0, colon), field.substring(colon + 1).strip());
            } catch (IllegalArgumentException e) {
                throw new Refused(400, "a header is malformed");
            }
        }
        if (headers.getOrDefault("Host", List.of()).size() > 1) {
            throw new Refused(400, "there is more than one Host");
        }
        try {
            return new RequestHead(words[0], URI.create(words[1]), words[2].endsWith("0"), headers);
        } catch (IllegalArgumentException e) {
            throw new Refused(400, "the address is malformed");
        }
    }

    private static String field(InputStream in, int most) throws IOException {
        String field = line(in, most);
        if (field == null) {
            throw new EOFException();
        }
        return field;
    }

    /// A line without its terminator; null at the end of the stream.
    private static @Nullable String line(InputStream in, int most) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                return null;
            }
            if (bytes.size() >= most) {
                throw new Refused(431, "the request's head is too long");
            }
            bytes.write(next);
        }
        String line = bytes.toString(StandardCharsets.ISO_8859_1);
        return line.endsWith("\r") ? line.substring(0, line.length() - 1) : line;
    }

    /// Whether another request may follow. Not after a body, which would have to be read first.
    boolean isFollowed() {
        return !isOld
                && !"close".equalsIgnoreCase(headers.getFirst("Connection"))
                && !headers.containsKey("Transfer-Encoding")
                && Objects.requireNonNullElse(headers.getFirst("Content-Length"), "0")
                        .equals("0");
    }
}
