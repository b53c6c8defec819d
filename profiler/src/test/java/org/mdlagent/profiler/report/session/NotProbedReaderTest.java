package org.mdlagent.profiler.report.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.profile.NotProbed;

class NotProbedReaderTest {
    private static final String REASONS = "4 for: no unwind table describes it (a, b, c, d), 1 for: it branches (e)";

    @Test
    void shouldReadEachImageThatIsLeftAloneInPart() {
        String log = """
                2026-11-29T13:13:58.715Z agent: sync: using membarrier
                2026-11-29T13:13:58.743Z agent: /opt/a: of: b: of 112 functions are left alone: %s
                2026-11-29T13:13:58.749Z agent: 107 functions, 208 sites armed after 879 ms, for coverage
                """.formatted(REASONS);

        assertThat(NotProbedReader.parse(log, false)).containsExactly(new NotProbed("/opt/a: of: b", 5, REASONS));
    }

    @Test
    void shouldKnowNothingWithoutALog(@TempDir Path directory) throws IOException {
        assertThat(NotProbedReader.read(directory, false)).isEmpty();
        Files.createDirectory(directory.resolve("agent.log"));
        assertThat(NotProbedReader.read(directory, false)).isEmpty();
    }
}
