package org.mdlagent.runtime.cli.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// What commands say when there is nothing to see, and whom they find.
class MessagesIT {
    @TempDir
    Path directory;

    private Dist.Outcome mdl(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(Dist.mdl()));
        command.addAll(List.of(arguments));
        return Dist.run(directory, Map.of(), command);
    }

    @Test
    void shouldSayThatAProgramHasEndedBeforeItWasMeasured() throws Exception {
        Path program = Dist.compile(directory, "nothing", "-finstrument-functions");

        Dist.Outcome outcome = mdl("run", "--start-delay", "3600000", "--", program.toString());

        assertThat(outcome.status()).isZero();
        assertThat(outcome.err()).contains("the program ended before the agent had started", "mdl run --wait");
    }

    @Test
    void shouldSayThatAWorkerHasNoProbesWhoseMasterHasExecutedItself() throws Exception {
        Path program = Dist.compile(directory, "master");

        Dist.Outcome outcome = mdl("run", "--", program.toString());

        assertThat(outcome.status()).isZero();
        assertThat(outcome.err())
                .contains("the program re-executed itself: children forked before have no probes", "--no-wait");
    }

    @Test
    void shouldSayThatADaemonGoesOnWithoutProbes() throws Exception {
        Path program = Dist.compile(directory, "daemon");
        Path runs = Files.createFile(directory.resolve("runs"));

        Dist.Outcome outcome = mdl("run", "--", program.toString(), runs.toString());

        assertThat(outcome.status()).isZero();
        assertThat(outcome.err())
                .contains("the process that had the agent has ended; 1 process goes on without probes", "--no-wait");
        Files.delete(runs);
    }

    @Test
    void shouldSayInTheLogHowADebuggerPassesOnTheSignalsOfTheJvm() throws Exception {
        Path program = Dist.compile(directory, "nothing");
        Path session = directory.resolve("session");
        String environment = "set exec-wrapper env LD_PRELOAD=" + Dist.shim() + " MDL_OPTIONS=wait,session=" + session;

        Dist.Outcome outcome = Dist.run(
                directory,
                Map.of(),
                List.of(
                        "gdb",
                        "-batch",
                        "-ex",
                        environment,
                        "-ex",
                        "handle SIGSEGV nostop noprint pass",
                        "-ex",
                        "run",
                        program.toString()));

        assertThat(outcome.text()).contains("exited normally");
        assertThat(session.resolve("agent.log"))
                .content()
                .contains("traces the program", "handle SIGSEGV nostop noprint pass", "sites armed");
    }

    @Test
    void shouldSayThatGprofHasTheProgram() throws Exception {
        Path program = Dist.compile(directory, "nothing", "-pg");

        assertThat(mdl("run", "--wait", "--", program.toString()).err())
                .contains("is linked with -pg: it measures itself with gprof", "link it without")
                .doesNotContain("has no probes");
    }

    @Test
    void shouldNameFunctionsNearAPatternThatMeansNone() throws Exception {
        Path program = Dist.compile(directory, "messages", "-finstrument-functions");

        assertThat(mdl("run", "--wait", "--include", "pvm_sned", "--", program.toString())
                        .err())
                .contains("--include=pvm_sned: no function with probes matches", "did you mean 'pvm_send'?");
    }

    @Test
    void shouldFindTheSessionOfARunningProgramInADirectoryOfItsOwn() throws Exception {
        Path program = Dist.compile(directory, "messages", "-finstrument-functions");
        Process process = new ProcessBuilder(
                        Dist.mdl(),
                        "run",
                        "--wait",
                        "--exact",
                        "-o",
                        directory.resolve("own").toString(),
                        "--",
                        program.toString())
                .start();
        try {
            assertThat(process.inputReader().readLine()).isEqualTo("ready");
            long pid = process.children().findFirst().orElseThrow().pid();
            process.outputWriter().write("7\n");
            process.outputWriter().flush();
            assertThat(process.inputReader().readLine()).isEqualTo("done");
            String name = Long.toString(pid);

            assertThat(Dist.calls(Dist.report(directory, name))).containsEntry("foo", 7L);
            assertThat(mdl("top", "--count", "1", name).text()).contains("foo");
            // As they were enabled, by one pattern.
            assertThat(mdl("enable", name, "procedure_calls@/Code/messages.c/*").status())
                    .isZero();
            Dist.Outcome watched =
                    mdl("watch", "--count", "1", "--interval", "0.05", name, "procedure_calls@/Code/messages.c/*");
            assertThat(watched.err()).isEmpty();
            assertThat(watched.text()).contains("foo", "bar");
            assertThat(mdl("top", "--count", "1", name).text())
                    .contains("VALUE", "procedure_calls (calls)  /Code/messages.c/foo");
        } finally {
            process.outputWriter().close();
            process.waitFor();
        }
    }
}
