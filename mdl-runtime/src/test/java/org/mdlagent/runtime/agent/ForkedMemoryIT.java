package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// What a forked process maps, allocates and writes stays as it is, whatever threads it runs and ends: nothing of it
/// lies where libc or the agent's JVM believe to have memory of their own.
class ForkedMemoryIT {
    private static final int CHILDREN = 12;
    private static final int PROGRAMS = 100;
    private static final int CHILDREN_OF_EACH = 100;
    private static final long SEED = Long.getLong("mdl.seed", 1);

    @TempDir
    Path directory;

    @Test
    void shouldLeaveTheMemoryOfForkedProcessesAlone() throws Exception {
        run(compile(), CHILDREN, SEED);
    }

    @Test
    @Tag("soak")
    void shouldLeaveTheMemoryOfManyForkedProcessesAlone() throws Exception {
        Path program = compile();
        for (int i = 0; i < PROGRAMS; i++) {
            run(program, CHILDREN_OF_EACH, SEED + (long) i * CHILDREN_OF_EACH);
        }
    }

    private Path compile() throws Exception {
        return Dist.compile(directory, "forked_memory", "-fpatchable-function-entry=5");
    }

    private void run(Path program, int children, long seed) throws Exception {
        List<String> command = List.of(program.toString(), Integer.toString(children), Long.toString(seed));

        Dist.Outcome run = Dist.run(directory, Dist.preload("wait"), command);

        assertThat(run.err()).as("seed %d", seed).isEmpty();
        assertThat(run.text()).isEqualTo("right: %d of %d\n".formatted(children, children));
        assertThat(run.status()).isZero();
    }
}
