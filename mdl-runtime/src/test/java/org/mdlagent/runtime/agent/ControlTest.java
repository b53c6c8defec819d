package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/// What is answered to a request, whatever it is.
class ControlTest {
    private static final int CASES = Integer.getInteger("mdl.fuzz.cases", 20_000);

    private final Control control = new Control(Map.of("echo", arguments -> arguments + "\n", "fail", arguments -> {
        throw new IllegalArgumentException("not " + arguments);
    }));

    @Test
    void shouldHandTheArgumentsToTheCommand() {
        assertThat(control.answer("echo  a  b ")).isEqualTo("ok\na  b\n");
        assertThat(control.answer("echo")).isEqualTo("ok\n\n");
    }

    @Test
    void shouldSayWhyACommandFails() {
        assertThat(control.answer("fail this")).isEqualTo("error not this\n");
    }

    @Test
    void shouldRefuseACommandThatThereIsNot() {
        assertThat(control.answer("format disk")).isEqualTo("error this agent knows no format\n");
        assertThat(control.answer("")).startsWith("error ");
    }

    @Test
    void shouldAnswerEveryRequestInOneLineOrWithWhatTheCommandBrings() {
        SplittableRandom random = new SplittableRandom(7);
        String[] seeds = {"echo a", "fail *", "probes off #1", "probes on a!b*"};
        for (int i = 0; i < CASES; i++) {
            StringBuilder request = new StringBuilder(seeds[random.nextInt(seeds.length)]);
            for (int changes = random.nextInt(1, 5); changes > 0; changes--) {
                request.setCharAt(random.nextInt(request.length()), (char) random.nextInt(0x10000));
            }
            String answer = control.answer(request.toString());
            assertThat(answer.startsWith("ok\n") || answer.startsWith("error ")).isTrue();
            assertThat(answer).endsWith("\n");
            assertThat(answer.startsWith("error ")
                            && answer.chars().limit(answer.length() - 1L).anyMatch(Character::isISOControl))
                    .isFalse();
        }
    }
}
