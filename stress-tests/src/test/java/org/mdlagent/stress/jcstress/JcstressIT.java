package org.mdlagent.stress.jcstress;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.runners.TestList;

/// All litmus tests of this package, and broken exhibits. About a minute; `-Dtorture.minutes=N` makes it N times
/// as long.
@Tag("soak")
class JcstressIT {
    private static final int LITMUS_TESTS = 12;
    private static final int EXHIBITS = 6;

    private static final int TEST_MILLIS = 2000;

    /// Minimum samples. There are usually hundreds of thousands, but far fewer on a busy machine, where each
    /// meeting of the actors may cost a time slice.
    private static final int SAMPLES_MIN = 200;

    private static Collection<TestResult> results = List.of();

    @BeforeAll
    static void runAll() throws IOException, InterruptedException, ClassNotFoundException {
        double minutes = Double.parseDouble(System.getProperty("torture.minutes", "1"));
        results = new JcstressRun("jcstress").run(".*", Math.round(minutes * TEST_MILLIS));
    }

    @Test
    void shouldRunEveryTestForMany() {
        assertThat(results)
                .extracting(TestResult::getName)
                .containsExactlyInAnyOrderElementsOf(TestList.tests())
                .hasSize(LITMUS_TESTS + EXHIBITS);
        assertThat(results).allSatisfy(result -> {
            assertThat(result.status()).as(result.getName()).isEqualTo(Status.NORMAL);
            assertThat(result.getTotalCount()).as(result.getName()).isGreaterThan(SAMPLES_MIN);
        });
    }

    @Test
    void shouldSeeNothingForbidden() {
        List<TestResult> litmus = results.stream()
                .filter(result -> !result.getName().endsWith(JcstressRun.EXHIBIT))
                .toList();

        assertThat(litmus).hasSize(LITMUS_TESTS);
        assertThat(litmus)
                .allSatisfy(result -> assertThat(JcstressRun.forbidden(result))
                        .as(result.getName())
                        .isEmpty());
    }

    @Test
    void shouldSeeWhatIsForbiddenInEveryExhibit() {
        List<TestResult> exhibits = results.stream()
                .filter(result -> result.getName().endsWith(JcstressRun.EXHIBIT))
                .toList();

        assertThat(exhibits).hasSize(EXHIBITS);
        assertThat(exhibits)
                .allSatisfy(result -> assertThat(JcstressRun.forbidden(result))
                        .as(result.getName())
                        .isNotEmpty());
    }
}
