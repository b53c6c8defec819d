package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// With `--wait --exact` every call is recorded: function by function as many as hooks count that are preloaded
/// instead, and the program's output and status are what they are without the agent.
class ExactCountsIT {
    @TempDir
    Path directory;

    @Tag("soak")
    @Test
    void shouldCountEveryCallOfBzip2() throws Exception {
        Path input = compressible(3_000_000);
        compare(List.of(Dist.debian("bzip2").toString(), "-9", "-c"), input);
    }

    @Test
    void shouldCountEveryCallOfLua() throws Exception {
        Path script = Files.writeString(directory.resolve("work.lua"), """
                local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
                local t = {}
                for i = 1, 20000 do t[#t + 1] = string.format("%d:%s", i, ("x"):rep(i % 17)) end
                -- Not more than 100 at a time: of larger arrays Lua chooses the pivot by the clock.
                for i = 1, #t, 90 do
                  local part = table.move(t, i, math.min(i + 89, #t), 1, {})
                  table.sort(part)
                  table.move(part, 1, #part, i, t)
                end
                local words = {}
                for _, s in ipairs(t) do words[s:sub(1, 2)] = (words[s:sub(1, 2)] or 0) + #s:gsub("x", "yy") end
                local keys = {}
                for k in pairs(words) do keys[#keys + 1] = k end
                table.sort(keys)
                for _, k in ipairs(keys) do print(k, words[k]) end
                print(fib(22), pcall(error, "caught"), select(2, pcall(string.rep)))
                local co = coroutine.wrap(function() for i = 1, 100 do coroutine.yield(i) end end)
                local sum = 0
                for i = 1, 100 do sum = sum + co() end
                print(sum, collectgarbage("collect"))
                """);
        compare(
                List.of(
                        Dist.debian("lua5.4", Dist.PLAIN_CALLS + "-finstrument-functions")
                                .toString(),
                        script.toString()),
                null);
    }

    @Test
    void shouldCountEveryCallOfSqlite() throws Exception {
        Path script = Dist.sqliteWork(directory, 20_000, 500);
        compare(List.of(Dist.debian("sqlite3").toString(), ":memory:"), script);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-O2",
                "-O0",
                "-O3",
                "-Os",
                "-O2 -fno-plt",
                "-O2 -no-pie -fno-pie",
                "-O2 -fcf-protection=full",
                "-O2 -fno-omit-frame-pointer",
                "-O2 -fno-asynchronous-unwind-tables",
                "-O2 -s"
            })
    void shouldCountRecursionSiblingsLongjmpAndThreads(String flags) throws Exception {
        List<String> all = new ArrayList<>(List.of("-finstrument-functions"));
        all.addAll(List.of(flags.split(" ")));
        Path program = Dist.compile(directory, "threads", all.toArray(String[]::new));
        Path session = directory.resolve("session");

        Dist.Outcome run = Dist.run(directory, Map.of(), exactly(session, List.of(program.toString())));

        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        Map<String, Long> expected = printed(run.text());
        JsonNode report = Dist.report(directory, session);
        if (flags.contains("-s")) {
            // Without symbols there are only addresses for names.
            assertThat(Dist.calls(report).values()).containsExactlyInAnyOrderElementsOf(expected.values());
        } else {
            assertThat(Dist.calls(report)).containsExactlyInAnyOrderEntriesOf(expected);
            assertThat(report.get("unmatched").asLong()).isEqualTo(expected.get("jumps"));
        }
    }

    /// The agent's threads use it, too.
    @ParameterizedTest
    @CsvSource({
        "libjemalloc.so.2, true",
        "libjemalloc.so.2, false",
        "libtcmalloc_minimal.so.4, true",
        "libtcmalloc_minimal.so.4, false"
    })
    void shouldCountEveryCallBesideAnotherAllocator(String name, boolean first) throws Exception {
        Path allocator = Path.of("/usr/lib/x86_64-linux-gnu", name);
        assumeThat(allocator).as("not run without it").exists();
        Path program = Dist.compile(directory, "threads", "-finstrument-functions");
        Path session = directory.resolve("session");
        Map<String, String> environment = new HashMap<>(Dist.preload("wait,exact,session=" + session));
        environment.put("LD_PRELOAD", first ? allocator + ":" + Dist.shim() : Dist.shim() + ":" + allocator);

        Dist.Outcome run = Dist.run(directory, environment, List.of(program.toString()));

        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(Dist.calls(Dist.report(directory, session))).containsExactlyInAnyOrderEntriesOf(printed(run.text()));
    }

    static Map<String, Long> printed(String text) {
        Map<String, Long> calls = new HashMap<>();
        for (String line : text.split("\n")) {
            calls.put(line.split(" ")[0], Long.parseLong(line.split(" ")[1]));
        }
        return calls;
    }

    private void compare(List<String> command, @Nullable Path input) throws Exception {
        Dist.Outcome alone = Dist.run(directory, Map.of(), input, command);
        assertThat(alone.status()).isZero();
        assertThat(alone.out()).isNotEmpty();
        Path session = directory.resolve("session");

        Dist.Outcome under = Dist.run(directory, Map.of(), input, exactly(session, command));

        assertThat(under.out()).isEqualTo(alone.out());
        assertThat(under.err()).isEqualTo(alone.err());
        assertThat(under.status()).isEqualTo(alone.status());
        JsonNode report = Dist.report(directory, session);
        Map<String, Long> independent = Dist.countIndependently(directory, Map.of(), input, command);
        assertThat(independent).hasSizeGreaterThan(20);
        assertThat(Dist.calls(report)).containsExactlyInAnyOrderEntriesOf(independent);
        assertThat(report.get("dropped").asLong()).isZero();
        for (JsonNode function : report.get("functions")) {
            assertThat(function.get("callsExact").asBoolean()).isTrue();
        }
    }

    static List<String> exactly(Path session, List<String> command) {
        List<String> all =
                new ArrayList<>(List.of(Dist.mdl(), "run", "--wait", "--exact", "-o", session.toString(), "--"));
        all.addAll(command);
        return all;
    }

    private Path compressible(int bytes) throws Exception {
        SplittableRandom random = new SplittableRandom(42);
        byte[] content = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            content[i] = (byte) ("etaoin shrdlu\n".charAt(Math.min(13, (int) Math.abs(4 * random.nextGaussian()))));
        }
        return Files.write(directory.resolve("input"), content);
    }
}
