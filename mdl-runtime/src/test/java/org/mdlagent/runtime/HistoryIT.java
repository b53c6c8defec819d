package org.mdlagent.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `mdl history` and `mdl diff` on real runs: what has become slower is found, what has not is not, and the past is
/// there when its sessions are gone.
class HistoryIT {
    /// A shared machine may be slower by a quarter for the whole of one run, and then every function is.
    private static final int PAIRS = 5;

    private static final double SAME = 0.1;

    @TempDir
    Path directory;

    private Path fast;
    private Path slow;

    @BeforeEach
    void compile() throws Exception {
        fast = build("fast", 400);
        slow = build("slow", 600);
    }

    /// A build of the same program, which takes so many steps in `changing`.
    private Path build(String name, int steps) throws Exception {
        Path program = Dist.compile(directory, "busy", "-finstrument-functions", "-DSTEPS=" + steps);
        Path place = Files.createDirectories(directory.resolve(name)).resolve("busy");
        return Files.move(program, place);
    }

    private void run(Path program, String session) throws Exception {
        Path place = directory.resolve("state/mdl/sessions/" + session);
        Dist.Outcome outcome = Dist.run(
                directory,
                Map.of(),
                List.of(Dist.mdl(), "run", "--wait", "--exact", "-o", place.toString(), "--", program.toString()));
        assertThat(outcome.status()).as(outcome.err()).isZero();
    }

    private interface Comparison {
        void of(String before, String after) throws Exception;
    }

    /// Compares runs of two programs during which the machine was the same, by what both do alike.
    private void compare(Path first, Path second, Comparison comparison) throws Exception {
        int pair = 0;
        double change;
        do {
            pair++;
            run(first, "before-" + pair);
            run(second, "after-" + pair);
            change = steadyNanos("after-" + pair) / steadyNanos("before-" + pair) - 1;
        } while (Math.abs(change) > SAME && pair < PAIRS);
        comparison.of("before-" + pair, "after-" + pair);
    }

    private double steadyNanos(String session) throws Exception {
        JsonNode report = Dist.report(directory, directory.resolve("state/mdl/sessions/" + session));
        for (JsonNode function : report.get("functions")) {
            if (function.get("name").asText().equals("steady")) {
                return function.get("p50Nanos").asDouble();
            }
        }
        throw new AssertionError("steady is not in " + report);
    }

    private Dist.Outcome mdl(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(Dist.mdl()));
        command.addAll(List.of(arguments));
        return Dist.run(directory, Map.of(), command);
    }

    private static String buildId(Path program) throws Exception {
        Process readelf = new ProcessBuilder("readelf", "-n", program.toString()).start();
        String notes = new String(readelf.getInputStream().readAllBytes());
        return notes.lines()
                .filter(line -> line.contains("Build ID: "))
                .map(line -> line.replaceFirst(".*Build ID: ", ""))
                .findFirst()
                .orElseThrow();
    }

    @Tag("timing")
    @Test
    void shouldFindWhatHasBecomeSlowerAndNothingElse() throws Exception {
        compare(fast, slow, (before, after) -> {
            Dist.Outcome diff = mdl("diff", before, after, "--threshold", "20", "--format", "json");

            assertThat(diff.status()).as(diff.err()).isEqualTo(3);
            JsonNode json = new ObjectMapper().readTree(diff.out());
            List<String> regressions = new ArrayList<>();
            for (JsonNode function : json.get("functions")) {
                if (function.get("latencyRegression").asBoolean()) {
                    regressions.add(function.get("name").asText());
                }
            }
            assertThat(regressions).contains("changing").doesNotContain("steady", "main");
            assertThat(mdl("diff", after, before, "--threshold", "20").status()).isZero();
            assertThat(mdl("diff", before, after).status()).isZero();
        });
    }

    @Tag("timing")
    @Test
    void shouldFindNothingInTwoRunsOfOneProgram() throws Exception {
        compare(fast, fast, (before, after) -> {
            Dist.Outcome diff = mdl("diff", before, after, "--threshold", "20");

            assertThat(diff.status()).as(diff.text()).isZero();
            assertThat(diff.text()).contains("none are slower by more than 20.0 % beyond chance");
            assertThat(mdl("diff").text()).contains("before  busy · ", "after   busy · ");
        });
    }

    @Test
    void shouldKeepProfilesWhoseSessionsAreGone() throws Exception {
        run(fast, "busy-1");
        run(slow, "busy-2");
        Dist.Outcome first = mdl("history");
        assertThat(first.err()).containsPattern("\\d+ sessions taken in");

        SessionCleanup.removeData(directory);
        for (String session : List.of("busy-1", "busy-2")) {
            Files.deleteIfExists(directory.resolve("state/mdl/sessions/" + session + "/session.mdl"));
        }

        Dist.Outcome csv = mdl("history", "changing", "--format", "csv");
        assertThat(csv.status()).as(csv.err()).isZero();
        List<String> lines = csv.text().lines().toList();
        assertThat(lines).hasSize(3);
        assertThat(lines.get(1)).contains("," + buildId(fast) + ",changing,").contains(",60000,");
        assertThat(lines.get(2)).contains("," + buildId(slow) + ",changing,").contains(",60000,");
        assertThat(mdl("diff", buildId(fast), buildId(slow)).text()).contains("changing");
        assertThat(mdl("history", "c*ing", "--program", "other").status()).isEqualTo(1);
        Path store = directory.resolve("state/mdl/store");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(store)))
                .isEqualTo("rwx------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(store.resolve("profiles"))))
                .isEqualTo("rw-------");
    }

    @Test
    void shouldSayWhatIsWrongAndWhatToDo() throws Exception {
        run(fast, "one");

        assertThat(mdl("diff", "one", "nothing").err())
                .contains("there is no session and no build nothing", "mdl history lists");
        assertThat(mdl("diff", "--threshold", "-1").status()).isEqualTo(2);
        assertThat(mdl("diff", "--format", "xml").err()).contains("there are table, json and html");
        assertThat(mdl("history", "nothing_like_it").err()).contains("no run that is kept has called nothing_like_it");
    }
}
