package org.mdlagent.runtime.serve;

import com.sun.net.httpserver.Headers;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Access control of the server.
///
/// With a token, clients must present it: in `Authorization: Bearer`, as the parameter `token`, or in the cookie
/// set by that parameter. Without a token the server listens on this machine only, and requires a `Host` header
/// that names this machine, against DNS rebinding. Cross-site requests are always refused.
final class AccessRule {
    static final String COOKIE = "mdl_token";

    private static final Pattern OWN_NAME =
            Pattern.compile("(localhost|127(\\.[0-9]{1,3}){3}|\\[::1])(:[0-9]*)?", Pattern.CASE_INSENSITIVE);

    private static final String PARAMETER = "token=";
    private static final String BEARER = "bearer ";

    private final byte @Nullable [] token;

    enum Verdict {
        GRANTED,
        /// The token is missing or wrong.
        NO_TOKEN,
        /// The request is cross-site.
        FOREIGN
    }

    AccessRule(@Nullable String token) {
        this.token = token == null ? null : token.getBytes(StandardCharsets.UTF_8);
    }

    Verdict judge(Headers headers, URI uri) {
        String host = Objects.requireNonNullElse(headers.getFirst("Host"), "");
        String origin = headers.getFirst("Origin");
        if (origin != null
                && !origin.equalsIgnoreCase("http://" + host)
                && !origin.equalsIgnoreCase("https://" + host)) {
            return Verdict.FOREIGN;
        }
        if (origin == null && isFetchedByForeignPage(headers)) {
            return Verdict.FOREIGN;
        }
        if (token == null) {
            return OWN_NAME.matcher(host).matches() ? Verdict.GRANTED : Verdict.FOREIGN;
        }
        return offered(headers, uri).anyMatch(this::isToken) ? Verdict.GRANTED : Verdict.NO_TOKEN;
    }

    /// Whether another site's page makes the browser fetch this, for instance as a script or an image. Browsers
    /// then send no `Origin`, but fetch metadata (Fetch Metadata Request Headers, W3C). Following a link is
    /// allowed: the other page cannot read the result.
    private static boolean isFetchedByForeignPage(Headers headers) {
        String site = Objects.requireNonNullElse(headers.getFirst("Sec-Fetch-Site"), "none");
        boolean isOwn = site.equals("none") || site.equals("same-origin");
        boolean isFollowed = "navigate".equals(headers.getFirst("Sec-Fetch-Mode"))
                && "document".equals(headers.getFirst("Sec-Fetch-Dest"));
        return !isOwn && !isFollowed;
    }

    /// Whether it is the server's token.
    boolean isToken(String offer) {
        // Constant-time comparison.
        return token != null && MessageDigest.isEqual(offer.getBytes(StandardCharsets.UTF_8), token);
    }

    private static Stream<String> offered(Headers headers, URI uri) {
        Stream<String> bearers = values(headers, "Authorization")
                .filter(value -> value.toLowerCase(Locale.ROOT).startsWith(BEARER))
                .map(value -> value.substring(BEARER.length()).strip());
        Stream<String> cookies = values(headers, "Cookie")
                .flatMap(value -> Arrays.stream(value.split(";")))
                .map(String::strip)
                .filter(cookie -> cookie.startsWith(COOKIE + "="))
                .map(cookie -> cookie.substring(COOKIE.length() + 1));
        String parameter = parameter(uri);
        return Stream.of(bearers, cookies, Stream.ofNullable(parameter)).flatMap(one -> one);
    }

    private static Stream<String> values(Headers headers, String name) {
        return headers.getOrDefault(name, List.of()).stream();
    }

    /// The token in a URI, or null.
    static @Nullable String parameter(URI uri) {
        return Arrays.stream(Objects.requireNonNullElse(uri.getRawQuery(), "").split("&"))
                .filter(one -> one.startsWith(PARAMETER))
                .map(one -> decoded(one.substring(PARAMETER.length())))
                .findFirst()
                .orElse(null);
    }

    private static String decoded(String value) {
        try {
            return URLDecoder.decode(value, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return "";
        }
    }
}
