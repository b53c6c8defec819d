package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// What a program did when: Lua sorts for three seconds, formats strings for three, and then waits for one, so that
/// the slices of what it did have ended.
@Tag("timing")
class PhasesIT {
    private static final int PHASE_SECONDS = 3;

    @TempDir
    static Path directory;

    private static Path session;

    /// The second in which the sorting began.
    private static Instant start;

    private static long sorts;
    private static long formats;

    @BeforeAll
    static void runBothPhases() throws Exception {
        Path script = Files.writeString(directory.resolve("phases.lua"), """
                local start = os.time()
                while os.time() == start do end
                start = os.time()
                local sorts, formats = 0, 0
                while os.time() < start + %1$d do
                  table.sort({5, 3, 1, 4, 2})
                  sorts = sorts + 1
                end
                while os.time() < start + 2 * %1$d do
                  local text = string.format("%%d %%s", 42, "text")
                  formats = formats + 1
                end
                while os.time() < start + 2 * %1$d + 1 do end
                print(start, sorts, formats)
                """.formatted(PHASE_SECONDS));
        session = directory.resolve("session");
        Dist.Outcome run = Dist.run(
                directory,
                Dist.preload("wait,exact,sliceMillis=200,session=" + session),
                List.of(Dist.debian("lua5.4").toString(), script.toString()));
        assertThat(run.status()).isZero();
        String[] said = new String(run.out(), StandardCharsets.UTF_8).strip().split("\t");
        start = Instant.ofEpochSecond(Long.parseLong(said[0]));
        sorts = Long.parseLong(said[1]);
        formats = Long.parseLong(said[2]);
    }

    private static Map<String, Long> calls(int fromSecond, int toSecond) throws Exception {
        Dist.Outcome report = Dist.run(
                directory,
                Map.of(),
                List.of(
                        Dist.mdl(),
                        "report",
                        session.toString(),
                        "--format",
                        "json",
                        "--from",
                        start.plusSeconds(fromSecond).toString(),
                        "--to",
                        start.plusSeconds(toSecond).toString()));
        assertThat(report.err()).isEmpty();
        JsonNode json = new ObjectMapper().readTree(report.out());
        assertThat(Instant.parse(json.at("/range/from").asText())).isBefore(start.plusSeconds(fromSecond + 1));
        return Dist.calls(json);
    }

    @Test
    void shouldShowEachPhaseByItself() throws Exception {
        assertThat(calls(1, 2)).containsKey("auxsort").doesNotContainKey("str_format");
        assertThat(calls(PHASE_SECONDS + 1, PHASE_SECONDS + 2))
                .containsKey("str_format")
                .doesNotContainKey("auxsort");
    }

    @Test
    void shouldCountEveryCallOfAPhaseInItsSlices() throws Exception {
        // A second more: the clock of `time` goes by the tick, and is milliseconds late.
        assertThat(calls(0, PHASE_SECONDS + 1)).containsEntry("sort", sorts);
        assertThat(calls(PHASE_SECONDS - 1, 2 * PHASE_SECONDS + 1)).containsEntry("str_format", formats);
    }
}
