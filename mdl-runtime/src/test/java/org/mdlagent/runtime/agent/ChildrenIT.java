package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.Dist;

/// Which programs have an agent, and so a session: the program that is started with the library, and the
/// programs executed by it that the option `children` names.
class ChildrenIT {
    private static final Path SHELL = Path.of("/bin/sh");

    @TempDir
    static Path programs;

    @TempDir
    Path directory;

    @BeforeAll
    static void compile() throws Exception {
        program("plain", "nothing");
        program("stripped", "nothing", "-s");
        program("hooks", "nothing", "-finstrument-functions", "-s");
        program("entries", "nothing", "-fpatchable-function-entry=5", "-s");
        program("inner", "own_hooks", "-finstrument-functions");
        Path library = Dist.compile(programs, "plugin", "-shared", "-fPIC", "-finstrument-functions", "-s");
        program("linked", "nothing", "-Wl,--no-as-needed", library.toString());
    }

    private static void program(String name, String source, String... flags) throws Exception {
        Path made = Dist.compile(programs, source, flags);
        Files.move(made, programs.resolve(name));
    }

    @ParameterizedTest
    @CsvSource({"none,", "probed,hooks entries inner linked", "all,hooks entries inner linked plain stripped"})
    void shouldGiveAnAgentToTheChildrenThatAreAskedFor(String children, String expected) throws Exception {
        String commands =
                "for p in hooks plain stripped entries inner linked; do " + programs + "/$p || exit 1; done; true";

        Dist.Outcome outcome = Dist.run(
                directory, Dist.preload("wait,children=" + children), List.of(SHELL.toString(), "-c", commands));

        assertThat(outcome).isEqualTo(new Dist.Outcome(0, outcome.out(), ""));
        String first = SHELL.getFileName().toString();
        List<String> with = expected == null ? List.of() : List.of(expected.split(" "));
        assertThat(sessions())
                .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(Stream.of(first), with.stream()).toList());
    }

    /// What it will open is not known when it starts.
    @Test
    void shouldGiveAnAgentToTheFirstProgramInAnyCase() throws Exception {
        Dist.Outcome outcome = Dist.run(
                directory,
                Dist.preload("wait,children=none"),
                List.of(programs.resolve("plain").toString()));

        assertThat(outcome.status()).isZero();
        assertThat(sessions()).containsExactly("plain");
    }

    /// The names of the programs that have sessions.
    private List<String> sessions() throws IOException {
        try (Stream<Path> sessions = Files.list(directory.resolve("state/mdl/sessions"))) {
            return sessions.map(session -> session.getFileName().toString().replaceAll("-.*", ""))
                    .sorted()
                    .toList();
        }
    }
}
