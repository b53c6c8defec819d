package org.mdlagent.runtime.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.Headers;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AccessRuleTest {
    private static final String TOKEN = "0123456789abcdef";

    private static Headers headers(@Nullable String... namesAndValues) {
        Headers headers = new Headers();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            if (namesAndValues[i + 1] != null) {
                headers.add(namesAndValues[i], namesAndValues[i + 1]);
            }
        }
        return headers;
    }

    @ParameterizedTest
    @CsvSource({
        "localhost,,GRANTED",
        "LOCALHOST:9417,,GRANTED",
        "127.0.0.1:9417,,GRANTED",
        "127.3.0.1,,GRANTED",
        "[::1]:9417,,GRANTED",
        "localhost:9417,http://localhost:9417,GRANTED",
        "localhost:9417,http://localhost:80,FOREIGN",
        "localhost:9417,null,FOREIGN",
        "localhost:9417,http://evil.example,FOREIGN",
        "evil.example:9417,,FOREIGN",
        "evil.example:9417,http://evil.example:9417,FOREIGN",
        "localhost.evil.example,,FOREIGN",
        "127.0.0.1.evil.example,,FOREIGN",
        "127.0.0.1@evil.example,,FOREIGN",
        ",,FOREIGN"
    })
    void shouldServeWithoutATokenWhoCallsThisMachineByItsOwnNames(
            @Nullable String host, @Nullable String origin, AccessRule.Verdict expected) {
        AccessRule rule = new AccessRule(null);

        assertThat(rule.judge(headers("Host", host, "Origin", origin), URI.create("/")))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "Authorization,Bearer 0123456789abcdef,/,GRANTED",
        "Authorization,bearer  0123456789abcdef ,/,GRANTED",
        "Authorization,Bearer 0123456789abcdeX,/,NO_TOKEN",
        "Authorization,Bearer 0123456789abcde,/,NO_TOKEN",
        "Authorization,Bearer,/,NO_TOKEN",
        "Authorization,Basic 0123456789abcdef,/,NO_TOKEN",
        "Cookie,a=b; mdl_token=0123456789abcdef,/,GRANTED",
        "Cookie,xmdl_token=0123456789abcdef,/,NO_TOKEN",
        "Cookie,mdl_token=,/,NO_TOKEN",
        "Accept,*/*,/metrics?a=b&token=0123456789abcdef,GRANTED",
        "Accept,*/*,/?token=0123456789abcde,NO_TOKEN",
        "Accept,*/*,/?token=,NO_TOKEN",
        "Accept,*/*,/0123456789abcdef,NO_TOKEN"
    })
    void shouldServeWithATokenWhoHasIt(String header, String value, String uri, AccessRule.Verdict expected) {
        AccessRule rule = new AccessRule(TOKEN);

        assertThat(rule.judge(headers("Host", "any.example", header, value), URI.create(uri)))
                .isEqualTo(expected);
        assertThat(rule.judge(
                        headers("Host", "any.example", "Origin", "http://evil.example", header, value),
                        URI.create(uri)))
                .isEqualTo(AccessRule.Verdict.FOREIGN);
    }

    @ParameterizedTest
    @CsvSource({
        "cross-site,no-cors,script,FOREIGN",
        "cross-site,no-cors,image,FOREIGN",
        "same-site,cors,empty,FOREIGN",
        "cross-site,navigate,iframe,FOREIGN",
        "cross-site,navigate,document,GRANTED",
        "same-origin,cors,empty,GRANTED",
        "none,navigate,document,GRANTED",
        ",,,GRANTED"
    })
    void shouldRefuseWhatAPageOfElsewhereFetchesWithoutAnOrigin(
            @Nullable String site, @Nullable String mode, @Nullable String destination, AccessRule.Verdict expected) {
        Headers headers = headers(
                "Host", "localhost", "Sec-Fetch-Site", site, "Sec-Fetch-Mode", mode, "Sec-Fetch-Dest", destination);

        assertThat(new AccessRule(null).judge(headers, URI.create("/metrics"))).isEqualTo(expected);
    }
}
