package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.Dist;

/// Programs that put other memory in place of their text, as some do that want huge pages for it, go on as
/// without the agent: also when what they copy has probes, and whenever that is.
class ReplacedTextIT {
    private static final int RUNS = 1000;
    private static final int MILLIS_WHEN_ARMED = 200;
    private static final int MILLIS_FROM_START = 600;
    private static final long SEED = Long.getLong("mdl.seed", 1);
    private static final String STORM = "sliced=*";
    private static final List<String> FLAGS =
            List.of("-fno-lto", "-finstrument-functions", "-fpatchable-function-entry=5");
    private static final List<String> WAYS = List.of("over", "move", "write", "advise");

    /// As the program has them.
    private static final long ROUNDS = 2000;

    @TempDir
    Path directory;

    /// The agent looks at the text again when the program opens a library.
    @ParameterizedTest
    @CsvSource({
        "over, -fno-lto, 'wait,exact', 0",
        "over, -fno-lto, wait, 0",
        "over, -finstrument-functions, 'wait,exact', 20",
        "over, -fpatchable-function-entry=5, 'wait," + STORM + "', 5",
        "over, -fno-lto, 'exact,startDelayMillis=0', 200",
        "move, -fno-lto, 'wait,exact', 0",
        "move, -finstrument-functions, 'wait," + STORM + "', 20",
        "write, -fno-lto, 'wait,exact', 5",
        "write, -fpatchable-function-entry=5, 'exact,startDelayMillis=0', 200",
        "advise, -fno-lto, 'wait," + STORM + "', 20"
    })
    void shouldGoOnAsWithoutTheAgent(String way, String flags, String options, int millis) throws Exception {
        compare(Dist.compile(directory, "replaces_text", flags), way, 2, options, millis);
    }

    /// All probes were on when the program copied its text, so they still are.
    @ParameterizedTest
    @CsvSource({"-fno-lto", "-finstrument-functions", "-fpatchable-function-entry=5"})
    void shouldStillCountInACopyOfTheText(String flags) throws Exception {
        Path program = Dist.compile(directory, "replaces_text", flags);

        Path session = compare(program, "over", 2, "wait,exact", 0);

        assertThat(Files.readString(session.resolve("agent.log")))
                .contains("the program has replaced its code in memory");
        long works = 5;
        assertThat(Dist.calls(Dist.report(directory, session)))
                .containsEntry("work", works)
                .containsEntry("branch", works * ROUNDS * 7)
                .containsEntry("leaf", works * ROUNDS * 70);
    }

    @Test
    @Tag("soak")
    void shouldGoOnAsWithoutTheAgentAtAnyMoment() throws Exception {
        Random random = new Random(SEED);
        Map<String, Path> programs = new HashMap<>();
        for (String flags : FLAGS) {
            Path own = Files.createDirectory(directory.resolve(flags.substring(1)));
            programs.put(flags, Dist.compile(own, "replaces_text", flags));
        }
        List<String> modes = List.of("", ",exact", "," + STORM);
        for (int run = 0; run < RUNS; run++) {
            boolean waits = random.nextBoolean();
            String options = (waits ? "wait" : "startDelayMillis=0") + modes.get(random.nextInt(modes.size()));
            int millis = random.nextInt(waits ? MILLIS_WHEN_ARMED : MILLIS_FROM_START);
            // Where nothing is in place for a while is where most can go wrong.
            String way = random.nextBoolean() ? "over" : WAYS.get(random.nextInt(WAYS.size()));
            Path program = programs.get(FLAGS.get(random.nextInt(FLAGS.size())));
            compare(program, way, random.nextInt(4), options, millis);
        }
    }

    /// @return the session
    private Path compare(Path program, String way, int more, String options, int millis) throws Exception {
        Path session = Files.createTempDirectory(directory, "session");

        Dist.Outcome bare = Dist.run(directory, Map.of(), command(program, way, 0, more));
        Dist.Outcome run =
                Dist.run(directory, Dist.preload(options + ",session=" + session), command(program, way, millis, more));

        assertThat(run)
                .as("%s %s after %d ms, %d more, %s", program, way, millis, more, options)
                .usingRecursiveComparison()
                .isEqualTo(bare);
        return session;
    }

    private static List<String> command(Path program, String way, int millis, int more) {
        return List.of(program.toString(), way, Integer.toString(millis), Integer.toString(more));
    }
}
