package org.mdlagent.runtime.cli.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;
import org.mdlagent.runtime.cli.terminal.Posix;

/// Sessions belong to a user, and to the one command at a time that moves them.
class OwnSessionsIT {
    private static final List<String> STRANGER = List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups");

    /// The line of the report of all calls of work().
    private static final String WORK = "work +2\\.00 k";

    @TempDir
    Path directory;

    private Path program;

    @BeforeEach
    void compile() throws Exception {
        program = Dist.compile(directory, "drops", "-finstrument-functions");
    }

    private Dist.Outcome mdl(List<String> before, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(before);
        command.add(Dist.mdl());
        command.addAll(List.of(arguments));
        return Dist.run(directory, Map.of(), command);
    }

    /// Root could use what has no rights for anybody.
    private static List<String> someUser() {
        return Posix.effectiveUser() == 0 ? STRANGER : List.of();
    }

    private void letStrangersIn() throws Exception {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
        assumeThat(mdl(someUser(), "--version").status())
                .as("the distribution can be read")
                .isZero();
    }

    private static void assumeRoot() {
        assumeThat(Posix.effectiveUser()).as("root becomes another user").isZero();
    }

    @RepeatedTest(3)
    void shouldReportTwoRunsAtOnce() throws Exception {
        List<FutureTask<Dist.Outcome>> runs = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            runs.add(new FutureTask<>(
                    () -> mdl(List.of(), "run", "--wait", "--exact", "--report", "--", program.toString())));
        }
        runs.forEach(run -> Thread.ofPlatform().start(run));

        for (FutureTask<Dist.Outcome> run : runs) {
            assertThat(run.get().err()).containsPattern(WORK).doesNotContain("mdl:");
            assertThat(run.get().status()).isZero();
        }
    }

    @Test
    void shouldReportWhatRootHasStartedAndAnotherUserEnded() throws Exception {
        assumeRoot();
        Path session = directory.resolve("session");

        Dist.Outcome run = mdl(List.of(), "run", "-o", session.toString(), "--wait", "--exact", program.toString());

        assertThat(run.status()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(session.resolve("session.mdl")).isRegularFile();
        assertThat(Dist.calls(Dist.report(directory, session))).containsEntry("work", 2000L);
    }

    @Test
    void shouldReportToUsersTheirOwnSessionsAndToRootNoOthers() throws Exception {
        assumeRoot();
        letStrangersIn();
        Path session = directory.resolve("theirs");

        Dist.Outcome run = mdl(
                STRANGER, "run", "-o", session.toString(), "--wait", "--exact", "--report", "--", program.toString());
        Dist.Outcome report = mdl(STRANGER, "report", session.toString(), "--format", "json");
        Dist.Outcome ofRoot = mdl(List.of(), "report", session.toString());

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.err()).containsPattern(WORK);
        assertThat(report.text()).contains("\"work\"");
        assertThat(ofRoot.status()).isNotZero();
        assertThat(ofRoot.err()).contains("another user (uid 65534)", "sudo -u '#65534' mdl");
        assertThat(Files.getAttribute(session.resolve("session.mdl"), "unix:uid"))
                .isEqualTo(65534);
    }

    @Test
    void shouldSayToRootWhoMayAskAProcessOfAnotherUser() throws Exception {
        assumeRoot();
        letStrangersIn();
        List<String> command = new ArrayList<>(STRANGER);
        command.addAll(
                List.of(Dist.mdl(), "run", "-o", directory.resolve("theirs").toString(), "--", "cat"));
        Process run = new ProcessBuilder(command).start();
        try {
            Dist.await("the program", () -> run.children().anyMatch(OwnSessionsIT::isCatWithAgent));
            long cat = run.children().findFirst().orElseThrow().pid();

            for (String verb : List.of("detach", "report")) {
                assertThat(mdl(List.of(), verb, Long.toString(cat)).err())
                        .contains("the session of process " + cat + " is of another user", "sudo -u '#65534' mdl");
            }
        } finally {
            run.outputWriter().close();
            assertThat(run.waitFor()).isZero();
        }
    }

    private static boolean isCatWithAgent(ProcessHandle process) {
        Path seen = Path.of("/proc", Long.toString(process.pid()));
        try {
            return Files.readString(seen.resolve("comm")).equals("cat\n")
                    && Files.readString(seen.resolve("maps")).contains("/libmdlagent.so");
        } catch (IOException e) {
            return false; // it has just begun
        }
    }

    @Test
    void shouldReportToAUserWhoseUmaskLeavesNoRights() throws Exception {
        letStrangersIn();
        Path session = directory.resolve("below/session");
        List<String> masked = new ArrayList<>(someUser());
        masked.addAll(List.of("sh", "-c", "umask 0777; exec \"$@\"", "masked"));

        Dist.Outcome run =
                mdl(masked, "run", "-o", session.toString(), "--wait", "--exact", "--report", "--", program.toString());
        Dist.Outcome report = mdl(someUser(), "report", session.toString());
        Dist.Outcome shell = mdl(masked, "run", "--", "sh", "-c", "umask");

        assertThat(shell.text()).as("the program's own").isEqualTo("0777\n");
        assertThat(run.err()).containsPattern(WORK).doesNotContain("mdl:");
        assertThat(run.status()).isZero();
        assertThat(report.text()).containsPattern(WORK);
    }
}
