package org.mdlagent.profiler.report.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.profiler.report.format.ShortName;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.LatencyBuilder;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;

class LiveTableTest {
    @TempDir
    private Path directory;

    private static final float[] RATES = {0, 1, 2, 3, 4, 5, 6, 7, 8, 1000};

    private static LiveFunction function(String name, boolean on, long... nanos) {
        LatencyBuilder latency = new LatencyBuilder();
        LongStream.of(nanos).forEach(latency::add);
        FunctionProfile whole = new FunctionProfile(
                new FunctionProfile.Code(name, name, "/src/parse.c", 12, "/opt/app"),
                new FunctionProfile.Calls(1_234_567, true, OptionalDouble.empty()),
                new FunctionProfile.Timed(false, 0, latency.build(1)),
                FunctionProfile.Times.UNKNOWN,
                on);
        return new LiveFunction(7, whole, 182_000, RATES, OptionalDouble.of(64), nanos.length, latency.build(1));
    }

    @Test
    void shouldShowRateSparklineDurationsAndShare() {
        String line = new LiveTable(100, false).function(function("parse", true, 100, 100, 100, 9_800), false);

        assertThat(line.stripTrailing()).matches(" {2}parse +182 k/s  ▁▁▁▁▁▁▁▁▇ +100ns +- +- +64\\.0% █████▏");
    }

    @ParameterizedTest
    @ValueSource(ints = {20, 58, 60, 71, 80, 100, 200})
    void shouldHaveLinesAsWideAsTheTerminalAtMostAndColumnsUnderTheirHeads(int width) {
        LiveTable table = new LiveTable(width, false);
        LiveFunction function = function("a_function_with_a_very_long_name_that_no_column_can_hold", true, 100);

        String head = table.head(LiveOrder.TOTAL);
        String line = table.function(function, true);

        assertThat(ShortName.columns(head)).isLessThanOrEqualTo(width);
        assertThat(ShortName.columns(line)).isEqualTo(width);
        if (width >= 60) {
            assertThat(line.indexOf("64.0%") + 5).isEqualTo(head.indexOf("TOTAL▾") + 6);
        }
    }

    @Test
    void shouldMarkWhatIsSelectedAndWhatIsOffWithoutColourToo() {
        LiveTable plain = new LiveTable(80, false);

        assertThat(plain.function(function("parse", true, 1), true)).startsWith("▶ parse");
        assertThat(plain.function(function("parse", false, 1), false)).contains(" off ");
        assertThat(new LiveTable(80, true).function(function("parse", true, 1), true))
                .startsWith("\u001b[7m▶ parse")
                .endsWith("\u001b[0m");
    }

    @Test
    void shouldLetNoControlCharacterThrough() throws IOException {
        LiveTable table = new LiveTable(80, false);
        LiveFunction evil = function("evil\u001b[2Jname", true, 1);

        assertThat(table.function(evil, false)).contains("evil?[2Jname");
        assertThat(table.detail(evil, session())).noneMatch(line -> line.indexOf('\u001b') >= 0);
    }

    @Test
    void shouldShowTheDistributionInStepsThatHoldEveryCall() throws IOException {
        long[] nanos = LongStream.concat(
                        LongStream.generate(() -> 1_500).limit(75),
                        LongStream.generate(() -> 30_000).limit(25))
                .toArray();

        List<String> detail = new LiveTable(44, false).detail(function("parse", true, nanos), session());

        assertThat(detail).contains("/src/parse.c:12", "/opt/app", "1.23 M calls so far");
        assertThat(detail.get(5)).matches(" *1us ▏█+[▏▎▍▌▋▊▉█]? *75\\.0%");
        assertThat(detail.getLast()).matches(" *20us ▏█+[▏▎▍▌▋▊▉█]? *25\\.0%");
    }

    @Test
    void shouldNameTheCallersOfAFunction() throws IOException {
        Profile session = Profiles.read(SessionImage.callersSample(), directory);
        FunctionProfile leaf = session.functions().get(2);

        List<String> detail = new LiveTable(40, false)
                .detail(
                        new LiveFunction(
                                2, leaf, 1, new float[LiveSession.LOOKS], OptionalDouble.empty(), 0, Latency.NONE),
                        session);

        assertThat(detail).anyMatch(line -> line.matches("called by work +75\\.0% ±\\?"));
        assertThat(detail).anyMatch(line -> line.matches("called by main +25\\.0% ±\\?"));
    }

    private Profile session() throws IOException {
        return Profiles.read(SessionImage.exactSample(), directory);
    }
}
