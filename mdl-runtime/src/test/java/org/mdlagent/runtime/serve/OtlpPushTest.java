package org.mdlagent.runtime.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class OtlpPushTest {
    private static final Duration INTERVAL = Duration.ofSeconds(15);

    @Test
    void shouldAskEverLaterWhileTheCollectorFails() {
        assertThat(OtlpPush.pause(0, INTERVAL)).isEqualTo(INTERVAL);
        assertThat(OtlpPush.pause(1, INTERVAL)).isEqualTo(Duration.ofSeconds(1));
        assertThat(OtlpPush.pause(2, INTERVAL)).isEqualTo(Duration.ofSeconds(2));
        assertThat(OtlpPush.pause(6, INTERVAL)).isEqualTo(Duration.ofSeconds(32));
        assertThat(OtlpPush.pause(1_000_000, INTERVAL)).isEqualTo(OtlpPush.LONGEST_PAUSE);
    }
}
