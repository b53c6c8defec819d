package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.mdl.request.Resource;

class MetricRequestTest {
    @ParameterizedTest
    @ValueSource(strings = {"m", "m@/Code/a.c", "m@/Code/a.cc/ns::add(int, long)@/Thread/5", "m@/Code/a.c/f@v1"})
    void shouldWriteWhatItHasRead(String text) {
        assertThat(MetricRequest.of(text)).hasToString(text);
    }

    @Test
    void shouldTellResourcesApart() {
        assertThat(MetricRequest.of("m@/Thread/5@/Code/a.c/f").focus().resources())
                .containsExactly(Resource.of("/Code/a.c/f"), Resource.of("/Thread/5"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "m@", "m@Code/a.c", "@/Code/a.c", "m@/Cod/a.c", "m@/Code/a.c@/Code/b.c"})
    void shouldRefuseWhatIsNoRequest(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> MetricRequest.of(text));
    }
}
