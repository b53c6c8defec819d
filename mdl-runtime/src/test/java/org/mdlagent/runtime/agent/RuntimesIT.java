package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.Dist;
import org.mdlagent.runtime.ScriptRuns;

/// Programs in other languages, and their interpreters, as Debian ships them: under the agent they print and end as
/// without it, and their functions have what docs/runtimes.md says. To renew that page:
/// `cp mdl-runtime/target/runtimes.md docs/`.
class RuntimesIT {
    private static final Path SOURCES = Path.of("src/test/runtimes").toAbsolutePath();

    private ScriptRuns runs;
    private Path built;

    @BeforeEach
    void begin(@TempDir Path directory) throws IOException {
        runs = new ScriptRuns(directory);
        built = Files.createDirectory(directory.resolve("built"));
    }

    /// How the agent comes into a program.
    private enum Mode {
        /// With nothing said: it is armed while the program runs, if that takes long enough.
        PLAIN,
        EXACT,
        /// Exact, of the program and the libraries that do its work.
        LIBRARIES;

        private Map<String, String> environment(RuntimesTable runtime) {
            Map<String, String> environment = new HashMap<>();
            environment.put("AGENT", Dist.shim().toString());
            environment.put(
                    "MDL_OPTIONS",
                    switch (this) {
                        case PLAIN -> "";
                        case EXACT -> "wait,exact";
                        case LIBRARIES ->
                            "wait,exact"
                                    + runtime.libraries().stream()
                                            .map(library -> ",include=" + library + "*!*")
                                            .collect(Collectors.joining());
                    });
            return environment;
        }
    }

    private static Stream<Arguments> runtimesAndModes() {
        return RuntimesTable.all().stream()
                .flatMap(runtime -> Arrays.stream(Mode.values()).map(mode -> Arguments.of(runtime, mode)));
    }

    @Test
    void shouldBeWhatTheDocumentsSay() throws Exception {
        Path table = Files.writeString(Path.of("target/runtimes.md"), RuntimesTable.markdown());

        assertThat(table).hasSameTextualContentAs(Path.of("../docs/runtimes.md"));
    }

    @Tag("soak")
    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("runtimesAndModes")
    void shouldEndAsWithoutTheAgent(RuntimesTable runtime, Mode mode) throws Exception {
        assumeThat(runtime.tools().stream().filter(RuntimesIT::isAbsent))
                .as("not run without these")
                .isEmpty();
        if (!runtime.prepare().isEmpty()) {
            Dist.Outcome prepared =
                    Dist.run(built, Map.of("SOURCES", SOURCES.toString()), List.of("sh", "-c", runtime.prepare()));
            assertThat(prepared.status()).as(prepared.err()).isZero();
        }
        Dist.Outcome alone = run(runtime, Map.of("AGENT", "", "MDL_OPTIONS", ""));
        assertThat(alone.text()).as(alone.err()).isNotEmpty();

        Dist.Outcome under = run(runtime, mode.environment(runtime));

        assertThat(under.text()).as(under.err()).isEqualTo(alone.text());
        assertThat(under.err()).isEqualTo(alone.err());
        assertThat(under.status()).isEqualTo(alone.status());
        if (mode == Mode.EXACT) {
            assertHasWhatTheTableSays(runtime);
        }
    }

    private void assertHasWhatTheTableSays(RuntimesTable runtime) throws IOException {
        long calls = 0;
        long timed = 0;
        for (Path session : runs.sessions()) {
            if (!Files.readString(session.resolve("agent.log")).contains(" armed after ")) {
                continue;
            }
            try (SessionReader reader = SessionReader.open(session)) {
                for (FunctionProfile function : reader.profile().functions()) {
                    calls += function.calls();
                    timed += function.sampled();
                }
            }
        }
        assertThat(calls).as("calls").isPositive();
        switch (runtime.own()) {
            case CALLS -> assertThat(timed).as("calls that were timed").isPositive();
            case COUNTS -> assertThat(timed).as("calls that were timed").isZero();
        }
    }

    private static boolean isAbsent(String tool) {
        return Stream.of("/usr/bin", "/bin")
                .map(directory -> Path.of(directory).resolve(tool))
                .noneMatch(Files::isExecutable);
    }

    /// The shell that runs the command has no agent.
    private Dist.Outcome run(RuntimesTable runtime, Map<String, String> environment) throws Exception {
        Map<String, String> all = new HashMap<>(environment);
        all.put("SOURCES", SOURCES.toString());
        all.put("BUILT", built.toString());
        all.put("LC_ALL", "C.UTF-8");
        String agent = Objects.requireNonNull(environment.get("AGENT"));
        all.put("RUN", agent.isEmpty() ? "" : "env LD_PRELOAD=" + agent);
        String command = runtime.command().contains("$RUN ") ? runtime.command() : "$RUN " + runtime.command();
        return runs.run(Dist.PATIENCE.dividedBy(2), all, List.of("sh", "-c", command));
    }

    @AfterEach
    void forget() throws Exception {
        runs.forget();
    }
}
