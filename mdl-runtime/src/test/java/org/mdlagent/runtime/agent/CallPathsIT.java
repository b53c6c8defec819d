package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.Dist;

/// Call paths of a program whose paths are known, from stacks that the kernel copies while its functions have
/// probes.
/// Samples are awaited until each path has some: how many each has is left to luck, what they look like is not.
class CallPathsIT {
    /// What the last functions of each path are, from `main` on.
    private static final List<String> EXPECTED = List.of(
            "main;first;leaf",
            "main;second;leaf",
            "main;recurse;recurse;recurse;recurse;recurse;leaf",
            "main;sort;...;compare;leaf");

    @TempDir
    Path directory;

    private Path session;
    private Process process;

    @AfterEach
    void end() throws Exception {
        process.destroyForcibly().waitFor();
    }

    /// Samples in `leaf` itself, libc's functions between ours left out.
    private Set<String> pathsToLeaf() throws Exception {
        Set<String> paths = new LinkedHashSet<>();
        String folded = Dist.run(
                        directory, Map.of(), List.of(Dist.mdl(), "report", "--format", "folded", session.toString()))
                .text();
        for (String line : folded.lines().toList()) {
            String path = line.substring(0, line.lastIndexOf(' '));
            if (path.endsWith(";leaf")) {
                paths.add(fromMain(path));
            }
        }
        return paths;
    }

    private static String fromMain(String path) {
        List<String> kept = new ArrayList<>();
        boolean called = false;
        for (String frame : path.split(";")) {
            called |= frame.equals("main");
            if (called) {
                kept.add(frame);
            }
        }
        return String.join(";", kept).replaceAll(";sort;.*;compare;", ";sort;...;compare;");
    }

    /// By whole calls, by hooks, in a forked process, and where every call is recorded.
    @ParameterizedTest
    @CsvSource({
        "-fpatchable-function-entry=5, '', ''",
        "-finstrument-functions, '', ''",
        "-fpatchable-function-entry=5, 'wait,', forks",
        "-fpatchable-function-entry=5, 'exact,', ''"
    })
    void shouldTellEachPathAndNoOther(String probes, String options, String argument) throws Exception {
        start(probes, options, argument, Dist.shim().toString());
        shouldTellAllPaths();
    }

    /// A process may come to the session after its parent's threads were opened, and be forked before: it has
    /// inherited nothing then. Here that is so in half of all runs.
    @Test
    void shouldTellThoseOfAProcessThatIsKnownLate() throws Exception {
        Path late = Dist.compile(directory, "late_child", "-shared", "-fPIC");
        start("-fpatchable-function-entry=5", "wait,", "forks", Dist.shim() + " " + late);
        shouldTellAllPaths();
    }

    private void start(String probes, String options, String argument, String preloaded) throws Exception {
        session = directory.resolve("session");
        List<String> command =
                new ArrayList<>(List.of(Dist.compile(directory, "paths", probes).toString()));
        if (!argument.isEmpty()) {
            command.add(argument);
        }
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(Dist.preload(options + "session=" + session));
        builder.environment().put("LD_PRELOAD", preloaded);
        process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private void shouldTellAllPaths() throws Exception {
        Dist.await("a sample of each path", () -> {
            Path log = session.resolve("agent.log");
            assumeThat(Files.exists(log) ? Files.readString(log) : "").doesNotContain("CPU time is not sampled");
            return Dist.reportOrNull(directory, session) != null
                    && pathsToLeaf().containsAll(EXPECTED);
        });

        assertThat(pathsToLeaf()).containsExactlyInAnyOrderElementsOf(EXPECTED);
    }
}
