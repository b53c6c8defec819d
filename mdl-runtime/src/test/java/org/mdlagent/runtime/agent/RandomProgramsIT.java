package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.mdlagent.runtime.Dist;
import org.mdlagent.runtime.ScriptRuns;

/// Programs that nobody has thought of: `random_program.cc` nests calls, sibling calls, exceptions, jumps, coroutines,
/// signals and threads by its random numbers, and prints what every value has gone into. Under the agent each prints
/// the same and ends in the same way, with every kind of probe, and however calls are chosen.
class RandomProgramsIT {
    private static final int OF_GATE = 60;
    private static final int OF_SOAK = 1000;

    /// What the program ends with when it has come to its end.
    private static final int ENDED = 7;

    private enum Build {
        UNPREPARED("g++", List.of(), List.of()),
        PATCHABLE("g++", List.of("-fpatchable-function-entry=5"), List.of()),
        FENTRY("g++", List.of("-pg", "-mfentry"), List.of()),
        HOOKS("g++", List.of("-finstrument-functions"), List.of("-finstrument-functions")),
        XRAY(
                "clang++-14",
                List.of("-fxray-instrument", "-fxray-instruction-threshold=1"),
                List.of("-fxray-instrument"));

        private final String compiler;
        private final List<String> compiling;
        private final List<String> linking;

        Build(String compiler, List<String> compiling, List<String> linking) {
            this.compiler = compiler;
            this.compiling = compiling;
            this.linking = linking;
        }
    }

    private enum Mode {
        EXACT("wait,exact"),
        BY_CHANCE("wait,counted=*,countedMean=2"),
        SAMPLED("wait"),
        TOGGLED("wait," + ScriptRuns.TOGGLING);

        private final String options;

        Mode(String options) {
            this.options = options;
        }
    }

    @TempDir
    Path directory;

    private static Stream<Arguments> buildsAndModes() {
        return Arrays.stream(Build.values())
                .flatMap(build -> Arrays.stream(Mode.values()).map(mode -> Arguments.of(build, mode)));
    }

    private static Stream<Arguments> someBuildsAndModes() {
        return buildsAndModes().filter(each -> each.get()[1] == Mode.EXACT || each.get()[1] == Mode.TOGGLED);
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("someBuildsAndModes")
    void shouldEndAsWithoutTheAgent(Build build, Mode mode) throws Exception {
        check(build, mode, OF_GATE);
    }

    @Tag("soak")
    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("buildsAndModes")
    void shouldEndAsWithoutTheAgentAThousandTimes(Build build, Mode mode) throws Exception {
        check(build, mode, OF_SOAK);
    }

    private void check(Build build, Mode mode, int programs) throws Exception {
        assumeThat(Dist.works(build.compiler)).as(build.compiler).isTrue();
        List<String> command = List.of(compile(build).toString(), "0", Integer.toString(programs));
        Dist.Outcome alone = Dist.run(directory, Map.of(), command);
        assertThat(alone.status()).as(alone.err()).isEqualTo(ENDED);
        assertThat(alone.text().lines()).hasSize(programs);
        Path session = directory.resolve("session");

        Dist.Outcome under = Dist.run(directory, Dist.preload(mode.options + ",session=" + session), command);

        // A failure shows the first program that differs, not the programs after it.
        assertThat(firstDifference(alone.text(), under.text())).isEmpty();
        assertThat(under.err()).isEqualTo(alone.err());
        assertThat(under.status()).isEqualTo(ENDED);
        assertThat(Dist.calls(Dist.report(directory, session)))
                .as("all of the kinds of steps have probes")
                .containsKeys("_ZL4stepP3Runm", "_ZL5jumpsP3Runm", "_ZL6beginsv");
    }

    private static String firstDifference(String alone, String under) {
        List<String> expected = alone.lines().toList();
        List<String> actual = under.lines().toList();
        for (int i = 0; i < expected.size(); i++) {
            String line = i < actual.size() ? actual.get(i) : "nothing";
            if (!expected.get(i).equals(line)) {
                return expected.get(i) + " without the agent, " + line + " with it";
            }
        }
        return "";
    }

    private Path compile(Build build) throws Exception {
        Path object = directory.resolve("program.o");
        Path program = directory.resolve("program");
        List<String> compilation = new ArrayList<>(List.of(build.compiler, "-O2", "-g", "-c", "-o", object.toString()));
        compilation.addAll(build.compiling);
        compilation.add(Path.of("src/test/c/random_program.cc").toAbsolutePath().toString());
        List<String> linking = new ArrayList<>(List.of(build.compiler, "-o", program.toString(), object.toString()));
        linking.addAll(build.linking);
        linking.add("-pthread");
        for (List<String> each : List.of(compilation, linking)) {
            Dist.Outcome outcome = Dist.run(directory, Map.of(), each);
            assertThat(outcome.status()).as(outcome.err()).isZero();
        }
        return program;
    }
}
