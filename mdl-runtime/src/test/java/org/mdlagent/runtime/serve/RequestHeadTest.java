package org.mdlagent.runtime.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestHeadTest {
    private static InputStream sent(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static RequestHead read(InputStream in) throws IOException {
        return Objects.requireNonNull(RequestHead.read(in));
    }

    @Test
    void shouldReadOneBehindTheOther() throws IOException {
        InputStream in =
                sent("GET /a?b=c HTTP/1.1\r\nHost: localhost:1\r\naccept:  x \r\n\r\nHEAD / HTTP/1.0\nhost: h\n\n");

        RequestHead first = read(in);
        assertThat(first.method()).isEqualTo("GET");
        assertThat(first.uri()).hasPath("/a").hasQuery("b=c");
        assertThat(first.headers().getFirst("Host")).isEqualTo("localhost:1");
        assertThat(first.headers().getFirst("Accept")).isEqualTo("x");
        assertThat(first.isFollowed()).isTrue();
        RequestHead second = read(in);
        assertThat(second.method()).isEqualTo("HEAD");
        assertThat(second.isFollowed()).isFalse();
        assertThat(RequestHead.read(in)).isNull();
    }

    @ParameterizedTest
    @CsvSource({"Connection: close", "Content-Length: 1", "Transfer-Encoding: chunked", "Content-Length: x"})
    void shouldNotTakeABodyForTheNextOne(String header) throws IOException {
        assertThat(read(sent("GET / HTTP/1.1\r\n" + header + "\r\n\r\nx")).isFollowed())
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "GET /, 400",
        "GET / HTTP/2.0, 400",
        "GET  / HTTP/1.1, 400",
        "GET /{ HTTP/1.1, 400",
        "GET / HTTP/1.1\tno name, 400",
        "GET / HTTP/1.1\t: no name, 400",
        "GET / HTTP/1.1\ta\rb: c, 400",
        "GET / HTTP/1.1\tTransfer-Encoding : chunked, 400",
        "GET / HTTP/1.1\ta: b\t c: d, 400",
        "GET / HTTP/1.1\tHost: a\tHost: b, 400",
    })
    void shouldRefuseWhatIsMalformed(String lines, int status) {
        assertThatThrownBy(() -> RequestHead.read(sent(lines.replace("\t", "\r\n") + "\r\n\r\n")))
                .isInstanceOfSatisfying(
                        RequestHead.Refused.class,
                        refused -> assertThat(refused.status()).isEqualTo(status));
    }

    @Test
    void shouldReadNoMoreThanItSays() throws IOException {
        String header = "a: " + "b".repeat(1000) + "\r\n";
        InputStream endless = sent("GET / HTTP/1.1\r\n" + header.repeat(100));

        assertThatThrownBy(() -> RequestHead.read(endless))
                .isInstanceOfSatisfying(
                        RequestHead.Refused.class,
                        refused -> assertThat(refused.status()).isEqualTo(431));
        assertThat(endless.available()).isGreaterThan(80_000);
        assertThatThrownBy(() -> RequestHead.read(sent("GET / HTTP/1.1\r\nHos")))
                .isInstanceOf(IOException.class);
    }
}
