package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// Functions of libraries that nobody has named when the program started are probed once a request names them.
class OnDemandIT {
    private static final String LIBRARY = "ondemand_library.so";
    private static final String TWICE = request(LIBRARY, "twice");
    private static final String SAME = request(LIBRARY, "same");
    private static final String PUSHES = request(LIBRARY, "pushes");
    private static final String GETPPID = request("libc.so.6", "getppid");
    private static final String MALLOC = request("libc.so.6", "malloc");

    /// Where the jumps of some functions can lead others may have something.
    private static final String TAKEN = "no free memory within reach of their jumps";

    private static final int MANY = 60;

    @TempDir
    Path directory;

    private Path session;
    private Process process;

    private static String request(String library, String function) {
        return "procedure_calls@/Code/" + library + "/" + function;
    }

    /// @param threads whether some call the functions all the time
    private void start(String options, boolean threads) throws Exception {
        Path library = Dist.compile(directory, "ondemand_library", "-shared", "-fPIC");
        Path program = Dist.compile(directory, "ondemand");
        session = directory.resolve("session");
        List<String> command = new ArrayList<>(List.of(program.toString(), library.toString()));
        if (threads) {
            command.add("threads");
        }
        process = Dist.start(command, options + ",wait,session=" + session);
        assertThat(process.inputReader().readLine()).isEqualTo("ready");
    }

    /// Lets the program do something.
    private void tell(Object line) throws Exception {
        process.outputWriter().write(line + "\n");
        process.outputWriter().flush();
        assertThat(process.inputReader().readLine()).isEqualTo("done");
    }

    private String ask(String request) throws Exception {
        return Dist.ask(session, request);
    }

    private Map<String, Double> counted() throws Exception {
        return Dist.metrics(directory, session);
    }

    /// Every result was right.
    private void endWell() throws Exception {
        process.outputWriter().close();
        assertThat(process.waitFor()).isZero();
    }

    @AfterEach
    void end() throws Exception {
        process.destroyForcibly().waitFor();
    }

    @ParameterizedTest
    @ValueSource(strings = {"exact", "profile=off", "include=nothing", "include=ondemand_library.so!around"})
    void shouldCountFromWhenItIsAskedFor(String options) throws Exception {
        start(options, false);
        tell(1000);

        assertThat(ask("metric enable " + TWICE)).startsWith("ok\n1\t1\t");
        assertThat(ask("metric enable " + GETPPID)).startsWith("ok\n1\t1\t");
        tell(3000);
        assertThat(counted()).containsOnly(Map.entry(TWICE, 3000.0), Map.entry(GETPPID, 6000.0));
        assertThat(ask("probes points 0 same")).isEqualTo("error no function with probes is same\n");

        assertThat(ask("metric enable " + SAME)).startsWith("ok\n1\t1\t");
        String pushes = ask("metric enable " + PUSHES);
        String malloc = ask("metric enable " + MALLOC);
        tell(500);
        assertThat(counted()).containsEntry(TWICE, 3500.0).containsEntry(SAME, 1500.0);
        assertIsCountedOrTaken(PUSHES, pushes, 500);
        assertIsCountedOrTaken(MALLOC, malloc, 500);
        endWell();
    }

    private void assertIsCountedOrTaken(String request, String answer, double calls) throws Exception {
        if (answer.startsWith("ok")) {
            assertThat(counted()).containsEntry(request, calls);
        } else {
            assertThat(answer).contains(TAKEN);
        }
    }

    /// Nobody has named it. Calls before are estimated from those after.
    @Test
    void shouldProfileALibraryWithMuchOfTheTime() throws Exception {
        start("budgetPercent=5", false);
        Path log = session.resolve("agent.log");
        int calls = 0;
        while (!Files.readString(log).contains(LIBRARY + ": ")) {
            assumeThat(Files.readString(log)).doesNotContain("CPU time is not sampled");
            tell("spin");
            calls++;
        }
        // A rate is extrapolated to no more time than it was observed in.
        int before = calls;
        while (calls < 3 * before + 100) {
            tell("spin");
            calls++;
        }
        endWell();

        assertThat(Files.readString(log)).contains(LIBRARY + ": ").contains("functions have probes from now on");
        JsonNode spin = Dist.function(Dist.report(directory, session), "spin");
        assertThat(spin.get("callsExact").asBoolean()).isFalse();
        assertThat(spin.get("calls").asDouble())
                .isCloseTo(
                        calls,
                        within(spin.get("callsError").asDouble()
                                * spin.get("calls").asDouble()));
    }

    @Test
    void shouldLeaveLibrariesAloneIfFunctionsAreChosen() throws Exception {
        start("budgetPercent=5,include=nothing", false);
        for (int i = 0; i < 100; i++) {
            tell("spin");
        }
        Path log = session.resolve("agent.log");
        endWell();

        assertThat(Files.readString(log)).doesNotContain(LIBRARY + ": ");
    }

    @Test
    void shouldLeaveThemToMetricsUntilTheProfileIsToHaveThem() throws Exception {
        start("exact", false);
        assertThat(ask("metric enable " + TWICE)).startsWith("ok\n");
        tell(100);
        assertThat(Dist.calls(Dist.report(directory, session))).doesNotContainKey("twice");

        assertThat(ask("probes on " + LIBRARY + "!twice")).isEqualTo("ok\n1 function on\n");
        assertThat(ask("probes on " + LIBRARY + "!s?me")).isEqualTo("ok\n1 function on\n");
        tell(300);

        assertThat(Dist.calls(Dist.report(directory, session)))
                .containsEntry("twice", 300L)
                .containsEntry("same", 900L);
        assertThat(counted()).containsEntry(TWICE, 400.0);
        endWell();
    }

    @Test
    void shouldCountInALibraryThatComesAndGoes() throws Exception {
        start("budgetPercent=1", false);
        assertThat(ask("metric enable " + TWICE)).startsWith("ok\n");
        assertThat(ask("metric enable " + SAME)).startsWith("ok\n");
        tell(100);

        for (int i = 0; i < 5; i++) {
            tell("close");
            Dist.awaitLook(session);
            tell("open");
            tell(100);
        }

        assertThat(counted()).containsEntry(TWICE, 600.0).containsEntry(SAME, 1800.0);
        endWell();
    }

    @Test
    void shouldMeasureFromTheStart() throws Exception {
        start("metric=" + GETPPID, false);
        tell(1000);

        assertThat(counted()).containsOnly(Map.entry(GETPPID, 2000.0));
        endWell();
    }

    @Test
    void shouldSayWhatCannotBeProbed() throws Exception {
        start("exclude=same", false);

        assertThat(ask("metric enable " + request("libc.so.6", "memcpy")))
                .startsWith("error libc.so.6!memcpy has no probe: ")
                .contains("the dynamic linker chooses its implementation");
        assertThat(ask("metric enable " + request("libc.so.6", "mallok")))
                .isEqualTo("error libc.so.6!mallok has no probe: the library has no such function,"
                        + " did you mean 'malloc'?\n");
        assertThat(ask("metric enable " + request("libc.so.7", "malloc")))
                .contains("the program has no such module, did you mean 'libc.so.6'?");
        assertThat(ask("metric enable " + request("ld-linux-x86-64.so.2", "_dl_debug_state")))
                .contains("it belongs to program start, unwinding or the agent");
        assertThat(ask("metric enable " + request(LIBRARY, "around"))).contains("it loops to its first instruction");
        assertThat(ask("metric enable " + SAME)).contains("--exclude leaves it out");
        assertThat(ask("probes on " + LIBRARY + "!same")).contains("--exclude leaves it out");
        endWell();
    }

    @Test
    void shouldRefuseTooManyBeforeAnyHasAProbe() throws Exception {
        start("exact,libraryFunctions=10000", false);

        assertThat(ask("metric enable " + request("libc.so.6", "*")))
                .startsWith("error ")
                .contains(
                        " functions of ",
                        "libc.so.6 would get probes, more than the 1000 that may be: narrow the request");
        assertThat(ask("probes points 0 libc.so.6!getppid"))
                .isEqualTo("error no function with probes is libc.so.6!getppid\n");

        assertThat(ask("metric enable " + request("libc.so.6", "getppi?"))).startsWith("ok\n1\t1\t");
        tell(1000);
        assertThat(counted()).containsOnly(Map.entry(GETPPID, 2000.0));
        endWell();
    }

    @Test
    void shouldSayThatThereIsNoRoom() throws Exception {
        start("libraryFunctions=1", false);

        assertThat(ask("metric enable " + request(LIBRARY, "*")))
                .contains("the session has no room for", "--library-functions");
        assertThat(ask("metric enable " + TWICE)).startsWith("ok\n");
        tell(10);
        assertThat(counted()).containsEntry(TWICE, 10.0);
        endWell();
    }

    /// One after the other, each by a request of its own, while threads execute them.
    @ParameterizedTest
    @ValueSource(strings = {"budgetPercent=100,sliced=*", "exact"})
    void shouldComputeTheSameWhileFunctionsAreProbed(String options) throws Exception {
        start(options + ",libraryFunctions=10000", true);
        List<String> symbols = symbols(process.pid());
        assertThat(symbols).hasSizeGreaterThan(MANY);
        int made = 0;
        for (String symbol : symbols) {
            made += ask("probes on libc.so.6!" + symbol).startsWith("ok") ? 1 : 0;
        }
        for (String function : List.of("twice", "same", "pushes")) {
            String answer = ask("probes on " + LIBRARY + "!" + function);
            assertThat(answer).containsAnyOf("1 function on", TAKEN);
        }
        for (int i = 0; i < MANY; i++) {
            assertThat(ask("probes " + (i % 2 == 0 ? "off" : "on") + " *")).startsWith("ok");
        }
        tell(1000);

        assertThat(made).isGreaterThan(MANY / 3);
        assertThat(Dist.calls(Dist.report(directory, session))).containsKeys("twice", "same", "getppid");
        endWell();
    }

    /// Some of libc's, spread over it.
    private List<String> symbols(long pid) throws Exception {
        String libc = Files.readAllLines(Path.of("/proc/" + pid + "/maps")).stream()
                .map(line -> line.substring(line.lastIndexOf(' ') + 1))
                .filter(path -> path.endsWith("/libc.so.6"))
                .findFirst()
                .orElseThrow();
        List<String> all = Dist.run(directory, Map.of(), List.of("nm", "-D", "--defined-only", libc))
                .text()
                .lines()
                .filter(line -> line.contains(" T "))
                .map(line -> line.substring(line.lastIndexOf(' ') + 1).replaceFirst("@.*", ""))
                .distinct()
                .toList();
        List<String> some = new ArrayList<>(List.of("getppid", "malloc", "free"));
        for (int i = 0; i < all.size(); i += Math.max(1, all.size() / (MANY + 10))) {
            some.add(all.get(i));
        }
        return some;
    }
}
