package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// A program that is a client of its own probes (`fastinst.h`), by itself and beside the profiler. It counts its
/// calls itself, and prints both.
class ClientsIT {
    private static final String HOOKS = "-finstrument-functions";
    private static final String WHOLE = "-fpatchable-function-entry=16";

    @TempDir
    Path directory;

    private Path program;
    private Path session;

    @BeforeEach
    void compile() throws Exception {
        program = compile(HOOKS + " -O2");
        session = directory.resolve("session");
    }

    private Path compile(String flags) throws Exception {
        List<String> all = new ArrayList<>(List.of("-I" + Dist.root().resolve("include")));
        all.addAll(List.of(flags.split(" ")));
        return Dist.compile(directory, "clients", all.toArray(String[]::new));
    }

    @Test
    void shouldBeUnavailableWithoutAgent() throws Exception {
        Dist.Outcome run = Dist.run(directory, Map.of(), List.of(program.toString(), "list"));

        assertThat(run.text()).isEqualTo("status 1 there is no agent in this process, or not any more\n");
        assertThat(run.status()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        HOOKS + ", entry, profile=off",
        HOOKS + ", exit, profile=off",
        HOOKS + ", entry, exact",
        HOOKS + ", exit, exact",
        HOOKS + ", entry, budgetPercent=100",
        HOOKS + ", exit, budgetPercent=100",
        WHOLE + ", entry, profile=off",
        WHOLE + ", exit, profile=off",
        WHOLE + ", exit, exact",
        WHOLE + ", exit, budgetPercent=100"
    })
    void shouldRunSomeClientAtEveryCallWhileOneThreadChangesThemAMillionTimes(String flags, String kind, String options)
            throws Exception {
        program = compile(flags);

        Map<String, String[]> found = run(options, kind);

        for (String phase : List.of("swapped", "again")) {
            assertThat(Long.parseLong(found.get(phase)[0])).isPositive();
            assertThat(found.get(phase)[1]).as(phase).isEqualTo(found.get(phase)[0]);
        }
        assertThat(found.get("both")).containsExactly("1");
        assertThat(found.get("some")).containsExactly("1");
        assertThat(found.get("off")).containsExactly("0");
        assertThat(found.get("wrong")).containsExactly("0");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                HOOKS + " -O2",
                HOOKS + " -O0",
                HOOKS + " -O2 -no-pie -fno-pie",
                HOOKS + " -O2 -fno-plt -fcf-protection=full",
                WHOLE + " -O2",
                WHOLE + " -O2 -no-pie -fno-pie -fcf-protection=full"
            })
    void shouldCountWithoutCall(String flags) throws Exception {
        program = compile(flags);

        Dist.Outcome run = under("profile=off", "count");

        assertThat(run.text().lines().toList()).hasSize(4).allSatisfy(line -> {
            String[] fields = line.split(" ");
            assertThat(fields[2]).as(line).isEqualTo(fields[1]);
        });
    }

    @Test
    void shouldRecordEveryCallWhileClientsComeAndGo() throws Exception {
        Map<String, String[]> truth = run("exact", "profiler");

        assertThat(truth.get("clients")).containsExactly("1");
        assertThat(Long.parseLong(truth.get("rounds")[0])).isPositive();
        JsonNode report = Dist.report(directory, session);
        assertThat(Dist.calls(report))
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        "outer", Long.parseLong(truth.get("outer")[0]), "leaf", Long.parseLong(truth.get("leaf")[0])));
        assertThat(report.get("unmatched").asLong()).isZero();
    }

    /// Clients hold probes on between slices; the body that clients and recorder share must not record there.
    @Tag("timing")
    @Test
    void shouldNotCountOutsideOfSlicesWhatClientsSee() throws Exception {
        Map<String, String[]> truth = run("budgetPercent=100", "held");

        long calls = Long.parseLong(truth.get("leaf")[0]);
        assertThat(truth.get("clients")).containsExactly(Long.toString(2 * calls));
        JsonNode report = Dist.report(directory, session);
        assertThat(Dist.calls(report).get("leaf")).isCloseTo(calls, within(calls / 3));
        // A slice that is over is not ended again by each call.
        assertThat(report.at("/overhead/toggles").asLong()).isLessThan(100_000);
    }

    @Test
    void shouldRecordNothingWithoutProfiler() throws Exception {
        run("profile=off", "held");

        assertThat(Dist.calls(Dist.report(directory, session))).isEmpty();
    }

    @Test
    void shouldEnterNoClientFromAClient() throws Exception {
        Map<String, String[]> found = run("profile=off", "nested");

        assertThat(found.get("probed")).containsExactly("1000");
        assertThat(found.get("third")).containsExactly("1000");
        assertThat(found.get("skipped")).containsExactly("1000");
    }

    @Test
    void shouldLeaveForkedProcessesAlone() throws Exception {
        Map<String, String[]> found = run("profile=off", "forked");

        assertThat(found.get("child")).containsExactly("1", "1");
        assertThat(found.get("parent")).containsExactly("2");
    }

    @Test
    void shouldTellWhatIsWrongAndChangeNothing() throws Exception {
        Dist.Outcome run = under("profile=off", "errors");

        assertThat(run.text().lines().map(line -> line.split(" ", 2)[0]))
                .containsExactly("2", "3", "2", "2", "2", "2", "4", "0", "0", "ran");
        assertThat(run.text())
                .contains("2 no such probe")
                .contains("3 the function is NULL")
                .contains("\nran 0\n");
    }

    @Test
    void shouldDescribeProbes() throws Exception {
        Dist.Outcome run = under("profile=off", "list");

        String outer = " outer clients.c:" + lineOf("int outer(int n)") + " ";
        assertThat(run.text().lines())
                .contains("0 entry leaf clients.c:" + lineOf("int leaf(int n)") + " 1 1")
                .filteredOn(line -> line.contains(outer))
                .extracting(line -> line.split(" ")[1])
                .containsExactlyInAnyOrder("entry", "exit");
    }

    private static int lineOf(String text) throws Exception {
        List<String> lines = Files.readAllLines(Path.of("src/test/c/clients.c"));
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).contains(text)) {
                return i + 1;
            }
        }
        throw new AssertionError(text);
    }

    private Map<String, String[]> run(String options, String mode) throws Exception {
        Map<String, String[]> found = new HashMap<>();
        for (String line : under(options, mode).text().split("\n")) {
            String[] fields = line.split(" ", 2);
            found.put(fields[0], fields[1].split(" "));
        }
        return found;
    }

    private Dist.Outcome under(String options, String mode) throws Exception {
        Dist.Outcome run = Dist.run(
                directory, Dist.preload("wait," + options + ",session=" + session), List.of(program.toString(), mode));
        assertThat(run.err()).isEmpty();
        assertThat(run.status()).as(run.text()).isZero();
        return run;
    }
}
