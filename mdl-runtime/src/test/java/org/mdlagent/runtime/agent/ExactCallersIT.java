package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// With `--exact`, each call is known by its caller.
class ExactCallersIT {
    @TempDir
    Path directory;

    private Path session() {
        return directory.resolve("session");
    }

    private List<String> exactly(String... command) {
        List<String> all = new ArrayList<>(
                List.of(Dist.mdl(), "run", "--wait", "--exact", "-o", session().toString(), "--"));
        all.addAll(List.of(command));
        return all;
    }

    @ParameterizedTest
    @ValueSource(strings = {"-finstrument-functions", "-fpatchable-function-entry=5"})
    void shouldCountCallsByCallerInThreadsHandlersAndRecursions(String flags) throws Exception {
        Path program = Dist.compile(directory, "exact_callers", flags);

        Dist.Outcome run = Dist.run(directory, Map.of(), exactly(program.toString()));

        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        Map<String, Long> expected = ExactCountsIT.printed(run.text());
        JsonNode leaf = Dist.function(Dist.report(directory, session()), "leaf");
        Map<String, Long> callers = new HashMap<>();
        for (JsonNode caller : leaf.get("callers")) {
            callers.put(
                    caller.path("name").asText("others"), caller.get("calls").asLong());
            assertThat(caller.get("callsError").asDouble()).isZero();
        }
        assertThat(callers.values().stream().mapToLong(Long::longValue).sum())
                .isEqualTo(leaf.get("calls").asLong());
        assertThat(callers.remove("others") + callers.remove("everywhere")).isEqualTo(expected.remove("everywhere"));
        assertThat(callers).containsExactlyInAnyOrderEntriesOf(expected);
    }

    /// In sqlite3 every fourth function is inlined somewhere, many in others that are inlined themselves.
    @Test
    void shouldCountTheCallsOfSqliteAsItsHooksDo() throws Exception {
        Path script = Dist.sqliteWork(directory, 20_000, 10_000);
        String sqlite = Dist.debian("sqlite3").toString();
        Map<String, Long> counted = counted(sqlite, script);

        Dist.Outcome run = Dist.run(directory, Map.of(), script, exactly(sqlite, ":memory:"));

        assertThat(run.err()).isEmpty();
        Map<String, Long> edges = new HashMap<>();
        for (JsonNode function : Dist.report(directory, session()).get("functions")) {
            for (JsonNode caller : function.path("callers")) {
                edges.merge(
                        caller.path("name").asText() + " calls "
                                + function.get("name").asText(),
                        caller.get("calls").asLong(),
                        Long::sum);
            }
        }
        assertThat(counted).hasSizeGreaterThan(1_000);
        assertThat(edges).containsExactlyInAnyOrderEntriesOf(counted);
    }

    /// As hooks count that are preloaded instead of the agent.
    private Map<String, Long> counted(String program, Path input) throws Exception {
        Path hooks = Dist.compile(directory, "calling_hooks", "-shared", "-fPIC");
        Path counts = directory.resolve("edges");
        Map<String, String> environment = Map.of("LD_PRELOAD", hooks.toString(), "COUNTS", counts.toString());
        assertThat(Dist.run(directory, environment, input, List.of(program, ":memory:"))
                        .status())
                .isZero();
        Map<Long, String> names = Dist.functionNames(directory, program);
        Map<String, Long> edges = new HashMap<>();
        for (String line : Files.readAllLines(counts)) {
            String[] fields = line.split(" ");
            edges.merge(
                    names.getOrDefault(Long.parseLong(fields[0], 16), "") + " calls "
                            + names.getOrDefault(Long.parseLong(fields[1], 16), ""),
                    Long.parseLong(fields[2]),
                    Long::sum);
        }
        return edges;
    }
}
