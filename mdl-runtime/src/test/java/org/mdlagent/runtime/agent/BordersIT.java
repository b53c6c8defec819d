package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;
import org.mdlagent.runtime.cli.terminal.Posix;

/// What one user may not do to another, by way of the agent: SECURITY.md has the table.
class BordersIT {
    /// A user that owns nothing here.
    private static final int STRANGER = 65534;

    @TempDir
    Path directory;

    @BeforeEach
    void assumeRoot() {
        assumeThat(Posix.effectiveUser()).as("root becomes other users").isZero();
    }

    /// The worker writes code to where its master, which stays root, executes it.
    @ParameterizedTest
    @ValueSource(strings = {"libc", "syscall", "thread", "strict", "privileges", "root"})
    void shouldNotExecuteInTheMasterWhatAWorkerWrites(String way) throws Exception {
        Path program = Dist.compile(directory, "privsep", "-fpatchable-function-entry=5", "-pthread");
        Path session = directory.resolve("session");

        Dist.Outcome run =
                Dist.run(directory, Map.of(), ExactCountsIT.exactly(session, List.of(program.toString(), way)));

        assertThat(run.text()).contains("the text is a copy").contains("master: done");
        assertThat(directory.resolve("PWNED")).doesNotExist();
        assertThat(run.status()).as(run.err()).isZero();
    }

    /// Of four workers that become another user each; one of them writes over all that it can write.
    @ParameterizedTest
    @ValueSource(strings = {"honest", "forks", "scribbles"})
    void shouldCountWhatWorkersCallThatHaveGivenUpRights(String kind) throws Exception {
        Path program = Dist.compile(directory, "confined_workers", "-finstrument-functions", "-pthread");
        Path session = directory.resolve("session");

        Dist.Outcome run =
                Dist.run(directory, Map.of(), ExactCountsIT.exactly(session, List.of(program.toString(), kind)));

        assertThat(run.status()).as(run.err()).isZero();
        JsonNode report = Dist.report(directory, session);
        if (!kind.equals("scribbles")) {
            assertThat(Dist.calls(report)).isEqualTo(Map.of("main", 1L, "of_master", 100L, "of_worker", 4000L));
            assertThat(Dist.function(report, "of_worker").at("/sampled").asLong())
                    .isEqualTo(4000);
        }
        int master = report.at("/session/pid").asInt();
        Dist.Outcome ofMaster = Dist.reportOfProcess(directory, session, master);
        assertThat(Dist.calls(new ObjectMapper().readTree(ofMaster.text())))
                .as("what a worker writes is told apart")
                .isEqualTo(Map.of("main", 1L, "of_master", 100L));
        String text = Dist.run(directory, Map.of(), List.of(Dist.mdl(), "report", session.toString()))
                .text();
        assertThat(text.contains("1 process is not counted since it or its parent gave up rights"))
                .isEqualTo(kind.equals("forks"));
    }

    /// What has a name there may be taken by anybody once its owner has closed it.
    @Test
    void shouldHaveNoNameThatOthersCouldTake() throws Exception {
        Path session = directory.resolve("session");
        Process process = Dist.start(
                List.of(
                        Dist.compile(directory, "early_forks", "-finstrument-functions")
                                .toString(),
                        "0",
                        "20"),
                "exact,session=" + session);
        try {
            Dist.await("the session", () -> Files.exists(session.resolve("session.mdl")));
            Dist.await("the probes", () -> Dist.reportOrNull(directory, session) != null);
            assertThat(abstractNames()).isEmpty();
        } finally {
            process.outputWriter().close();
            assertThat(process.waitFor()).isZero();
        }
    }

    /// Neither waited for nor changed, and named in one line.
    @ParameterizedTest
    @ValueSource(strings = {"list", "report", "top", "history"})
    void shouldLeaveOutWhatOthersHaveMadeWhereSessionsAre(String command) throws Exception {
        Path theirs = directory.resolve("state/mdl/sessions");
        Path session = Files.createDirectories(theirs.resolve("x-1-29991231T235959"));
        Path fifo = session.resolve("session.mdl");
        Dist.run(directory, Map.of(), List.of("mkfifo", fifo.toString()));
        for (Path each : List.of(fifo, session, theirs, theirs.getParent())) {
            Files.setAttribute(each, "unix:uid", STRANGER);
        }

        Dist.Outcome outcome = Dist.run(directory, Map.of(), List.of(Dist.mdl(), command));

        assertThat(outcome.err())
                .startsWith("mdl: " + theirs + ": left out: it belongs to another user (uid " + STRANGER + ")\n")
                .containsOnlyOnce("left out");
        assertThat(outcome.text()).doesNotContain("x-1");
        assertThat(theirs.getParent()).isDirectoryNotContaining("glob:**store");
    }

    private static List<String> abstractNames() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/net/unix"))) {
            return lines.filter(line -> line.contains(" @mdl")).toList();
        }
    }
}
