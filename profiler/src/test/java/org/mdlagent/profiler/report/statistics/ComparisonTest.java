package org.mdlagent.profiler.report.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.format.ComparisonJson;
import org.mdlagent.profiler.report.format.ComparisonTable;
import org.mdlagent.profiler.report.page.ComparisonPage;
import org.mdlagent.profiler.report.page.HtmlReportTest;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.profile.RunCodec;
import org.mdlagent.profiler.report.profile.RunProfile;

public class ComparisonTest {
    public static Run run(String id) {
        return new Run(
                id,
                "/opt/app",
                Instant.ofEpochSecond(1_700_000_000),
                OptionalLong.of(20_000_000),
                OptionalLong.of(20_000_000),
                true,
                false,
                Map.of("/opt/app", "0123456789abcdef"));
    }

    private static RunProfile profile(FunctionProfile... functions) {
        return new RunProfile(run("app-1-20231114T221320"), List.of(functions));
    }

    private static FunctionProfile function(String name, long seed, double factor) {
        return Profiles.function(
                name,
                new SplittableRandom(seed)
                        .longs(2_000, 1_000, 3_000)
                        .map(nanos -> Math.round(factor * nanos))
                        .toArray());
    }

    private static FunctionProfile inFile(String file, long... nanos) {
        FunctionProfile any = Profiles.function("init", nanos);
        return new FunctionProfile(
                new FunctionProfile.Code(any.name(), any.symbol(), file, any.line(), any.image()),
                new FunctionProfile.Calls(any.calls(), any.callsExact(), any.callsError()),
                new FunctionProfile.Timed(any.exact(), any.sampled(), any.latency()),
                FunctionProfile.Times.of(any.totalNanos(), any.selfNanos()),
                any.on());
    }

    @Test
    void shouldCompareRunsOfDifferentLengthForEachSecond() throws IOException {
        FunctionProfile longer = Profiles.function(
                "a", new SplittableRandom(5).longs(12_000, 1_000, 3_000).toArray());
        Run six = RunCodec.read(RunCodec.bytes(run("app-2-20231114T221321")));
        RunProfile after = new RunProfile(
                new Run(
                        six.id(),
                        six.program(),
                        six.started(),
                        OptionalLong.of(125_000_000),
                        OptionalLong.of(120_000_000),
                        six.exact(),
                        six.cpuTime(),
                        six.builds()),
                List.of(longer));
        StringBuilder table = new StringBuilder();

        Comparison comparison = Comparison.of(profile(function("a", 1, 1)), after);
        new ComparisonTable(24, false).write(comparison, table);

        assertThat(table.toString()).containsPattern("\\na .* [-+]0\\.0%\\n");
    }

    @Test
    void shouldTellFunctionsOfOneNameByTheirFiles() {
        RunProfile before = profile(inFile("/src/a.c", 10, 10), inFile("/src/b.c", 20, 20));
        RunProfile after = profile(inFile("/elsewhere/b.c", 21), inFile("/elsewhere/a.c", 11));

        assertThat(Comparison.of(before, after).changes()).allSatisfy(change -> {
            assertThat(change.before()).isNotNull();
            assertThat(change.after()).isNotNull();
            assertThat(change.after().latency().maxNanos().getAsLong()
                            - change.before().latency().maxNanos().getAsLong())
                    .isEqualTo(1);
        });
    }

    @Test
    void shouldNotNeedTheFileWhereTheNameIsEnough() {
        Comparison comparison = Comparison.of(profile(inFile("/src/a.c", 10)), profile(inFile("/src/moved.c", 10)));

        assertThat(comparison.changes()).hasSize(1);
    }

    @Test
    void shouldSayWhatIsNewAndWhatIsGone() throws IOException {
        Comparison comparison = Comparison.of(profile(function("old", 1, 1)), profile(function("young", 2, 1)));
        StringBuilder table = new StringBuilder();

        new ComparisonTable(24, false).write(comparison, table);

        assertThat(table.toString().lines().toList())
                .anyMatch(line -> line.startsWith("old ") && line.contains("gone"))
                .anyMatch(line -> line.startsWith("young ") && line.contains("new"))
                .anyMatch(line -> line.startsWith("before  app · ") && line.contains("build 0123456789ab ·"))
                .anyMatch(line -> line.startsWith("2 functions · ± the error of sampling"))
                .anyMatch(line -> line.contains("two runs do not show by how much: mdl diff --runs"));
    }

    /// 10 % and 24 % of two totals are 26 % of their quotient, which is 1.5.
    @Test
    void shouldShowChangesWithTheErrorsOfSampling() throws IOException {
        StringBuilder table = new StringBuilder();

        new ComparisonTable(24, false)
                .write(Comparison.of(profile(estimate(100, 0.1)), profile(estimate(150, 0.24))), table);

        assertThat(table.toString()).containsPattern("\\na .*\\+50\\.0% ±39 .*").doesNotContain("*");
    }

    private static FunctionProfile estimate(long nanos, double error) {
        FunctionProfile timed = Profiles.function("a", nanos);
        return timed.with(
                1,
                OptionalDouble.empty(),
                1,
                timed.latency(),
                new FunctionProfile.Times(
                        timed.totalNanos(), OptionalDouble.of(error), timed.selfNanos(), OptionalDouble.of(error)));
    }

    @Test
    void shouldGiveScriptsWhatPeopleSee() throws IOException {
        Comparison comparison =
                Comparison.of(profile(function("a", 1, 1), function("gone", 2, 1)), profile(function("a", 3, 2)));
        StringBuilder json = new StringBuilder();

        ComparisonJson.write(comparison, Integer.MAX_VALUE, json);

        JsonNode root = new ObjectMapper().readTree(json.toString());
        assertThat(root.at("/before/build").asText()).isEqualTo("0123456789abcdef");
        JsonNode slow = root.at("/functions/0");
        assertThat(slow.at("/name").asText()).isEqualTo("a");
        assertThat(slow.at("/after/p50Nanos").asDouble()
                        / slow.at("/before/p50Nanos").asDouble())
                .isBetween(1.9, 2.1);
        assertThat(root.at("/functions/1/after").isMissingNode()).isTrue();
    }

    @Test
    void shouldMakeAPageThatNoNameEnds() throws IOException {
        StringBuilder page = new StringBuilder();
        FunctionProfile hostile = Profiles.function(Profiles.HOSTILE, 100, 200);

        ComparisonPage.write(Comparison.of(profile(hostile), profile(hostile)), CallTree.NONE, 10, page);

        String text = page.toString();
        assertThat(text.split("</script>", -1)).hasSize(3);
        assertThat(text).doesNotContain("src=").doesNotContain("href=").contains("default-src 'none'");
    }

    @Test
    void shouldSortFilterAndOpenByMouseAndKeys(@TempDir Path directory) throws Exception {
        StringBuilder page = new StringBuilder();
        Comparison comparison = Comparison.of(
                profile(
                        function("same", 1, 1),
                        function("slow", 2, 1),
                        function("fast", 3, 1),
                        function("gone", 4, 50)),
                profile(function("same", 5, 1), function("slow", 6, 2), function("fast", 7, 0.5)));
        ComparisonPage.write(comparison, CallTree.NONE, 10, page);

        JsonNode seen = HtmlReportTest.use(page.toString(), directory, """
                const seen = { first: column(0) };
                head(3).click();
                seen.byChange = column(0);
                type("FAST a.c");
                seen.filtered = column(0);
                byId("filter").focus();
                press("Enter");
                seen.detail = byId("detail").innerText;
                type("");
                byId("grid").focus();
                press("Home");
                seen.opened = document.querySelector("#detail h2").textContent;
                press("Escape");
                seen.closed = byId("detail").hidden;
                return seen;
                """);

        assertThat(seen.at("/first")).extracting(JsonNode::asText).containsExactly("gone", "slow", "fast", "same");
        // A change that is not known stands last.
        assertThat(seen.at("/byChange")).extracting(JsonNode::asText).containsExactly("slow", "same", "fast", "gone");
        assertThat(seen.at("/filtered")).extracting(JsonNode::asText).containsExactly("fast");
        assertThat(seen.at("/detail").asText()).contains("Before and after", "Time altogether: ▼");
        assertThat(seen.at("/opened").asText()).isEqualTo("slow");
        assertThat(seen.at("/closed").asBoolean()).isTrue();
    }
}
