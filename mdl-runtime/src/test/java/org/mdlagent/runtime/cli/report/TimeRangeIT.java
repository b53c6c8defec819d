package org.mdlagent.runtime.cli.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// The slices of time that a session keeps, of a program that has done its work and waits.
class TimeRangeIT {
    private static final long CALLS = 20_000;

    @TempDir
    static Path directory;

    private static Path session;
    private static Process process;

    @BeforeAll
    static void start() throws Exception {
        Path script = Files.writeString(directory.resolve("work.lua"), """
                for i = 1, %1$d do
                  table.sort({5, 3, 1, 4, 2})
                  local text = string.format("%%d %%s", 42, "text")
                end
                print("done")
                io.stdout:flush()
                io.read()
                """.formatted(CALLS));
        session = directory.resolve("session");
        process = Dist.start(
                List.of(
                        Dist.debian("lua5.4", Dist.PLAIN_CALLS + "-finstrument-functions")
                                .toString(),
                        script.toString()),
                "wait,exact,sliceMillis=2000,session=" + session);
        assertThat(process.inputReader().readLine()).isEqualTo("done");
    }

    @AfterAll
    static void end() throws Exception {
        process.destroyForcibly().waitFor();
    }

    private static Dist.Outcome report(String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(Dist.mdl(), "report", session.toString()));
        command.addAll(List.of(options));
        return Dist.run(directory, Map.of(), command);
    }

    /// That of its last slice, too, once it has ended.
    @Test
    void shouldHaveEveryCallInASlice() throws Exception {
        Dist.await("slices of all calls", () -> {
            Dist.Outcome report = report("--format", "json", "--from=-1h");
            if (report.status() != 0) {
                assertThat(report.err()).containsAnyOf("has no data between", "no slices of time");
                return false;
            }
            Map<String, Long> calls = Dist.calls(new ObjectMapper().readTree(report.out()));
            assertThat(calls.getOrDefault("sort", 0L)).isLessThanOrEqualTo(CALLS);
            assertThat(calls.getOrDefault("str_format", 0L)).isLessThanOrEqualTo(CALLS);
            return calls.getOrDefault("sort", 0L) == CALLS && calls.getOrDefault("str_format", 0L) == CALLS;
        });
    }

    @Test
    void shouldSayWhatRangeThereIs() throws Exception {
        shouldHaveEveryCallInASlice();

        Dist.Outcome none = report("--from", "2001-01-01T00:00:00Z", "--to", "2001-01-01T01:00:00Z");

        assertThat(none.status()).isEqualTo(1);
        assertThat(none.err()).contains("has no data between", "the session has slices from ");
        assertThat(report("--from", "-1s", "--to", "-2s").status()).isEqualTo(2);
    }

    @Test
    void shouldShowThemToPeopleToo() throws Exception {
        shouldHaveEveryCallInASlice();

        String table = new String(report("--from=-1h", "--limit=1000").out(), StandardCharsets.UTF_8);
        String page = new String(report("--format", "html", "--from=-1h").out(), StandardCharsets.UTF_8);

        assertThat(table)
                .containsPattern("\\d\\d:\\d\\d:\\d\\d to \\d\\d:\\d\\d:\\d\\d")
                .contains("str_format");
        assertThat(page).contains("\"heat\"", "\"range\"");
    }
}
