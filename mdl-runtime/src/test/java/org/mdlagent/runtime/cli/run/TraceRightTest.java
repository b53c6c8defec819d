package org.mdlagent.runtime.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TraceRightTest {
    private static TargetProcess processOf(String users) {
        return new TargetProcess(1, Map.of("Uid", users), List.of(), Map.of(), 2);
    }

    @Test
    void shouldBeThatOfTheUser() {
        TraceRight right = new TraceRight(false, 0, "1000");

        assertThat(right.refusal()).isNull();
        assertThat(right.refusal(processOf("1000\t1000\t1000\t1000"))).isNull();
        assertThat(right.refusal(processOf("1000\t0\t0\t0"))).contains("another user's");
    }

    @Test
    void shouldHeedYama() {
        assertThat(new TraceRight(false, 1, "1000").refusal()).contains("sysctl kernel.yama.ptrace_scope=0");
        assertThat(new TraceRight(true, 2, "0").refusal()).isNull();
        assertThat(new TraceRight(true, 3, "0").refusal(processOf("0\t0\t0\t0")))
                .contains("until the machine starts anew");
    }
}
