package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// Programs that change what the agent has looked at before go on as without it, and have their profile.
class SecondLookIT {
    private static final long CALLS = 1000;

    @TempDir
    Path directory;

    @Test
    void shouldGoOnWithoutProc() throws Exception {
        compare("mount --make-rprivate /", "unmounts proc", true);
    }

    /// Java does not start where there is none.
    @Test
    void shouldStartInADirectoryThatIsGone() throws Exception {
        compare("mkdir gone; cd gone; rmdir ../gone", "", false);
    }

    @Test
    void shouldNotKeepTheDirectoryInUseThatTheProgramWasStartedIn() throws Exception {
        compare("mount --make-rprivate /; mkdir -p own; mount -t tmpfs own own; cd own", "leaves its directory", true);
    }

    @Test
    void shouldNotCountTheAgentsMemoryAgainstTheProgramsLimit() throws Exception {
        compare("", "limits memory", false);
    }

    @Test
    void shouldExecuteOthersWithinTheProgramsLimits() throws Exception {
        Path program = Dist.compile(directory, "second_look", "-fpatchable-function-entry=5");
        List<String> command = List.of(program.toString(), "limits memory", "/nowhere");

        Dist.Outcome bare = Dist.run(directory, Map.of(), command);

        assertThat(bare.text()).contains("1048576");
        assertThat(Dist.run(directory, Dist.preload("wait"), command))
                .usingRecursiveComparison()
                .isEqualTo(bare);
    }

    /// @param before what a shell does before it executes the program
    /// @param what   the program does
    /// @param mounts whether that takes a mount namespace
    private void compare(String before, String what, boolean mounts) throws Exception {
        assumeThat(!mounts || Dist.run(directory, Map.of(), shell("true", true)).status() == 0)
                .as("only root mounts")
                .isTrue();
        Path program = Dist.compile(directory, "second_look", "-fpatchable-function-entry=5");
        Path session = directory.resolve("session");
        String options = "wait,exact,session=" + session;

        Dist.Outcome bare =
                Dist.run(directory, Map.of(), shell(before + "\nexec " + program + " '" + what + "'", mounts));
        Dist.Outcome run = Dist.run(
                directory,
                Map.of(),
                shell(
                        before + "\nexec env LD_PRELOAD=" + Dist.shim() + " MDL_OPTIONS=" + options + " " + program
                                + " '" + what + "'",
                        mounts));

        assertThat(bare.text()).startsWith("0 1 1 ");
        assertThat(run).usingRecursiveComparison().isEqualTo(bare);
        assertThat(Dist.calls(Dist.report(directory, session))).containsEntry("work", 2 * CALLS);
        assertThat(Files.readString(session.resolve("agent.log"))).doesNotContain("the agent has ended");
    }

    private static List<String> shell(String script, boolean mounts) {
        List<String> command = new ArrayList<>(mounts ? List.of("unshare", "-m") : List.of());
        command.addAll(List.of("sh", "-c", script));
        return command;
    }
}
