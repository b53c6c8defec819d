package org.mdlagent.profiler.sampled;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WaitingTest {
    @TempDir
    Path directory;

    @Test
    void shouldReadWhatTheKernelTellsOfAThread() {
        assertThat(Waiting.times(Path.of("/proc/thread-self/schedstat"))[0]).isPositive();
    }

    @Test
    void shouldKnowNothingOfOneThatHasEnded() throws Exception {
        assertThat(Waiting.times(directory.resolve("schedstat"))).containsOnly(0);
        for (String text : new String[] {"", "12", "12 x 3", "12 "}) {
            Path file = Files.writeString(directory.resolve("schedstat"), text);
            assertThat(Waiting.times(file)).as(text).containsOnly(0);
        }
    }

    @Test
    void shouldTellRunningFromWaiting() throws Exception {
        Path file = Files.writeString(directory.resolve("schedstat"), "5000 300 7\n");
        assertThat(Waiting.times(file)).containsExactly(5000, 300);
    }
}
