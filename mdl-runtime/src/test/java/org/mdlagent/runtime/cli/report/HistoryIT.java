package org.mdlagent.runtime.cli.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;
import org.mdlagent.runtime.SessionCleanup;

/// `mdl history` and `mdl diff` on real runs: what has become slower is found, and the past is there when its sessions
/// are gone.
class HistoryIT {
    @TempDir
    Path directory;

    private Path fast;
    private Path slow;

    @BeforeEach
    void compile() throws Exception {
        fast = build("fast", 400);
        slow = build("slow", 600);
    }

    /// A build of the same program in which `changing` takes `steps` steps.
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

    /// Three times the work is more than any machine varies by; what is not changed may vary as it does.
    @Tag("timing")
    @Test
    void shouldFindWhatHasBecomeSlower() throws Exception {
        Path slower = build("slower", 1200);
        Path kept = directory.resolve("kept");
        Dist.Outcome diff = mdl(
                "diff",
                "--runs",
                "5",
                "--exact",
                "--format",
                "json",
                "-o",
                kept.toString(),
                fast.toString(),
                "--",
                slower.toString());

        assertThat(diff.status()).as(diff.err()).isEqualTo(3);
        JsonNode json = new ObjectMapper().readTree(diff.out());
        Map<String, String> verdicts = new HashMap<>();
        for (JsonNode function : json.get("functions")) {
            verdicts.put(
                    function.get("name").asText(),
                    function.at("/typical/verdict").asText());
        }
        assertThat(verdicts).containsEntry("changing", "slower");
        assertThat(json.get("before")).hasSize(5);
        assertThat(kept.resolve("b-5/session.mdl")).exists();
        assertThat(mdl(
                                "diff",
                                kept.resolve("a-1").toString(),
                                kept.resolve("b-1").toString())
                        .status())
                .isZero();
    }

    @Test
    void shouldRunTwoProgramsInTurnAndLeaveNothing() throws Exception {
        Dist.Outcome diff =
                mdl("diff", "--runs", "5", "--threshold", "900", "--", fast.toString(), "--", fast.toString());

        assertThat(diff.status()).as(diff.err()).isZero();
        String build = buildId(fast).substring(0, 12);
        assertThat(diff.text().lines().toList())
                .anyMatch(line -> line.startsWith("A  busy · 5 runs · sampled · build " + build))
                .anyMatch(line -> line.startsWith("(program) "))
                .anyMatch(line -> line.startsWith("slower by more than 900 % (--threshold): no function"));
        try (Stream<Path> left = Files.list(directory.resolve("state/mdl/sessions"))) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void shouldSayWhichRunFailed() throws Exception {
        Dist.Outcome diff = mdl("diff", "--runs", "5", fast.toString(), "--", "sh", "-c", "echo no input >&2; exit 4");

        assertThat(diff.status()).isEqualTo(1);
        assertThat(diff.err())
                .contains("sh ended with status 4; its last words:\n     no input\n     try: mdl run -- sh");
    }

    @Test
    void shouldShowHowTwoSessionsDifferAndJudgeNothing() throws Exception {
        run(fast, "busy-1");
        run(fast, "busy-2");

        Dist.Outcome diff = mdl("diff");

        assertThat(diff.status()).isZero();
        assertThat(diff.text()).contains("before  busy · ", "after   busy · ", "changing", "two runs do not show");
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
        assertThat(mdl("history", "nothing_like_it").err()).contains("no run that is kept has called nothing_like_it");
    }
}
