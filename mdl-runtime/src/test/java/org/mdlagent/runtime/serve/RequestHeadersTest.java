package org.mdlagent.runtime.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class RequestHeadersTest {
    private static final long SEED = 6;

    private final RequestHeaders headers = new RequestHeaders();

    private TreeMap<String, String> all() {
        TreeMap<String, String> all = new TreeMap<>();
        headers.forEach(all::put);
        return all;
    }

    @Test
    void shouldTakeHeadersFromAnyPlaceTheNearestLast() {
        headers.addEncoded("api-key=far, Authorization = Basic%20YTpi+w==,,x=%2C%3D");
        headers.addLines(List.of("# of the collector", "", "API-KEY=near"));
        headers.add("y= a=b ");

        assertThat(all())
                .containsEntry("Authorization", "Basic YTpi+w==")
                .containsEntry("x", ",=")
                .containsEntry("y", "a=b")
                .containsValue("near")
                .doesNotContainValue("far");
    }

    @Test
    void shouldNotTellSecrets() {
        headers.add("api-key=secret");
        assertThat(headers.toString()).contains("api-key").doesNotContain("secret");
        for (String wrong : List.of("secret", "a b=secret", "host=secret", "k=secret\r\nx: y", "k=secret\u00e4")) {
            assertThatThrownBy(() -> headers.add(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .message()
                    .doesNotContain("secret");
        }
        assertThatThrownBy(() -> headers.addEncoded("k=secret%secret"))
                .message()
                .doesNotContain("secret");
        assertThatThrownBy(() -> headers.addLines(List.of("a=b", "secret"))).hasMessageStartingWith("line 2: ");
    }

    @Test
    void shouldTakeOrRefuseWhateverStandsInTheVariable() {
        SplittableRandom random = new SplittableRandom(SEED);
        String alphabet = "ab=,%20+\r\n\t :;\u00e4\"";
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int left = random.nextInt(12); left > 0; left--) {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            try {
                headers.addEncoded(text.toString());
            } catch (IllegalArgumentException e) {
                assertThat(e).hasMessageNotContaining("\n");
            }
        }
        headers.forEach((name, value) -> assertThat(name + ": " + value).matches("[^:=,\\s\"\u00e4]+: [\\t -~]*"));
    }
}
