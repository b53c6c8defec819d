package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// Who calls whom, as the sampled profiler says, against what others say of the same work.
@Tag("timing")
class CallersIT {
    private static final Path VALGRIND = Path.of("/usr/bin/valgrind");

    @TempDir
    Path directory;

    /// A call of a function.
    private record Edge(String caller, String callee) {}

    /// In sqlite3 at `-O2` every fourth function is inlined somewhere, many in others that are inlined themselves.
    @Test
    void shouldKnowTheCallersOfHooksWhereFunctionsAreInlined() throws Exception {
        Path script = Dist.sqliteWork(directory, 400_000, 200_000);
        List<String> command = List.of(Dist.debian("sqlite3").toString(), ":memory:");
        Map<Edge, Long> sampled = sampledEdges(command, script);

        Map<Edge, Long> counted = countedEdges(command, script);

        assertThat(partOf(sampled, counted.keySet())).isGreaterThan(0.97);
        Map<String, Long> calls = new HashMap<>();
        counted.forEach((edge, count) -> calls.merge(edge.callee, count, Long::sum));
        // A function with callers that are about as busy must not have only one of them.
        long found = counted.entrySet().stream()
                .filter(edge -> isBusy(edge.getKey(), edge.getValue(), calls))
                .filter(edge -> sampled.containsKey(edge.getKey()))
                .count();
        long busy = counted.entrySet().stream()
                .filter(edge -> isBusy(edge.getKey(), edge.getValue(), calls))
                .count();
        assertThat((double) found / busy).isGreaterThan(0.95);
    }

    /// Most of Lua's functions leave by sibling calls.
    @Test
    void shouldKnowTheCallersOfWholeFunctions() throws Exception {
        assumeThat(VALGRIND).as("not run without it").exists();
        Path lua = Dist.debian("lua5.4", "-O2 -g -fpatchable-function-entry=5");
        Path script = Files.writeString(directory.resolve("work.lua"), """
                local rounds = tonumber(arg[1])
                local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
                local t = {}
                for i = 1, rounds do t[#t + 1] = string.format("%d:%s", i, ("x"):rep(i % 17)) end
                local words = {}
                for _, s in ipairs(t) do words[s:sub(1, 2)] = (words[s:sub(1, 2)] or 0) + #s:gsub("x", "yy") end
                local keys = {}
                for k in pairs(words) do keys[#keys + 1] = k end
                table.sort(keys)
                print(#keys > 0, fib(20), pcall(error, "caught"))
                """);
        Map<Edge, Long> sampled = sampledEdges(List.of(lua.toString(), script.toString(), "1200000"), null);

        Set<Edge> counted = callgrindEdges(List.of(lua.toString(), script.toString(), "4000"));

        assertThat(partOf(sampled, counted)).isGreaterThan(0.97);
    }

    private static boolean isBusy(Edge edge, long count, Map<String, Long> calls) {
        return !edge.caller.isEmpty() && count > 100_000 && count > 0.1 * calls.getOrDefault(edge.callee, 0L);
    }

    /// How many of the timed calls between probed functions are ones that there are.
    private static double partOf(Map<Edge, Long> sampled, Set<Edge> there) {
        long known = 0;
        long right = 0;
        for (Map.Entry<Edge, Long> edge : sampled.entrySet()) {
            known += edge.getValue();
            right += there.contains(edge.getKey()) ? edge.getValue() : 0;
            if (!there.contains(edge.getKey())) {
                System.out.println("not there: " + edge);
            }
        }
        System.out.printf("%,d of %,d timed calls have their callers%n", right, known);
        assertThat(known).isGreaterThan(10_000);
        return (double) right / known;
    }

    /// By edge between probed functions, how many calls were timed.
    private Map<Edge, Long> sampledEdges(List<String> command, @Nullable Path input)
            throws IOException, InterruptedException {
        Path session = directory.resolve("session");
        List<String> all = new ArrayList<>(
                List.of(Dist.mdl(), "run", "--wait", "--budget", "100", "-o", session.toString(), "--"));
        all.addAll(command);
        assertThat(Dist.run(directory, Map.of(), input, all).status()).isZero();
        Map<Edge, Long> edges = new HashMap<>();
        for (JsonNode function : Dist.report(directory, session).get("functions")) {
            for (JsonNode caller : function.path("callers")) {
                if (caller.has("name")) {
                    edges.merge(
                            new Edge(
                                    caller.get("name").asText(),
                                    function.get("name").asText()),
                            caller.get("sampled").asLong(),
                            Long::sum);
                }
            }
        }
        return edges;
    }

    /// As hooks count that are preloaded instead of the agent.
    private Map<Edge, Long> countedEdges(List<String> command, @Nullable Path input)
            throws IOException, InterruptedException {
        Path hooks = Dist.compile(directory, "calling_hooks", "-shared", "-fPIC");
        Path counts = directory.resolve("edges");
        Map<String, String> environment = Map.of("LD_PRELOAD", hooks.toString(), "COUNTS", counts.toString());
        assertThat(Dist.run(directory, environment, input, command).status()).isZero();
        Map<Long, String> names = Dist.functionNames(directory, command.getFirst());
        Map<Edge, Long> edges = new HashMap<>();
        for (String line : Files.readAllLines(counts)) {
            String[] fields = line.split(" ");
            edges.merge(
                    new Edge(
                            names.getOrDefault(Long.parseLong(fields[0], 16), ""),
                            names.getOrDefault(Long.parseLong(fields[1], 16), "")),
                    Long.parseLong(fields[2]),
                    Long::sum);
        }
        return edges;
    }

    /// As callgrind sees them ("Callgrind Format Specification"), which executes the program's own code.
    private Set<Edge> callgrindEdges(List<String> command) throws IOException, InterruptedException {
        Path out = directory.resolve("callgrind.out");
        List<String> all = new ArrayList<>(List.of(
                VALGRIND.toString(), "--tool=callgrind", "--compress-strings=no", "--callgrind-out-file=" + out));
        all.addAll(command);
        assertThat(Dist.run(directory, Map.of(), all).status()).isZero();
        Set<Edge> edges = new HashSet<>();
        String caller = "";
        for (String line : Files.readAllLines(out)) {
            if (line.startsWith("fn=")) {
                caller = name(line);
            } else if (line.startsWith("cfn=")) {
                edges.add(new Edge(caller, name(line)));
            }
        }
        return edges;
    }

    /// Of recursive functions the deeper calls have names of their own.
    private static String name(String line) {
        return line.substring(line.indexOf('=') + 1).replaceAll("'\\d+$", "");
    }
}
