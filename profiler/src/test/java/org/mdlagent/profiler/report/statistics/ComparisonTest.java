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
    private static final OptionalDouble TEN_PERCENT = OptionalDouble.of(10);

    public static Run run(String id) {
        return new Run(
                id,
                "/opt/app",
                Instant.ofEpochSecond(1_700_000_000),
                OptionalLong.of(20_000_000),
                OptionalLong.of(20_000_000),
                true,
                false,
                10,
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
                any.name(),
                any.symbol(),
                file,
                any.line(),
                any.image(),
                any.calls(),
                any.callsExact(),
                any.callsError(),
                any.exact(),
                any.sampled(),
                any.totalNanos(),
                any.selfNanos(),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                any.latency(),
                any.on());
    }

    @Test
    void shouldCallWhatIsSlowerThanTheThresholdARegression() {
        RunProfile before = profile(function("a", 1, 1), function("b", 2, 1), function("c", 3, 1));
        RunProfile after = profile(function("a", 4, 1.3), function("b", 5, 1), function("c", 6, 0.5));

        Comparison comparison = Comparison.of(before, after, TEN_PERCENT);

        assertThat(comparison.regressions())
                .extracting(change -> change.function().name())
                .containsExactly("a");
        assertThat(comparison.changes())
                .filteredOn(FunctionChange::significant)
                .extracting(change -> change.function().name())
                .containsExactly("a", "c");
    }

    @Test
    void shouldForgiveLessThanTheThresholdHoweverCertainItIs() {
        Comparison comparison =
                Comparison.of(profile(function("a", 1, 1)), profile(function("a", 2, 1.06)), TEN_PERCENT);

        assertThat(comparison.changes().getFirst().significant()).isTrue();
        assertThat(comparison.regressions()).isEmpty();
        assertThat(Comparison.of(profile(function("a", 1, 1)), profile(function("a", 2, 1.06)), OptionalDouble.of(2))
                        .regressions())
                .hasSize(1);
    }

    @Test
    void shouldForgiveWhatCostsTheProgramNextToNothing() {
        FunctionProfile[] before = {
            Profiles.function("rare", 1_000, 1_001, 1_002, 1_003, 1_004, 1_005, 1_006, 1_007, 1_008, 1_009)
        };
        FunctionProfile[] after = {
            Profiles.function("rare", 3_000, 3_001, 3_002, 3_003, 3_004, 3_005, 3_006, 3_007, 3_008, 3_009)
        };

        Comparison comparison = Comparison.of(profile(before), profile(after), TEN_PERCENT);

        assertThat(comparison.changes().getFirst().significant()).isTrue();
        assertThat(comparison.regressions()).isEmpty();
    }

    /// The same program, measured for six times as long.
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
                        six.sampleSize(),
                        six.builds()),
                List.of(longer));
        StringBuilder table = new StringBuilder();

        Comparison comparison = Comparison.of(profile(function("a", 1, 1)), after, TEN_PERCENT);
        new ComparisonTable(24, false).write(comparison, table);

        assertThat(comparison.regressions()).isEmpty();
        assertThat(table.toString()).containsPattern("\\na .* [-+]0\\.0%\\n");
    }

    @Test
    void shouldHaveNoRegressionsWithoutAThreshold() {
        Comparison comparison =
                Comparison.of(profile(function("a", 1, 1)), profile(function("a", 2, 3)), OptionalDouble.empty());

        assertThat(comparison.changes().getFirst().significant()).isTrue();
        assertThat(comparison.regressions()).isEmpty();
    }

    @Test
    void shouldTellFunctionsOfOneNameByTheirFiles() {
        RunProfile before = profile(inFile("/src/a.c", 10, 10), inFile("/src/b.c", 20, 20));
        RunProfile after = profile(inFile("/elsewhere/b.c", 21), inFile("/elsewhere/a.c", 11));

        assertThat(Comparison.of(before, after, TEN_PERCENT).changes()).allSatisfy(change -> {
            assertThat(change.before()).isNotNull();
            assertThat(change.after()).isNotNull();
            assertThat(change.after().latency().maxNanos().getAsLong()
                            - change.before().latency().maxNanos().getAsLong())
                    .isEqualTo(1);
        });
    }

    @Test
    void shouldNotNeedTheFileWhereTheNameIsEnough() {
        Comparison comparison =
                Comparison.of(profile(inFile("/src/a.c", 10)), profile(inFile("/src/moved.c", 10)), TEN_PERCENT);

        assertThat(comparison.changes()).hasSize(1);
    }

    @Test
    void shouldSayWhatIsNewAndWhatIsGone() throws IOException {
        Comparison comparison =
                Comparison.of(profile(function("old", 1, 1)), profile(function("young", 2, 1)), TEN_PERCENT);
        StringBuilder table = new StringBuilder();

        new ComparisonTable(24, false).write(comparison, table);

        assertThat(table.toString().lines().toList())
                .anyMatch(line -> line.startsWith("old ") && line.contains("gone"))
                .anyMatch(line -> line.startsWith("young ") && line.contains("new"))
                .anyMatch(line -> line.startsWith("before  app · ") && line.contains("build 0123456789ab ·"))
                .contains("2 functions · none are slower by more than 10.0 % beyond chance");
        assertThat(comparison.regressions()).isEmpty();
    }

    @Test
    void shouldMarkChangesAndRegressionsInTheTable() throws IOException {
        StringBuilder table = new StringBuilder();
        Comparison comparison =
                Comparison.of(profile(function("slow", 1, 1)), profile(function("slow", 1, 2)), TEN_PERCENT);

        new ComparisonTable(24, false).write(comparison, table);

        assertThat(table.toString()
                        .lines()
                        .filter(line -> line.startsWith("slow"))
                        .findFirst())
                .hasValueSatisfying(line -> assertThat(line).containsPattern("\\+\\d+\\.\\d% \\*\\*\\* !"));
    }

    @Test
    void shouldGiveScriptsWhatPeopleSee() throws IOException {
        Comparison comparison = Comparison.of(
                profile(function("a", 1, 1), function("gone", 2, 1)), profile(function("a", 3, 2)), TEN_PERCENT);
        StringBuilder json = new StringBuilder();

        ComparisonJson.write(comparison, Integer.MAX_VALUE, json);

        JsonNode root = new ObjectMapper().readTree(json.toString());
        assertThat(root.at("/regressions").asInt()).isEqualTo(1);
        assertThat(root.at("/before/build").asText()).isEqualTo("0123456789abcdef");
        JsonNode slow = root.at("/functions/0");
        assertThat(slow.at("/name").asText()).isEqualTo("a");
        assertThat(slow.at("/slower").asDouble()).isGreaterThan(0.8);
        assertThat(slow.at("/latencyRate").asDouble()).isLessThan(1e-6);
        assertThat(slow.at("/latencyRegression").asBoolean()).isTrue();
        assertThat(slow.at("/after/p50Nanos").asDouble()
                        / slow.at("/before/p50Nanos").asDouble())
                .isBetween(1.9, 2.1);
        assertThat(root.at("/functions/1/after").isMissingNode()).isTrue();
        assertThat(root.at("/functions/1/slower").isMissingNode()).isTrue();
    }

    @Test
    void shouldMakeAPageThatNoNameEnds() throws IOException {
        StringBuilder page = new StringBuilder();
        FunctionProfile hostile = Profiles.function(Profiles.HOSTILE, 100, 200);

        ComparisonPage.write(Comparison.of(profile(hostile), profile(hostile), TEN_PERCENT), CallTree.NONE, 10, page);

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
                profile(function("same", 5, 1), function("slow", 6, 2), function("fast", 7, 0.5)),
                TEN_PERCENT);
        ComparisonPage.write(comparison, CallTree.NONE, 10, page);

        JsonNode seen = HtmlReportTest.use(page.toString(), directory, """
                const seen = { first: column(0) };
                head(3).click();
                seen.byChange = column(0);
                seen.regressions = [...document.querySelectorAll("#rows .regression .cell:first-child")]
                  .map((cell) => cell.textContent);
                byId("significant").click();
                seen.significant = column(0);
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

        assertThat(seen.at("/first")).extracting(JsonNode::asText).containsExactly("slow", "fast", "gone", "same");
        // A change that is not known stands last.
        assertThat(seen.at("/byChange")).extracting(JsonNode::asText).containsExactly("slow", "same", "fast", "gone");
        assertThat(seen.at("/regressions")).extracting(JsonNode::asText).containsExactly("slow");
        assertThat(seen.at("/significant")).extracting(JsonNode::asText).containsExactly("slow", "fast");
        assertThat(seen.at("/filtered")).extracting(JsonNode::asText).containsExactly("fast");
        assertThat(seen.at("/detail").asText()).contains("Before and after", "beyond chance");
        assertThat(seen.at("/opened").asText()).isEqualTo("slow");
        assertThat(seen.at("/closed").asBoolean()).isTrue();
    }
}
