package org.mdlagent.runtime.options;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.layout.KernelEvent;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.Rule;
import org.mdlagent.profiler.Schedule;
import org.mdlagent.profiler.SlowThreshold;
import org.mdlagent.profiler.figures.Collected;

class AgentOptionsTest {
    @TempDir
    private Path directory;

    private static AgentOptions.Reading read(String text) {
        return AgentOptions.read(AgentOptionsText.parse(text), List.of());
    }

    private static AgentOptions valid(String text) {
        AgentOptions.Reading reading = read(text);
        assertThat(reading.problems()).isEmpty();
        return reading.options();
    }

    @Test
    void shouldHaveTheDefaultsOfTheContract() {
        AgentOptions options = valid("");

        assertThat(options)
                .isEqualTo(new AgentOptions(
                        null,
                        null,
                        new AgentOptions.Start(false, 50),
                        new AgentOptions.Profiling(
                                true,
                                Collected.LATENCY,
                                KernelEvent.PAGE_FAULTS,
                                SlowThreshold.NONE,
                                Schedule.ALWAYS,
                                null,
                                false,
                                0,
                                1),
                        new AgentOptions.Recording(false, List.of(), List.of(), List.of(), 100),
                        new AgentOptions.Functions(List.of(), List.of()),
                        new AgentOptions.Metrics(List.of(), List.of()),
                        4096,
                        AgentOptions.Sync.AUTO,
                        AgentOptions.Children.PROBED));
    }

    @Test
    void shouldReadEveryKey() {
        AgentOptions options = valid(
                "session=/tmp/a=b,wait=on,profile=off,collect=counts,after=2s,for=500ms,every=1m,exact,time=cpu,countedMean=20,"
                        + "sliceMillis=250,budgetPercent=0.5,include=f,include=app!g*,exclude=x.c:h,mdl=m.mdl,metric=io_wait@/Code/a.c,"
                        + "libraryFunctions=120000,sync=strict,startDelayMillis=7,children=all,report=json");

        assertThat(options.session()).isEqualTo("/tmp/a=b");
        assertThat(options.start().await()).isTrue();
        assertThat(options.profiling().on()).isFalse();
        assertThat(options.profiling().collected()).isEqualTo(Collected.COUNTS);
        assertThat(options.profiling().schedule()).isEqualTo(new Schedule(2000, 500, 60_000));
        assertThat(options.recording().exact()).isTrue();
        assertThat(options.profiling().cpuTime()).isTrue();
        assertThat(options.children()).isEqualTo(AgentOptions.Children.ALL);
        assertThat(options.recording().countedMean()).isEqualTo(20);
        assertThat(options.profiling().sliceMillis()).isEqualTo(250);
        assertThat(options.profiling().budgetPercent()).isEqualTo(0.5);
        assertThat(options.functions().include())
                .extracting(FunctionGlob::toString)
                .containsExactly("f", "app!g*");
        assertThat(options.functions().exclude())
                .extracting(FunctionGlob::toString)
                .containsExactly("x.c:h");
        assertThat(options.metrics().files()).containsExactly("m.mdl");
        assertThat(options.metrics().requests()).containsExactly("io_wait@/Code/a.c");
        assertThat(options.libraryFunctions()).isEqualTo(120_000);
        assertThat(options.sync()).isEqualTo(AgentOptions.Sync.STRICT);
        assertThat(options.start().delayMillis()).isEqualTo(7);
        assertThat(options.report()).isEqualTo("json");
    }

    @Test
    void shouldTakeABudgetWithOrWithoutThePercentSign() {
        assertThat(valid("budgetPercent=2.5").profiling().budgetPercent()).isEqualTo(2.5);
        assertThat(valid("budgetPercent=2.5%").profiling().budgetPercent()).isEqualTo(2.5);
    }

    @Test
    void shouldStartAtOnceWhenMainWaits() {
        assertThat(valid("wait").start().delayMillis()).isZero();
        assertThat(valid("wait,startDelayMillis=9").start().delayMillis()).isEqualTo(9);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        countedMean=ten     | countedMean is a whole number from 2 to 16777216
        countedMean         | countedMean is a whole number from 2 to 16777216
        sliceMillis=-1      | sliceMillis is a whole number from 0 to 600000
        sampleSize=10       | unknown option "sampleSize"
        budgetPercent=0     | budgetPercent is a number of percent above 0 and up to 100
        budgetPercent=NaN   | budgetPercent is a number of percent above 0 and up to 100
        budgetPercent=%     | budgetPercent is a number of percent above 0 and up to 100
        budgetPercent=101   | budgetPercent is a number of percent above 0 and up to 100
        startDelayMillis=-5 | startDelayMillis is a whole number from 0 to 3600000
        wait=maybe          | wait is on or off
        profile=            | profile is on or off
        exact=              | exact needs a value
        countedMean=1       | countedMean is a whole number from 2 to 16777216
        exact=app!          | exact=app! is not possible; a function is given as FUNCTION
        time=long           | time is wall or cpu
        sync=now            | sync is auto, tmax, membarrier or strict
        report=xml          | report is table, json, FORMAT:FILE or off
        session=            | session is a directory
        include=            | include needs a value
        exclude=app!        | exclude=app! is not possible; a function is given as FUNCTION
        event=sleep         | event is page-faults, context-switches, cpu-migrations, minor-faults, major-faults
        event=cycles        | processors' counters are for metrics alone (hwCounter)
        exat=on             | unknown option "exat"; there are session, wait, profile, collect, event, slow, after, for, every, when, exact, counted
        """)
    void shouldRefuse(String text, String message) {
        AgentOptions.Reading reading = read(text);

        assertThat(reading.problems()).singleElement().asString().contains(message);
        assertThat(reading.options()).isEqualTo(read("").options());
    }

    @ParameterizedTest
    @CsvSource({"500us, 500000", "100us, 100000", "10ms, 10000000", "2s, 2000000000", "p99.9, -1"})
    void shouldReadFromWhenOnCallsAreSlow(String text, long nanos) {
        AgentOptions options = valid("slow=" + text);

        assertThat(options.profiling().slow().nanos()).isEqualTo(nanos);
        assertThat(options.profiling().collected()).isEqualTo(Collected.SLOW);
        assertThat(options.tier("/bin/app", "", "f")).isNull();
        assertThat(valid("collect=slow").profiling().slow()).isEqualTo(SlowThreshold.OWN);
    }

    @Test
    void shouldReadWhatMustHaveHappenedBeforeACollection() {
        AgentOptions options = valid("collect=latency,for=5s,when=p99(app!handle*) > 5ms");

        assertThat(options.profiling().when()).isEqualTo(Rule.parse("p99(app!handle*) > 5ms"));
        assertThat(options.tier("/bin/app", "", "handle_get")).isEqualTo(Tier.EXACT);
        assertThat(options.tier("/bin/app", "", "other")).isNull();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            when=p99(f)                                | MEASURE(FUNCTION) > NUMBER
            when=p99(f) > 5                            | MEASURE(FUNCTION) > NUMBER
            collect=counts,slow=10ms                   | calls are not timed
            when=p99(a.c:f) > 5ms                      | give the function without its file
            collect=counts,when=p99(f) > 5ms           | calls are not timed in this session
            collect=coverage,when=rate(f) > 5          | coverage knows first calls only
            for=1s,every=2s,when=p99(f) > 5ms          | it excludes every
            """)
    void shouldRefuseRules(String text, String message) {
        AgentOptions.Reading reading = read(text);

        assertThat(reading.problems()).singleElement().asString().contains(message);
        assertThat(reading.options().profiling().when()).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"99us", "us", "10", "-1ms", "xus", "0s", "99999999999us", "p99"})
    void shouldRefuseThresholds(String text) {
        AgentOptions.Reading reading = read("collect=slow,slow=" + text);

        assertThat(reading.problems())
                .singleElement()
                .asString()
                .contains("slow is off, p99.9, or a duration from 100us");
        assertThat(reading.options().profiling().slow()).isEqualTo(SlowThreshold.OWN);
    }

    @Test
    void shouldKeepNoSlowCallsByCpuTime() {
        AgentOptions.Reading reading = read("slow=10ms,time=cpu");

        assertThat(reading.problems()).singleElement().asString().contains("slow calls are of elapsed time");
        assertThat(reading.options().profiling().collected()).isEqualTo(Collected.LATENCY);
        assertThat(reading.options().profiling().slow()).isEqualTo(SlowThreshold.NONE);
    }

    @Test
    void shouldTellFunctionsThatAreExactFromASessionThatIs() {
        AgentOptions some = valid("exact=f,exact=app!g*");

        assertThat(some.recording().exact()).isFalse();
        assertThat(some.recording().all()).extracting(FunctionGlob::toString).containsExactly("f", "app!g*");
        assertThat(some.tier("/bin/app", "", "get")).isEqualTo(Tier.EXACT);
        assertThat(some.tier("/bin/lib.so", "", "get")).isNull();
        assertThat(valid("exact=f,exact").recording().exact()).isTrue();
        assertThat(valid("exact,exact=f,exact=off").recording().exact()).isFalse();
    }

    @Test
    void shouldTimeFunctionsByChanceUnlessTheyAreExact() {
        AgentOptions some = valid("counted=g*,countedMean=7,exact=get");

        assertThat(some.tier("/bin/app", "", "get")).isEqualTo(Tier.EXACT);
        assertThat(some.tier("/bin/app", "", "go")).isEqualTo(new Tier(7));
        assertThat(some.tier("/bin/app", "", "f")).isNull();
        assertThat(valid("sliced=f").tier("/bin/app", "", "f")).isEqualTo(Tier.SLICED);
        assertThat(valid("counted=g").tier("/bin/app", "", "g")).isEqualTo(new Tier(100));
        assertThat(valid("counted=a.c:f").needsFiles()).isTrue();
    }

    @Test
    void shouldNeedFilesForExactFunctionsOfAFile() {
        assertThat(valid("exact=a.c:f").needsFiles()).isTrue();
        assertThat(valid("exact=f").needsFiles()).isFalse();
    }

    @Test
    void shouldNameEachProblemAndKeepWhatIsRight() {
        AgentOptions.Reading reading = read("countedMean=0,sync=x,sliceMillis=20");

        assertThat(reading.problems()).hasSize(2);
        assertThat(reading.options().profiling().sliceMillis()).isEqualTo(20);
    }

    @Test
    void shouldTakeEscapedCommasAndBackslashesAsText() {
        assertThat(valid("include=f(int\\, char),exclude=a\\\\b").functions().include())
                .extracting(FunctionGlob::toString)
                .containsExactly("f(int, char)");
        assertThat(valid("exclude=a\\\\b").functions().exclude())
                .extracting(FunctionGlob::toString)
                .containsExactly("a\\b");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a,b", "\\", "a\\,b\\\\", ",", "x=y,z"})
    void shouldReadBackWhatItWrites(String value) {
        AgentOptionsText text = new AgentOptionsText();
        text.add("first", value);
        text.add("second", "2");
        text.add("first", "again");

        AgentOptionsText again = AgentOptionsText.parse(text.toString());

        assertThat(again.values().get("first")).containsExactly(value, "again");
        assertThat(again.values().get("second")).containsExactly("2");
        assertThat(again.values()).hasSize(2);
    }

    @Test
    void shouldLetTheNearerSourceWinKeyByKey() throws IOException {
        Path near = directory.resolve("near.properties");
        Path far = directory.resolve("far.properties");
        Files.writeString(near, "countedMean=20\ninclude=a,b(int\\\\, char)\n# a comment\n");
        Files.writeString(far, "countedMean=30\nsliceMillis=30\ninclude=c\nexact=on\n");

        AgentOptions.Reading reading =
                AgentOptions.read(AgentOptionsText.parse("exact=off"), List.of(near, directory.resolve("none"), far));

        assertThat(reading.problems()).isEmpty();
        assertThat(reading.options().recording().exact()).isFalse();
        assertThat(reading.options().recording().countedMean()).isEqualTo(20);
        assertThat(reading.options().profiling().sliceMillis()).isEqualTo(30);
        assertThat(reading.options().functions().include())
                .extracting(FunctionGlob::toString)
                .containsExactly("a", "b(int, char)");
    }

    @Test
    void shouldReportAFileThatCannotBeRead() throws IOException {
        Path broken = directory.resolve("broken.properties");
        Files.writeString(broken, "countedMean=\\uXYZ\n");

        assertThat(AgentOptions.read(AgentOptionsText.parse(""), List.of(broken))
                        .problems())
                .singleElement()
                .asString()
                .contains("broken.properties cannot be read");
    }

    @Test
    void shouldIncludeWhatIsAskedForAndExcludeMoreStrongly() {
        AgentOptions options = valid("include=a*,exclude=ab*");

        assertThat(options.includes("/bin/x", "", "a")).isTrue();
        assertThat(options.includes("/bin/x", "", "abc")).isFalse();
        assertThat(options.includes("/bin/x", "", "b")).isFalse();
        assertThat(valid("exclude=ab*").includes("/bin/x", "", "b")).isTrue();
        assertThat(options.needsFiles()).isFalse();
        assertThat(valid("exclude=x.c:f").needsFiles()).isTrue();
    }

    /// `-Dmdl.fuzz.cases=N` sets the number of cases, `-Dmdl.fuzz.seed=S` where they start.
    @Test
    void shouldReadOrReportAnythingThatIsGiven() {
        String[] pieces =
                ("session|wait|profile|exact|countedMean|sliceMillis|budgetPercent|include|exclude|mdl|metric|sync"
                                + "|startDelayMillis|report|=|=|=|,|,|,|on|off|0|-1|10|99999999999999999999|1e308|NaN|0.5|a!b*|*:?"
                                + "|!|:|\\,|\\\\|\\| |\n|\u0000|\ud800|\u00e4|/tmp|json|strict")
                        .split("[|]");
        int cases = Integer.getInteger("mdl.fuzz.cases", 20_000);
        long seed = Long.getLong("mdl.fuzz.seed", 1);
        int refused = 0;
        for (int i = 0; i < cases; i++) {
            SplittableRandom random = new SplittableRandom(seed + i);
            StringBuilder text = new StringBuilder();
            for (int left = random.nextInt(12); left > 0; left--) {
                text.append(pieces[random.nextInt(pieces.length)]);
            }
            AgentOptions.Reading reading;
            try {
                AgentOptionsText given = AgentOptionsText.parse(text.toString());
                assertThat(AgentOptionsText.parse(given.toString()).values()).isEqualTo(given.values());
                reading = AgentOptions.read(given, List.of());
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + (seed + i) + ": " + text, e);
            }
            assertThat(reading.problems())
                    .allSatisfy(problem -> assertThat(problem).isNotBlank());
            refused += reading.problems().isEmpty() ? 0 : 1;
        }
        // Both must happen.
        assertThat(refused).isBetween(cases / 20, cases * 19 / 20);
    }
}
