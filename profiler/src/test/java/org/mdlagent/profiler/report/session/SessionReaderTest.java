package org.mdlagent.profiler.report.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.layout.EdgeDescriptor;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ProcessDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.profiler.figures.ProbeCost;
import org.mdlagent.profiler.report.exposition.OtlpReport;
import org.mdlagent.profiler.report.exposition.PrometheusReport;
import org.mdlagent.profiler.report.exposition.SessionSeries;
import org.mdlagent.profiler.report.file.SessionFormatException;
import org.mdlagent.profiler.report.format.CsvReport;
import org.mdlagent.profiler.report.format.FoldedReport;
import org.mdlagent.profiler.report.format.JsonReport;
import org.mdlagent.profiler.report.format.PprofReport;
import org.mdlagent.profiler.report.format.SpeedscopeReport;
import org.mdlagent.profiler.report.format.TableReport;
import org.mdlagent.profiler.report.format.TraceReport;
import org.mdlagent.profiler.report.page.HtmlReport;
import org.mdlagent.profiler.report.profile.CallEdge;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Loss;
import org.mdlagent.profiler.report.profile.ProcessProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.profile.SiteProfile;
import org.mdlagent.profiler.report.profile.SlowCall;
import org.mdlagent.profiler.report.profile.TimeRange;
import org.mdlagent.profiler.report.profile.TimedCall;
import org.mdlagent.profiler.report.slice.TimeSlice;
import org.mdlagent.profiler.report.slice.Timeline;

class SessionReaderTest {
    @TempDir
    private Path directory;

    private Profile read(SessionImage image) throws IOException {
        image.write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            return reader.profile();
        }
    }

    @Test
    void shouldReadWhatASessionSaysOfItself() throws IOException {
        SessionFacts facts = read(SessionImage.exactSample().ended(3, 0)).session();

        assertThat(facts.id()).isEqualTo("app-4711-20231114T221320");
        assertThat(facts.program()).isEqualTo("/opt/app/bin/app");
        assertThat(facts.pid()).isEqualTo(4711);
        assertThat(facts.started()).isEqualTo(Instant.ofEpochSecond(1_700_000_000));
        assertThat(facts.ended()).isEqualTo(Instant.ofEpochSecond(1_700_000_002));
        assertThat(facts.process().exitStatus()).hasValue(3);
        assertThat(facts.process().exitSignal()).hasValue(0);
        assertThat(facts.tscHz()).hasValue(1e9);
        assertThat(facts.elapsedNanos()).hasValue(2_000_000_000L);
        assertThat(facts.process().threads()).isEqualTo(2);
        assertThat(facts.exact()).isTrue();
    }

    @Test
    void shouldNotClaimToKnowTheEndOfALiveSession() throws IOException {
        SessionFacts facts = read(SessionImage.exactSample()).session();

        assertThat(facts.ended()).isNull();
        assertThat(facts.process().exitStatus()).isEmpty();
        assertThat(facts.process().exitSignal()).isEmpty();
    }

    @Test
    void shouldKnowNoStatusOfAKilledProgram() throws IOException {
        SessionFacts facts = read(SessionImage.exactSample().ended(-1, 9)).session();

        assertThat(facts.process().exitStatus()).isEmpty();
        assertThat(facts.process().exitSignal()).hasValue(9);
    }

    @Test
    void shouldAddTheRowsOfAllThreads() throws IOException {
        FunctionProfile parse = read(SessionImage.exactSample()).functions().get(1);

        assertThat(parse.name()).isEqualTo("ns::parse(char const*)");
        assertThat(parse.symbol()).isEqualTo("_ZN2ns5parseEPKc");
        assertThat(parse.file()).isEqualTo("/src/parse.cpp");
        assertThat(parse.line()).isEqualTo(42);
        assertThat(parse.image()).isEqualTo("/opt/app/lib/p.so");
        assertThat(parse.calls()).isEqualTo(4);
        assertThat(parse.callsExact()).isTrue();
        assertThat(parse.sampled()).isEqualTo(4);
        assertThat(parse.totalNanos()).hasValue(1_000_900);
        assertThat(parse.selfNanos()).hasValue(1_000_900);
        assertThat(parse.latency().minNanos()).hasValue(100);
        assertThat(parse.latency().maxNanos()).hasValue(1_000_000);
        assertThat(parse.latency().meanNanos()).hasValue(250_225);
        assertThat(parse.latency().percentileNanos(25)).hasValue(100);
        assertThat(parse.latency().percentileNanos(50)).hasValue(200);
        assertThat(parse.latency().percentileNanos(100)).hasValue(1_000_000);
    }

    @Test
    void shouldReadTheRowsOfOneThread() throws IOException {
        SessionImage.exactSample().write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            Profile profile = reader.profile(tid -> tid == 101);

            assertThat(profile.functions()).extracting(FunctionProfile::calls).containsExactly(1L, 3L, 0L);
        }
    }

    @Test
    void shouldKnowTheProcessesOfAFamily() throws IOException {
        Profile.Family family = read(SessionImage.familySample()).family();

        Instant start = Instant.ofEpochSecond(1_700_000_000);
        assertThat(family.processes())
                .containsExactly(
                        new ProcessProfile(SessionImage.PID, 1, start, null, OptionalInt.empty(), true, true, 1),
                        new ProcessProfile(
                                4801,
                                SessionImage.PID,
                                start.plusMillis(100),
                                null,
                                OptionalInt.empty(),
                                true,
                                false,
                                6),
                        new ProcessProfile(
                                4802,
                                SessionImage.PID,
                                start.plusMillis(200),
                                null,
                                OptionalInt.empty(),
                                false,
                                false,
                                2),
                        new ProcessProfile(
                                4803,
                                SessionImage.PID,
                                start.plusMillis(300),
                                start.plusMillis(1300),
                                OptionalInt.of(7),
                                false,
                                false,
                                1));
        assertThat(family.size()).isEqualTo(6);
        assertThat(family.callsForgotten()).isEqualTo(4);
    }

    @Test
    void shouldAddUpTheCallsOfAFamilyByFunction() throws IOException {
        assertThat(read(SessionImage.familySample()).functions())
                .extracting(FunctionProfile::calls)
                .containsExactly(2L, 12L);
    }

    @Test
    void shouldReadTheCallsOfOneProcess() throws IOException {
        SessionImage.familySample().write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            assertThat(reader.profileOfProcess(4801).functions())
                    .extracting(FunctionProfile::calls)
                    .containsExactly(0L, 6L);
            assertThat(reader.profileOfProcess(4802).functions())
                    .extracting(FunctionProfile::calls)
                    .containsExactly(1L, 1L);
        }
    }

    @Test
    void shouldNotKnowTheFunctionsOfAProcessWhoseBlocksOthersHadToo() throws IOException {
        SessionImage image = SessionImage.familySample();
        long handedOn = image.process(4804, SessionImage.PID, 400);
        image.putLong(handedOn + ProcessDescriptor.CALLS, 3);
        image.write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            assertThat(reader.profileOfProcess(4803)).isNull();
            assertThat(reader.profileOfProcess(4804)).isNull();
            assertThat(reader.profileOfProcess(4999)).isNull();
        }
    }

    @Test
    void shouldTakeTheEndOfTheProcessWithTheAgentFromTheSession() throws IOException {
        ProcessProfile master = read(SessionImage.familySample().ended(3, 0))
                .family()
                .processes()
                .getFirst();

        assertThat(master.runs()).isFalse();
        assertThat(master.exitStatus()).hasValue(3);
        assertThat(master.ended()).isEqualTo(Instant.ofEpochSecond(1_700_000_002));
    }

    @Test
    void shouldRefuseAListOfProcessesWithoutEnd() throws IOException {
        SessionImage image = SessionImage.familySample();
        long process = image.process(5000, SessionImage.PID, 500);
        image.putLong(process + ProcessDescriptor.NEXT, SessionImage.address(process));

        assertThatThrownBy(() -> read(image))
                .isInstanceOf(SessionFormatException.class)
                .hasMessageContaining("list of processes has no end");
    }

    @Test
    void shouldNotTakeCountsForExactWhenTheAgentHasFailed() throws IOException {
        SessionImage image = SessionImage.exactSample();
        image.putInt(HeaderDescriptor.STATE, HeaderDescriptor.STATE_AGENT_DEAD);

        assertThat(read(image).functions()).noneMatch(FunctionProfile::callsExact);
    }

    @Test
    void shouldLeaveAFunctionWithoutCallsWithoutDurations() throws IOException {
        FunctionProfile unused = read(SessionImage.exactSample()).functions().get(2);

        assertThat(unused.calls()).isZero();
        assertThat(unused.callsExact()).isTrue();
        assertThat(unused.totalNanos()).isEmpty();
        assertThat(unused.selfNanos()).isEmpty();
        assertThat(unused.latency().minNanos()).isEmpty();
        assertThat(unused.latency().percentileNanos(50)).isEmpty();
    }

    @Test
    void shouldConvertTicksByTheClockPairs() throws IOException {
        SessionImage image = SessionImage.exactSample();
        image.putLong(HeaderDescriptor.NOW_TSC, 5_000 + 5_000_000_000L);

        Profile profile = read(image);

        assertThat(profile.session().tscHz()).hasValue(2.5e9);
        assertThat(profile.functions().get(1).totalNanos()).hasValue(400_360);
        assertThat(profile.functions().get(1).latency().minNanos()).hasValue(40);
    }

    @Test
    void shouldKnowNoDurationsWithoutTheFrequencyOfTheClock() throws IOException {
        SessionImage image = SessionImage.exactSample();
        image.putLong(HeaderDescriptor.NOW_TSC, 0);

        FunctionProfile parse = read(image).functions().get(1);

        assertThat(parse.calls()).isEqualTo(4);
        assertThat(parse.totalNanos()).isEmpty();
        assertThat(parse.selfNanos()).isEmpty();
        assertThat(parse.latency().maxNanos()).isEmpty();
    }

    @Test
    void shouldSayHowManyCallsWereCountedButNotTimed() throws IOException {
        SessionImage image = SessionImage.exactSample();
        long thread = image.thread(103);
        image.putLong(thread + ThreadDescriptor.OVERFLOW, 2);
        image.putLong(thread + ThreadDescriptor.REFUSED, 3);
        image.putLong(thread + ThreadDescriptor.UNMATCHED, 4);

        Profile profile = read(image);

        assertThat(profile.dropped()).isEqualTo(5);
        assertThat(profile.unmatched()).isEqualTo(4);
        assertThat(profile.functions()).allMatch(FunctionProfile::callsExact);
    }

    @Test
    void shouldNotCallCountsExactWhenThreadsWereNotSeen() throws IOException {
        SessionImage image = SessionImage.exactSample();
        image.putLong(HeaderDescriptor.THREADS_REFUSED, 1);

        Profile profile = read(image);

        assertThat(profile.losses()).containsExactly(new Loss(Loss.Reason.THREADS, 1));
        assertThat(profile.functions()).noneMatch(FunctionProfile::callsExact);
    }

    @Test
    void shouldNotCallACountExactWhoseProbesWereOffMeanwhile() throws IOException {
        SessionImage image = SessionImage.exactSample();
        image.putInt(image.functionAt(1) + FunctionDescriptor.WHOLE, FunctionDescriptor.WHOLE_INTERRUPTED);

        assertThat(read(image).functions())
                .extracting(FunctionProfile::callsExact)
                .containsExactly(true, false, true);
    }

    @Test
    void shouldCountCallsThatDidNotReturn() throws IOException {
        SessionImage image = SessionImage.exactSample();
        long thread = image.thread(103);
        image.count(thread, 0, 1);
        image.count(thread, 2, 5);

        Profile profile = read(image);

        assertThat(profile.functions()).extracting(FunctionProfile::calls).containsExactly(2L, 4L, 5L);
        assertThat(profile.functions()).extracting(FunctionProfile::sampled).containsExactly(1L, 4L, 0L);
        assertThat(profile.functions()).allMatch(FunctionProfile::callsExact);
        assertThat(profile.functions().get(2).latency().minNanos()).isEmpty();
    }

    @Test
    void shouldNotCountAgainWhatWaitsInTheRing() throws IOException {
        FunctionProfile hot = read(SessionImage.sampledSample()).functions().get(0);

        assertThat(hot.sampled()).isEqualTo(8);
        assertThat(hot.latency().minNanos()).hasValue(1000);
        assertThat(hot.latency().maxNanos()).hasValue(3000);
        assertThat(hot.latency().meanNanos()).hasValue((6 * 1000 + 2000 + 3000) / 8);
    }

    @Test
    void shouldLeaveOutRecordsThatAreBeingWritten() throws IOException {
        SessionImage image = SessionImage.sampledSample();
        Profile before = read(image);
        image.reservation(image.thread(105)); // without a ring: nothing to read
        Profile after = read(image);

        assertThat(before.functions()).extracting(FunctionProfile::sampled).containsExactly(8L, 2L);
        assertThat(after.functions()).extracting(FunctionProfile::sampled).containsExactly(8L, 2L);
    }

    @Test
    void shouldKnowEveryCallOfAChosenFunctionWhileOthersAreSampled() throws IOException {
        SessionImage image = SessionImage.sampledSample();
        int chosen = image.function("chosen");
        image.putInt(image.functionAt(chosen) + FunctionDescriptor.FLAGS, FunctionDescriptor.FLAG_EVERY_CALL);
        image.exactRow(image.lastThread(), chosen, 0, 100, 200, 600);
        image.record(image.lastThread(), chosen, 600);
        Profile profile = read(image);

        FunctionProfile function = profile.functions().get(chosen);
        assertThat(function.exact()).isTrue();
        assertThat(function.calls()).isEqualTo(3);
        assertThat(function.callsExact()).isTrue();
        assertThat(function.callsError()).isEmpty();
        assertThat(function.sampled()).isEqualTo(3);
        assertThat(function.totalNanos()).hasValue(900);
        assertThat(function.selfNanos()).hasValue(900);
        assertThat(profile.functions().get(0).exact()).isFalse();
        assertThat(profile.functions().get(0).sampled()).isEqualTo(8);
        double rate = 3 / profile.session().cpuSeconds();
        assertThat(profile.everyCallNanos())
                .as("a tick is a nanosecond")
                .isEqualTo(Math.round(3 * new ProbeCost(false).exact(rate)));
        assertThat(profile.edges())
                .filteredOn(edge -> edge.callee() == function)
                .singleElement()
                .extracting(CallEdge::calls)
                .isEqualTo(3L);
    }

    /// A thread has switched its probes off, and the agent has not come since.
    @Test
    void shouldNotKnowTheCallsOfWhatWasStopped() throws IOException {
        SessionImage image = SessionImage.sampledSample();
        int stopped = image.function("stopped");
        image.putInt(image.functionAt(stopped) + FunctionDescriptor.FLAGS, FunctionDescriptor.FLAG_EVERY_CALL);
        image.putInt(image.functionAt(stopped) + FunctionDescriptor.MEAN, 1);
        image.putInt(image.functionAt(stopped) + FunctionDescriptor.STATE, FunctionDescriptor.STATE_EXPIRED);
        image.putInt(image.functionAt(stopped) + FunctionDescriptor.WHOLE, 0);
        image.count(image.lastThread(), stopped, 152);

        FunctionProfile function = read(image).functions().get(stopped);

        assertThat(function.calls()).isEqualTo(152);
        assertThat(function.callsExact()).isFalse();
        assertThat(function.exact()).isFalse();
        assertThat(function.callsError()).isEmpty();
    }

    /// The agent has closed its slice, and will open the next.
    @Test
    void shouldStateTheErrorOfWhatSlicesTimeByChance() throws IOException {
        SessionImage image = SessionImage.sampledSample();
        image.putInt(image.functionAt(0) + FunctionDescriptor.MEAN, 8);
        image.putInt(image.functionAt(0) + FunctionDescriptor.WEIGHT, 80);
        image.putInt(image.functionAt(0) + FunctionDescriptor.STATE, FunctionDescriptor.STATE_EXPIRED);

        assertThat(read(image).functions().get(0).callsError().getAsDouble()).isBetween(0.0597, 0.0599);
    }

    @Test
    void shouldCountACountedFunctionAndEstimateWhatItTakes() throws IOException {
        SessionImage image = SessionImage.sampledSample();
        int counted = image.function("counted");
        image.putInt(image.functionAt(counted) + FunctionDescriptor.WHOLE, 1);
        image.putInt(image.functionAt(counted) + FunctionDescriptor.MEAN, 50);
        image.rowByChance(image.lastThread(), counted, 50, 100, 200, 600);
        image.record(image.lastThread(), counted, 600);
        image.count(image.lastThread(), counted, 152); // beside the 150 that those timed by chance stand for
        Profile profile = read(image);

        FunctionProfile function = profile.functions().get(counted);
        assertThat(function.exact()).isFalse();
        assertThat(function.calls()).isEqualTo(302);
        assertThat(function.callsExact()).isTrue();
        assertThat(function.sampled()).isEqualTo(3);
        assertThat(function.totalNanos()).hasValue(302 * 900 / 3);
        assertThat(function.times().totalError()).isPresent();
        assertThat(function.latency().maxNanos()).hasValue(600);
    }

    @Test
    void shouldTakeDurationsThatAreCpuTimeForNanoseconds() throws IOException {
        SessionImage image = SessionImage.exactSample();
        image.putInt(HeaderDescriptor.FLAGS, HeaderDescriptor.FLAG_EXACT | HeaderDescriptor.FLAG_CPU_TIME);
        image.putLong(HeaderDescriptor.NOW_TSC, 5_000 + 8_000_000_000L); // 4 GHz

        Profile profile = read(image);

        FunctionProfile parse = profile.functions().get(1);
        assertThat(profile.session().cpuTime()).isTrue();
        assertThat(parse.totalNanos()).hasValue(1_000_900);
        assertThat(parse.selfNanos()).hasValue(1_000_900);
        assertThat(parse.latency().percentileNanos(100)).hasValue(1_000_000);
    }

    @Test
    void shouldEstimateCallsAndTotalTimeOfASampledFunction() throws IOException {
        FunctionProfile hot = read(SessionImage.sampledSample()).functions().get(0);

        assertThat(hot.calls()).isEqualTo(1_200_000);
        assertThat(hot.callsExact()).isFalse();
        assertThat(hot.callsError().getAsDouble()).isBetween(0.0597, 0.0599);
        assertThat(hot.totalNanos()).hasValue(1_200_000L * 1375);
        assertThat(hot.selfNanos()).as("it calls nothing").hasValue(1_200_000L * 1375);
    }

    /// @param told nanoseconds for which calls are estimated
    private static SessionImage endedAfterTwoSeconds(long told) {
        SessionImage image = SessionImage.sampledSample();
        image.putLong(HeaderDescriptor.END_REAL_NANOS, 1_700_000_002_000_000_000L);
        image.putLong(HeaderDescriptor.CALLS_TSC, 5_000 + told);
        return image;
    }

    @Test
    void shouldAddTheCallsOfTheEndWhichNobodyHasEstimated() throws IOException {
        SessionImage image = endedAfterTwoSeconds(1_600_000_000L);

        FunctionProfile hot = read(image).functions().get(0);

        assertThat(hot.calls()).isEqualTo(1_500_001);
        assertThat(hot.totalNanos()).hasValue(1_500_001L * 1375);
        assertThat(hot.callsError().getAsDouble()).isBetween(0.26, 0.28);
    }

    @Test
    void shouldAddNoCallsOfAProgramThatGoesOn() throws IOException {
        SessionImage image = endedAfterTwoSeconds(1_600_000_000L);
        image.putLong(HeaderDescriptor.END_REAL_NANOS, 0);

        assertThat(read(image).functions().get(0).calls()).isEqualTo(1_200_000);
    }

    /// The estimate so far, less its error.
    @Test
    void shouldKnowTheLeastCallsWhereTheEndIsMostOfTheRun() throws IOException {
        SessionImage image = endedAfterTwoSeconds(900_000_000L);

        FunctionProfile hot = read(image).functions().get(0);

        assertThat(hot.calls()).isEqualTo(1_188_240);
        assertThat(hot.areCallsLeast()).isTrue();
        assertThat(hot.callsExact()).isFalse();
        assertThat(hot.callsError()).isEmpty();
    }

    /// Its probes came late.
    @Test
    void shouldAddTheCallsOfTheTimeInWhichNoneWasSeen() throws IOException {
        SessionImage image = SessionImage.sampledSample();
        image.putInt(image.functionAt(0) + FunctionDescriptor.UNSEEN, Float.floatToRawIntBits(0.5f));

        FunctionProfile hot = read(image).functions().get(0);

        assertThat(hot.calls()).isEqualTo(1_800_001);
        assertThat(hot.callsError().getAsDouble()).isBetween(0.43, 0.45);
    }

    @Test
    void shouldKnowTheLeastCallsWhereMostOfTheTimeWasNotSeen() throws IOException {
        for (float unseen : new float[] {1.01f, 1e9f, Float.POSITIVE_INFINITY}) {
            SessionImage image = SessionImage.sampledSample();
            image.putInt(image.functionAt(0) + FunctionDescriptor.UNSEEN, Float.floatToRawIntBits(unseen));

            FunctionProfile hot = read(image).functions().get(0);

            assertThat(hot.calls()).isEqualTo(1_188_240);
            assertThat(hot.areCallsLeast()).isTrue();
        }
    }

    @Test
    void shouldRejectATimeOfWaitingThatIsNone() {
        SessionImage image = SessionImage.sampledSample();
        image.putLong(HeaderDescriptor.WAITED, Double.doubleToLongBits(-1));
        assertThatThrownBy(() -> read(image))
                .isInstanceOf(SessionFormatException.class)
                .hasMessageContaining("have waited -1.0 times");
    }

    @Test
    void shouldTakeCallsThatWereCountedAsTheyAre() throws IOException {
        SessionImage image = endedAfterTwoSeconds(1_600_000_000L);
        image.estimate(1, 3, 0);
        image.open(1);

        FunctionProfile rare = read(image).functions().get(1);

        assertThat(rare.calls()).isEqualTo(3);
        assertThat(rare.callsExact()).isTrue();
        assertThat(rare.callsError()).isEmpty();
    }

    @Test
    void shouldTakeTheCallsOfProbedFunctionsOffASelfTime() throws IOException {
        List<FunctionProfile> functions = read(SessionImage.callersSample()).functions();

        assertThat(functions)
                .extracting(FunctionProfile::selfNanos)
                .containsExactly(
                        OptionalLong.empty(),
                        OptionalLong.of(7_500),
                        OptionalLong.of(2_000),
                        OptionalLong.of(1_000),
                        OptionalLong.empty());
    }

    /// Of a parent that is off by chance, and whose callee takes more than all of it.
    @Test
    void shouldNotKnowASelfTimeThatIsLessThanItsError() throws IOException {
        SessionImage image = new SessionImage();
        int caller = image.function("caller");
        int callee = image.function("callee");
        image.timedRow(caller, 1_000, 900, 1_100, 800);
        image.edge(caller, -1, 4, 3_800);
        image.timedRow(callee, 4_000, 4_100);
        image.edge(callee, caller, 2, 8_100);

        assertThat(read(image).functions())
                .extracting(FunctionProfile::selfNanos)
                .containsExactly(OptionalLong.empty(), OptionalLong.of(8_100));
    }

    /// Of calls of a function by itself, and by another as often as it was looked at.
    @Test
    void shouldKnowATotalOfARecursiveFunctionByItsOutermostCalls() throws IOException {
        SessionImage image = new SessionImage();
        int few = image.function("few");
        int many = image.function("many");
        image.timedRow(few, 1_000, 1_000);
        image.edge(few, few, 1, 1_000);
        image.edge(few, -1, 1, 1_000);
        image.timedRow(many, LongStream.generate(() -> 1_000).limit(128).toArray());
        for (int i = 0; i < 64; i++) {
            image.edge(many, many, 1, 1_000);
            image.edge(many, -1, 1, 1_000);
        }

        List<FunctionProfile> functions = read(image).functions();
        assertThat(functions)
                .extracting(FunctionProfile::totalNanos)
                .containsExactly(OptionalLong.empty(), OptionalLong.of(64_000));
        assertThat(functions.get(many).times().totalError().orElseThrow()).isGreaterThan(0.2);
    }

    @Test
    void shouldDivideAnEstimateAmongItsCallers() throws IOException {
        SessionImage image = SessionImage.callersSample();
        image.estimate(1, 100, 0); // work: ten times the calls that were timed
        Profile profile = read(image);

        assertThat(profile.edges())
                .filteredOn(edge -> edge.callee().name().equals("work"))
                .extracting(
                        edge -> edge.caller() == null ? "" : edge.caller().name(),
                        CallEdge::calls,
                        CallEdge::nanos,
                        CallEdge::samples)
                .containsExactlyInAnyOrder(tuple("main", 80L, 80_000L, 8L), tuple("", 20L, 20_000L, 2L));
    }

    @Test
    void shouldFindTheCallersOfCallsThatWaitInTheRing() throws IOException {
        SessionImage image = SessionImage.sampledSample();
        image.putLong(image.functionAt(1) + FunctionDescriptor.ADDRESS, 0x500000);
        image.putInt(image.functionAt(1) + FunctionDescriptor.CODE_SIZE, 0x100);
        image.record(image.lastThread(), 0, 500);
        image.calledFrom(0x500100);
        Profile profile = read(image);

        assertThat(profile.edges())
                .filteredOn(edge -> edge.caller() != null)
                .extracting(edge -> edge.caller().name(), edge -> edge.callee().name(), CallEdge::samples)
                .containsExactly(tuple("rare", "hot", 1L));
    }

    @Test
    void shouldRefuseAListOfCallersWithoutEnd() throws IOException {
        SessionImage image = SessionImage.callersSample();
        long edge = image.edge(1, 2, 1, 1);
        image.putLong(edge + EdgeDescriptor.NEXT, SessionImage.address(edge));

        assertThatThrownBy(() -> read(image)).isInstanceOf(SessionFormatException.class);
    }

    @Test
    void shouldWithholdAFunctionOfWhichACallerIsNoFunction() throws IOException {
        SessionImage image = SessionImage.callersSample();
        image.edge(1, 5, 1, 1);
        Profile profile = read(image);

        assertThat(profile.functions().get(1).damage()).isEqualTo("a caller has the number 5");
        assertThat(profile.edges())
                .noneMatch(edge -> edge.callee() == profile.functions().get(1));
    }

    @Test
    void shouldShowTheOthersWhereAFunctionsFiguresAreDamaged() throws IOException {
        SessionImage image = SessionImage.exactSample();
        ByteBuffer bytes = ByteBuffer.wrap(image.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        int total = IntStream.range(0, bytes.capacity() / 8)
                .map(i -> i * 8)
                .filter(at -> bytes.getLong(at) == 1_000_000)
                .findFirst()
                .orElseThrow();
        image.putLong(total, -2_225_509);
        Profile profile = read(image);
        FunctionProfile parse = profile.functions().get(1);

        assertThat(parse.damage()).isEqualTo("a counter holds 18446744073707326107");
        assertThat(parse.knownCalls()).isEmpty();
        assertThat(profile.functions().get(0).calls()).isEqualTo(1);
        String warning = "ns::parse(char const*) is withheld: a counter holds 18446744073707326107";
        StringBuilder table = new StringBuilder();
        new TableReport(ProfileOrder.CALLS, 24, false, 0).write(profile, table);
        assertThat(table)
                .contains("mdl: the session is damaged: the figures of 1 function are withheld\n", "mdl: " + warning)
                .containsPattern("ns::parse\\(char const\\*\\)(?: +-){10}\n");
        StringBuilder json = new StringBuilder();
        JsonReport.write(profile, ProfileOrder.CALLS, 24, json);
        assertThat(json).contains("\"damage\": \"a counter holds 18446744073707326107\"", "\"reason\": \"damage\"");
        StringBuilder csv = new StringBuilder();
        CsvReport.write(profile, ProfileOrder.CALLS, 24, csv);
        assertThat(csv).containsPattern("(?m)^ns::parse.*,,false,,0,,,,,,,,,,,,a counter holds 18446744073707326107$");
        StringBuilder page = new StringBuilder();
        HtmlReport.write(profile, Timeline.NONE, List.of(), ProfileOrder.CALLS, 24, page);
        assertThat(page).contains(warning);
        StringBuilder series = new StringBuilder();
        PrometheusReport.write(List.of(new SessionSeries(profile, 24)), series);
        assertThat(series)
                .containsPattern("mdl_losses_total\\{.*reason=\"damage\"} 1\n")
                .doesNotContain("function=\"ns::parse");
    }

    @Test
    void shouldReadWhatWasMeasuredInEachSliceOfTime() throws IOException {
        SessionImage.sliceSample().write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            List<TimeSlice> slices = reader.slices();
            Profile later = reader.profile(slices.subList(1, 3));

            Instant start = Instant.ofEpochSecond(1_700_000_000);
            assertThat(slices)
                    .extracting(TimeSlice::start)
                    .containsExactly(start, start.plusMillis(500), start.plusMillis(1000));
            assertThat(later.range()).isEqualTo(new TimeRange(start.plusMillis(500), start.plusMillis(1500), 2, 0));
            assertThat(later.functions()).extracting(FunctionProfile::calls).containsExactly(0L, 5L);
            FunctionProfile work = later.functions().get(1);
            assertThat(work.totalNanos()).hasValue(5_000);
            assertThat(work.latency().percentileNanos(50).getAsLong()).isBetween(970L, 1_030L);
            assertThat(later.edges())
                    .extracting(
                            edge -> edge.caller().name(), edge -> edge.callee().name(), CallEdge::calls)
                    .containsExactly(tuple("main", "work", 5L));
            assertThat(later.session().costs().agentNanos()).isEqualTo(10_000_000);
            assertThat(later.session().elapsedNanos()).hasValue(1_000_000_000);
        }
    }

    @Test
    void shouldRefuseASliceThatNamesNoFunctionOfTheSession() throws IOException {
        SessionImage image = SessionImage.sliceSample();
        image.putInt(HeaderDescriptor.FUNCTION_COUNT, 1);
        image.write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            List<TimeSlice> slices = reader.slices();
            assertThatThrownBy(() -> reader.profile(slices))
                    .isInstanceOf(SessionFormatException.class)
                    .hasMessageContaining("a function with the number 1");
        }
    }

    @Test
    void shouldReadTheLastTimedCallsAlsoWhenTheyHaveBeenDrained() throws IOException {
        SessionImage.sampledSample().write(directory);

        try (SessionReader reader = SessionReader.open(directory)) {
            assertThat(reader.lastCalls())
                    .extracting(TimedCall::tid, call -> call.function().name(), TimedCall::startNanos, TimedCall::nanos)
                    .containsExactly(
                            tuple(101, "hot", 4_000L, 1_000L),
                            tuple(101, "hot", 5_000L, 1_000L),
                            tuple(101, "hot", 6_000L, 1_000L),
                            tuple(101, "hot", 7_000L, 2_000L),
                            tuple(101, "rare", 8_000L, 70_000L),
                            tuple(101, "rare", 9_000L, 90_000L),
                            tuple(101, "hot", 10_000L, 3_000L));
        }
    }

    @Test
    void shouldNotTakeCallsOfEndedThreadsForThoseOfTheNextThatHasTheirBlock() throws IOException {
        SessionImage image = SessionImage.sampledSample();
        image.putLong(image.lastThread() + ThreadDescriptor.FIRST, 5);
        image.write(directory);

        try (SessionReader reader = SessionReader.open(directory)) {
            assertThat(reader.lastCalls())
                    .extracting(TimedCall::tid, TimedCall::startNanos)
                    .containsExactly(
                            tuple(-1, 4_000L),
                            tuple(-1, 5_000L),
                            tuple(101, 6_000L),
                            tuple(101, 7_000L),
                            tuple(101, 8_000L),
                            tuple(101, 9_000L),
                            tuple(101, 10_000L));
        }
    }

    @Test
    void shouldCallTheCountOfAFunctionExactWhoseWindowNeverEnded() throws IOException {
        FunctionProfile rare = read(SessionImage.sampledSample()).functions().get(1);

        assertThat(rare.calls()).isEqualTo(3);
        assertThat(rare.sampled()).isEqualTo(2);
        assertThat(rare.callsExact()).isTrue();
        assertThat(rare.callsError()).isEmpty();
    }

    @Test
    void shouldReadSites() throws IOException {
        SessionImage.exactSample().write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            assertThat(reader.sites())
                    .containsExactly(
                            new SiteProfile("main", SiteProfile.Kind.ENTRY, "/opt/app/bin/app", 0x401010),
                            new SiteProfile(
                                    "ns::parse(char const*)",
                                    SiteProfile.Kind.SIBLING_EXIT,
                                    "/opt/app/bin/app",
                                    0x401020));
        }
    }

    @Test
    void shouldSeeWhatWasRecordedSinceItWasOpened() throws IOException {
        SessionImage image = SessionImage.exactSample();
        Path file = image.write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            long before = reader.profile().functions().get(1).calls();
            for (int tid = 200; tid < 300; tid++) {
                image.exactRow(image.thread(tid), 1, 10, 10, 1L << 40);
            }
            Files.write(file, image.bytes());
            Profile after = reader.profile();

            assertThat(before).isEqualTo(4);
            assertThat(after.functions().get(1).calls()).isEqualTo(204);
            assertThat(after.session().process().threads()).isEqualTo(102);
        }
    }

    /// The writer publishes threads as the agent does, contents first, while the reader reads.
    @Test
    void shouldReadASessionThatGrowsMeanwhile() throws Exception {
        SessionImage image = SessionImage.exactSample();
        Path file = image.write(directory);
        AtomicBoolean done = new AtomicBoolean();
        Thread writer = new Thread(() -> {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                for (int tid = 200; tid < 500; tid++) {
                    image.exactRow(image.thread(tid), 1, 10, 10);
                    ByteBuffer all = ByteBuffer.wrap(image.bytes());
                    channel.write(
                            all.slice((int) HeaderDescriptor.SIZE, all.capacity() - (int) HeaderDescriptor.SIZE),
                            HeaderDescriptor.SIZE);
                    channel.write(all.slice(0, (int) HeaderDescriptor.SIZE), 0);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } finally {
                done.set(true);
            }
        });
        try (SessionReader reader = SessionReader.open(directory)) {
            writer.start();
            long last = 0;
            boolean again;
            do {
                again = !done.get();
                long calls = reader.profile().functions().get(1).calls();
                assertThat(calls).isGreaterThanOrEqualTo(last);
                last = calls;
            } while (again);
            assertThat(last).isEqualTo(304);
        } finally {
            writer.join();
        }
    }

    @Test
    void shouldNameBothVersionsOfAnUnknownFormat() throws IOException {
        SessionImage image = SessionImage.exactSample();
        image.putInt(HeaderDescriptor.VERSION_AT, 99);
        image.write(directory);

        assertThatThrownBy(() -> SessionReader.open(directory))
                .isInstanceOf(SessionFormatException.class)
                .hasMessageContaining("version 99")
                .hasMessageContaining("version " + HeaderDescriptor.VERSION)
                .hasMessageContaining(directory.resolve("session.mdl").toString());
    }

    @Test
    void shouldRefuseAFileThatIsNoSession() throws IOException {
        Path file = directory.resolve("core");
        Files.write(file, new byte[8192]);

        assertThatThrownBy(() -> SessionReader.open(file))
                .isInstanceOf(SessionFormatException.class)
                .hasMessageContaining("not a session");
    }

    @Test
    void shouldSayThatThereIsNoSession() {
        assertThatThrownBy(() -> SessionReader.open(directory))
                .isInstanceOf(SessionFormatException.class)
                .hasMessageContaining("there is no session")
                .hasMessageContaining("mdl list sessions");
    }

    @Test
    void shouldRefuseALinkToAPlaceWhereNoSessionBelongs() throws IOException {
        Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
        Files.createSymbolicLink(
                directory.resolve("session.mdl"), SessionImage.exactSample().write(elsewhere));

        assertThatThrownBy(() -> SessionReader.open(directory))
                .isInstanceOf(SessionFormatException.class)
                .hasMessageContaining("a link to");
    }

    /// It is another user there, and its files are ours.
    @Test
    void shouldReadTheDataOfAProgramInAUserNamespace() throws IOException {
        Path memory = Files.createDirectory(
                Path.of("/dev/shm/mdl-4" + ProcessHandle.current().pid()));
        Path data = Files.move(SessionImage.exactSample().write(directory), memory.resolve("app.mdl"));
        Files.createSymbolicLink(directory.resolve("session.mdl"), data);

        try (SessionReader reader = SessionReader.open(directory)) {
            assertThat(reader.profile().functions()).hasSize(3);
        } finally {
            Files.delete(data);
            Files.delete(memory);
        }
    }

    @Test
    void shouldRefuseALinkThatClimbsOutOfSharedMemory() throws IOException {
        Object self = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        Files.createSymbolicLink(directory.resolve("session.mdl"), Path.of("/dev/shm/mdl-" + self + "/../x.mdl"));

        assertThatThrownBy(() -> SessionReader.open(directory))
                .isInstanceOf(SessionFormatException.class)
                .hasMessageContaining("a link to");
    }

    @Test
    void shouldRefuseAFifoInsteadOfWaitingForIt() throws Exception {
        Path fifo = directory.resolve("session.mdl");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor())
                .isZero();

        assertThatThrownBy(() -> SessionReader.open(directory))
                .isInstanceOf(SessionFormatException.class)
                .hasMessageContaining("not a regular file");
    }

    @Test
    void shouldRefuseAListOfThreadsThatEndsInItself() throws IOException {
        SessionImage image = SessionImage.exactSample();
        long thread = image.thread(103);
        image.putLong(thread + ThreadDescriptor.NEXT, SessionImage.address(thread));

        assertThatThrownBy(() -> read(image))
                .isInstanceOf(SessionFormatException.class)
                .hasMessageContaining("no end");
    }

    @Test
    void shouldRefuseStructuresThatOverlap() throws IOException {
        SessionImage image = new SessionImage().exact();
        int function = image.function("f");
        long thread = image.thread(101);
        image.exactRow(thread, function, 1, 1);
        // A row whose chunks are all the same.
        long chunk = SessionImage.address(image.allocate(1024));
        long row = image.allocate(RowDescriptor.SIZE);
        image.putLong(row + RowDescriptor.COUNT, 1);
        for (int i = 0; i < RowDescriptor.CHUNKS; i++) {
            image.putLong(row + RowDescriptor.CHUNKS_AT + i * 8L, chunk);
        }
        long rows = image.allocate(8 * Long.BYTES);
        image.putLong(rows + (long) function * Long.BYTES, SessionImage.address(row));
        image.putLong(image.thread(102) + ThreadDescriptor.ROWS, SessionImage.address(rows));

        assertThatThrownBy(() -> read(image))
                .isInstanceOf(SessionFormatException.class)
                .hasMessageContaining("overlap");
    }

    @Test
    void shouldRefuseATruncatedFileWhereverItEnds() throws IOException {
        for (SessionImage image : List.of(SessionImage.exactSample(), SessionImage.sampledSample())) {
            byte[] whole = image.bytes();
            Path file = directory.resolve("session.mdl");
            for (int length = 0; length < whole.length; length += 512) {
                Files.write(file, Arrays.copyOf(whole, length));
                assertThatThrownBy(() -> SessionReader.open(file).close())
                        .as("%d bytes of %d", length, whole.length)
                        .isInstanceOf(SessionFormatException.class);
            }
        }
    }

    /// Words that matter more are changed more often: a pointer or a count, not one of thousands of zeros.
    ///
    /// `-Dmdl.fuzz.cases=N` sets the number of cases, `-Dmdl.fuzz.seed=S` where they start.
    @Test
    void shouldSurviveDamageOfAnyKind() throws IOException {
        SplittableRandom random = new SplittableRandom(Long.getLong("mdl.fuzz.seed", 20_230_411));
        Path file = directory.resolve("session.mdl");
        int refused = 0;
        int rounds = Integer.getInteger("mdl.fuzz.cases", 1_000);
        // A busy machine must not look like a slow reader.
        long slowest = 0;
        byte[][] samples = {
            SessionImage.exactSample().bytes(),
            SessionImage.sampledSample().bytes(),
            SessionImage.familySample().bytes(),
            SessionImage.callersSample().bytes(),
            SessionImage.metricSample().bytes(),
            SessionImage.cpuSample().bytes(),
            SessionImage.sliceSample().bytes()
        };
        int[][] words = Stream.of(samples).map(SessionReaderTest::wordsInUse).toArray(int[][]::new);
        for (int round = 0; round < rounds; round++) {
            byte[] bytes = samples[round % samples.length].clone();
            int[] inUse = words[round % samples.length];
            ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            for (int change = random.nextInt(1, 4); change > 0; change--) {
                int word = random.nextInt(4) == 0
                        ? random.nextInt(bytes.length / 8) * 8
                        : inUse[random.nextInt(inUse.length)];
                long value = buffer.getLong(word);
                buffer.putLong(word, mutated(value, bytes.length, random));
            }
            Files.write(file, bytes);
            long start = cpuNanos();
            try (SessionReader reader = SessionReader.open(file)) {
                Profile profile = reader.profile();
                StringBuilder out = new StringBuilder();
                new TableReport(ProfileOrder.byDefault(profile), 24, false, 0).write(profile, out);
                JsonReport.write(profile, ProfileOrder.TOTAL, 24, out);
                CsvReport.write(profile, ProfileOrder.SELF, 24, out);
                FoldedReport.write(profile.paths(), out);
                SpeedscopeReport.write(profile, out);
                PprofReport.write(profile, ProfileOrder.TOTAL, 24, OutputStream.nullOutputStream());
                TraceReport.write(profile.session(), reader.lastCalls(), SlowCall.All.NONE, Map.of(), out);
                List<SessionSeries> series = List.of(new SessionSeries(profile, 24));
                PrometheusReport.write(series, out);
                PrometheusReport.writeProtobuf(series, OutputStream.nullOutputStream());
                OtlpReport.write(series, Instant.EPOCH, "host", out);
                reader.sites();
                Profile unused = reader.profileOfProcess(4801);
                List<TimeSlice> slices = reader.slices();
                if (!slices.isEmpty()) {
                    HtmlReport.write(
                            reader.profile(slices),
                            new Timeline(profile.functions(), slices),
                            reader.lastCalls(),
                            ProfileOrder.TOTAL,
                            24,
                            out);
                }
            } catch (SessionFormatException e) {
                refused++;
            }
            slowest = Math.max(slowest, cpuNanos() - start);
        }
        // Both must happen: damage that is noticed, and damage to a mere value.
        assertThat(refused).isBetween(rounds / 20, rounds * 19 / 20);
        assertThat(slowest).isLessThan(2_000_000_000L);
    }

    /// That of a process which gave up rights, until a thread of it calls a function.
    @Test
    void shouldNotTakeASpareBlockForAThread() throws IOException {
        SessionImage image = SessionImage.exactSample();
        int threads = factsOf(image).process().threads();
        long spare = image.thread(0);
        assertThat(factsOf(image).process().threads()).isEqualTo(threads);

        image.count(spare, 0, 1);

        assertThat(factsOf(image).process().threads()).isEqualTo(threads + 1);
    }

    private SessionFacts factsOf(SessionImage image) throws IOException {
        try (SessionReader reader = SessionReader.open(Files.write(directory.resolve("session.mdl"), image.bytes()))) {
            return reader.profile().session();
        }
    }

    /// Each word of each function's record, row, calls in a thread and callers, changed in two ways.
    @Test
    void shouldShowTheOtherFunctionsWhicheverWordOfARowIsDamaged() throws IOException {
        Path file = directory.resolve("session.mdl");
        int withheld = 0;
        for (SessionImage image :
                List.of(SessionImage.exactSample(), SessionImage.sampledSample(), SessionImage.callersSample())) {
            byte[] whole = image.bytes();
            Files.write(file, whole);
            List<FunctionProfile> before = functionsOf(file);
            for (long[] figures : image.figures()) {
                for (int word = (int) figures[0]; word < figures[0] + figures[1]; word += Long.BYTES) {
                    for (long value : new long[] {-1, Long.MAX_VALUE}) {
                        byte[] bytes = whole.clone();
                        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(word, value);
                        Files.write(file, bytes);
                        List<FunctionProfile> after = functionsOf(file);
                        long changed = IntStream.range(0, before.size())
                                .filter(i ->
                                        before.get(i).calls() != after.get(i).calls())
                                .count();
                        assertThat(changed).as("word %d is %d", word, value).isLessThanOrEqualTo(1);
                        long damaged =
                                after.stream().filter(f -> f.damage() != null).count();
                        assertThat(damaged).as("word %d is %d", word, value).isLessThanOrEqualTo(1);
                        withheld += (int) damaged;
                    }
                }
            }
        }
        assertThat(withheld).isGreaterThan(100);
    }

    private static List<FunctionProfile> functionsOf(Path file) throws IOException {
        try (SessionReader reader = SessionReader.open(file)) {
            return reader.profile().functions();
        }
    }

    private static int[] wordsInUse(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return IntStream.range(0, bytes.length / 8)
                .map(i -> i * 8)
                .filter(i -> buffer.getLong(i) != 0)
                .toArray();
    }

    private static long mutated(long value, int size, SplittableRandom random) {
        return switch (random.nextInt(7)) {
            case 0 -> value ^ 1L << random.nextInt(64);
            case 1 -> random.nextLong();
            case 2 -> -1;
            case 3 -> 0;
            case 4 -> SessionImage.BASE + random.nextInt(size) / 8 * 8L;
            case 5 -> value + random.nextInt(-256, 256);
            default -> Long.MAX_VALUE >>> random.nextInt(63);
        };
    }

    /// Of this process, in steps of some milliseconds.
    private static long cpuNanos() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos();
    }
}
