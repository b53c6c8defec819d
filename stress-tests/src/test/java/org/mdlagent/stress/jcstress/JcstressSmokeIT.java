package org.mdlagent.stress.jcstress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.runners.TestList;

/// Runs each litmus test briefly; no forbidden outcome may occur.
class JcstressSmokeIT {
    private static final long TEST_MILLIS = 100;

    @Test
    void shouldSeeNothingForbidden() throws Exception {
        List<String> litmus = TestList.tests().stream()
                .filter(name -> !name.endsWith(JcstressRun.EXHIBIT))
                .toList();

        Collection<TestResult> results =
                new JcstressRun("jcstress-smoke").run("(?<!" + JcstressRun.EXHIBIT + ")$", TEST_MILLIS);

        assertThat(results).extracting(TestResult::getName).containsExactlyInAnyOrderElementsOf(litmus);
        assertThat(results).allSatisfy(result -> {
            assertThat(result.status()).as(result.getName()).isEqualTo(Status.NORMAL);
            assertThat(result.getTotalCount()).as(result.getName()).isPositive();
            assertThat(JcstressRun.forbidden(result)).as(result.getName()).isEmpty();
        });
    }
}
