package org.mdlagent.profiler.report.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.PcFrameDescriptor;
import org.mdlagent.arch.layout.PcNodeDescriptor;
import org.mdlagent.arch.layout.PcSamplesDescriptor;
import org.mdlagent.profiler.report.file.FunctionNames;
import org.mdlagent.profiler.report.file.SessionFormatException;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.CodeFrame;
import org.mdlagent.profiler.report.profile.CpuSamples;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.profile.SampledThread;

class PcSamplesReaderTest {
    @TempDir
    private Path directory;

    private Profile read(SessionImage image) throws IOException {
        return Profiles.read(image, directory);
    }

    private void refused(SessionImage image, String what) {
        assertThatThrownBy(() -> read(image))
                .isInstanceOf(SessionFormatException.class)
                .hasMessageContaining("the session is damaged: " + what);
    }

    @Test
    void shouldReadWhereTheTimeWasSpent() throws IOException {
        SessionImage image = SessionImage.sampledSample();
        long samples = image.cpuSamples(1000, 10, 7, 600, 103);
        image.putLong(samples + PcSamplesDescriptor.LOST, 5);
        image.putLong(samples + PcSamplesDescriptor.CUT, 2);
        image.putLong(samples + PcSamplesDescriptor.NO_TABLE, 3);
        image.putLong(samples + PcSamplesDescriptor.LEFT_OUT, 4);
        image.cpuSamplesOf(samples, "/usr/lib/libz.so.1", 100);
        image.cpuSamplesOf(samples, "/usr/lib/libc.so.6", 180);

        assertThat(read(image).cpu())
                .isEqualTo(new CpuSamples(
                        1_000_000,
                        1000,
                        1,
                        10,
                        7,
                        5,
                        List.of(
                                new CpuSamples.OfImage("/usr/lib/libc.so.6", 180),
                                new CpuSamples.OfImage("/usr/lib/libz.so.1", 100)),
                        2,
                        3,
                        4));
    }

    @Test
    void shouldKnowTheCpuTimeOfFunctionsAndHowFarItIsOff() throws IOException {
        List<FunctionProfile> functions = read(SessionImage.cpuSample()).functions();

        assertThat(functions)
                .extracting(FunctionProfile::name, FunctionProfile::cpuNanos)
                .containsExactly(
                        tuple("hot", OptionalLong.of(600_000_000)),
                        tuple("rare", OptionalLong.of(3_000_000)),
                        tuple("loop", OptionalLong.of(100_000_000)),
                        tuple("unused", OptionalLong.empty()));
        assertThat(functions.get(2).cpu().selfError()).hasValueCloseTo(0.196, within(1e-9));
        assertThat(functions.get(3).cpu().selfError()).isEmpty();
        assertThat(functions.get(0).selfNanos()).isPresent();
    }

    /// Half of the samples are counted once, half of them nine times.
    @Test
    void shouldBeLessSureWhereSamplesAreCountedOften() throws IOException {
        SessionImage image = SessionImage.sampledSample();
        long samples = image.cpuSamples(1000, 0, 0, 820);
        image.putLong(samples + PcSamplesDescriptor.SQUARES, 100 + 100 * 81);
        Profile profile = read(image);

        assertThat(profile.cpu().weight()).isCloseTo(8.2, within(1e-9));
        assertThat(profile.functions().getFirst().cpu().selfError()).hasValueCloseTo(0.196, within(1e-9));
    }

    @Test
    void shouldKnowTheCpuTimeOfCallersAndCalleesToo() throws IOException {
        SessionImage image = SessionImage.callersSample();
        image.cpuSamples(30, 0, 0, 9, 8, 7, 6);
        Profile profile = read(image);

        assertThat(profile.functions())
                .extracting(function -> function.cpuNanos().orElse(0))
                .startsWith(9_000_000L, 8_000_000L, 7_000_000L, 6_000_000L);
        assertThat(profile.edges())
                .isNotEmpty()
                .allSatisfy(edge -> assertThat(profile.functions()).anyMatch(function -> function == edge.callee()));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldKnowNothingWithoutSamples(boolean hasTable) throws IOException {
        SessionImage image = SessionImage.sampledSample();
        if (hasTable) {
            image.cpuSamples(0, 0, 0, 0, 1);
        }
        Profile profile = read(image);

        assertThat(profile.cpu()).isEqualTo(CpuSamples.NONE);
        assertThat(profile.functions()).allMatch(function -> function.cpuNanos().isEmpty());
    }

    /// The agent adds to the functions and to the sum while they are read.
    @Test
    void shouldReadASessionWhoseFunctionsHaveMoreSamplesThanThereAre() throws IOException {
        SessionImage image = SessionImage.sampledSample();
        image.cpuSamples(10, 0, 0, 9, 9);

        assertThat(read(image).functions().get(1).cpuNanos()).hasValue(9_000_000);
    }

    @Test
    void shouldNotTakeSamplesOfAllThreadsForThoseOfOne() throws IOException {
        SessionImage image = SessionImage.exactSample();
        image.cpuSamples(100, 0, 0, 50, 50);
        image.write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            Profile ofOne = reader.profile(tid -> tid == 101);

            assertThat(reader.profile().cpu().samples()).isEqualTo(100);
            assertThat(ofOne.cpu()).isEqualTo(CpuSamples.NONE);
            assertThat(ofOne.functions())
                    .allMatch(function -> function.cpuNanos().isEmpty());
        }
    }

    @Test
    void shouldNotTakeSamplesOfTheWholeSessionForThoseOfARange() throws IOException {
        SessionImage image = SessionImage.sliceSample();
        image.cpuSamples(100, 0, 0, 50, 50);
        image.write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            Profile ofRange = reader.profile(reader.slices());

            assertThat(reader.profile().functions())
                    .allMatch(function -> function.cpuNanos().isPresent());
            assertThat(ofRange.cpu()).isEqualTo(CpuSamples.NONE);
            assertThat(ofRange.functions())
                    .allMatch(function -> function.cpuNanos().isEmpty());
        }
    }

    @Test
    void shouldWithholdTheCpuTimeOfADamagedFunction() throws IOException {
        SessionImage image = SessionImage.callersSample();
        image.edge(1, 99, 1, 1);
        image.cpuSamples(100, 0, 0, 50, 50);
        List<FunctionProfile> functions = read(image).functions();

        assertThat(functions.get(0).cpuNanos()).isPresent();
        assertThat(functions.get(1).damage()).isNotNull();
        assertThat(functions.get(1).cpuNanos()).isEmpty();
    }

    @Test
    void shouldRefuseATableOutsideOfTheFile() {
        SessionImage image = SessionImage.cpuSample();
        image.putLong(HeaderDescriptor.PC_SAMPLES, SessionImage.address(1 << 30));

        refused(image, "the table of CPU samples reaches beyond the end");
    }

    @ParameterizedTest
    @ValueSource(longs = {PcSamplesDescriptor.FRAMES, PcSamplesDescriptor.NODES})
    void shouldRefuseRowsOutsideOfTheFile(long field) {
        SessionImage image = SessionImage.sampledSample();
        long samples = image.cpuSamples(1, 0, 0);
        image.putLong(samples + field, 0);

        refused(image, "a table of ");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 2, 5})
    void shouldRefuseAPathThatDoesNotGoOnFromOneBefore(int parent) {
        SessionImage image = SessionImage.pathsSample();
        long samples = image.samplesAt();
        image.putInt(image.nodeAt(samples, 2) + PcNodeDescriptor.PARENT, parent);

        refused(image, "a call path goes on from " + Integer.toUnsignedString(parent));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 7})
    void shouldRefuseAPathToCodeThatIsNotThere(int frame) {
        SessionImage image = SessionImage.pathsSample();
        long samples = image.samplesAt();
        image.putInt(image.nodeAt(samples, 2) + PcNodeDescriptor.FRAME, frame);

        refused(image, "a call path ends in " + Integer.toUnsignedString(frame) + " of 7 pieces of code");
    }

    @Test
    void shouldRefuseCodeOfNoKind() {
        SessionImage image = SessionImage.sampledSample();
        image.frame(image.cpuSamples(1, 0, 0), -6, "", 1);

        refused(image, "code of kind -6");
    }

    /// A reader that follows it would run out of stack.
    @Test
    void shouldRefuseAPathThatIsLongerThanAnyStack() {
        SessionImage image = SessionImage.sampledSample();
        image.path(image.cpuSamples(1, 0, 0), 1, new int[1025]);

        refused(image, "a call path goes on from 1024");
    }

    @Test
    void shouldAddUpWhatCalleesTakeOncePerPath() throws IOException {
        SessionImage image = SessionImage.callersSample();
        long samples = image.cpuSamples(30, 0, 0, 0, 5, 25, 0);
        int main = SessionImage.frameOf(0);
        int work = SessionImage.frameOf(1);
        int leaf = SessionImage.frameOf(2);
        image.path(samples, 20, main, work, work, leaf);
        image.path(samples, 5, main, work);
        image.path(samples, 5, main, leaf);

        List<FunctionProfile> functions = read(image).functions();

        assertThat(functions)
                .extracting(function -> function.cpu().totalNanos().orElse(0))
                .startsWith(30_000_000L, 25_000_000L, 25_000_000L, 0L);
        assertThat(functions.get(0).cpuNanos()).isEmpty();
        assertThat(functions.get(0).cpu().totalError()).hasValueCloseTo(1.96 / Math.sqrt(30), within(1e-9));
    }

    /// Its samples are its own, though they were taken before it had a probe; and so are those of a part that was
    /// put
    /// apart.
    @Test
    void shouldGiveCodeToTheFunctionOfItsName() throws IOException {
        SessionImage image = SessionImage.callersSample();
        FunctionProfile work = read(image).functions().get(1);
        String path = work.image();
        long samples = image.cpuSamples(10, 0, 0, 0, 4);
        int before = image.cpuSamplesOf(samples, path, 3);
        int cold = image.cpuSamplesOf(samples, path, 2);
        int other = image.cpuSamplesOf(samples, path, 1);
        image.nameBuild(samples, before, "b1");
        image.nameBuild(samples, cold, "b1");
        image.path(samples, 4, SessionImage.frameOf(1));
        image.path(samples, 3, before);
        image.path(samples, 2, cold);
        image.path(samples, 1, other);
        image.write(directory);
        Map<Long, String> names = Map.of(0x1000L + before, work.symbol(), 0x1000L + cold, work.symbol() + ".cold");
        FunctionNames known = new FunctionNames() {
            @Override
            public @Nullable Found find(String of, String build, long offset) {
                return null;
            }

            @Override
            public @Nullable Found around(String of, String build, long offset) {
                String name = names.get(offset);
                return name == null ? null : new Found(name, name);
            }
        };

        try (SessionReader reader = SessionReader.open(directory, known)) {
            Profile profile = reader.profile();

            assertThat(profile.functions().get(1).cpuNanos()).hasValue(9_000_000);
            assertThat(profile.paths().nodes())
                    .extracting(node -> node.frame().name(), CallTree.Node::selfNanos)
                    .containsExactly(
                            tuple("work", 9_000_000L),
                            tuple(path.substring(path.lastIndexOf('/') + 1) + "+0x100" + other, 1_000_000L));
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "-1, 18446744073709551615", "10000000001, 10000000001"})
    void shouldRefuseAPeriodThatNobodySamplesBy(long nanos, String told) {
        SessionImage image = SessionImage.sampledSample();
        image.putLong(image.cpuSamples(1, 0, 0) + PcSamplesDescriptor.PERIOD_NANOS, nanos);

        refused(image, "CPU samples are " + told + " ns apart");
    }

    @ParameterizedTest
    @CsvSource({"16385, 16385", "-1, 4294967295"})
    void shouldRefuseMoreCodeThanThereIsRoomFor(int count, String told) {
        SessionImage image = SessionImage.sampledSample();
        image.putInt(image.cpuSamples(1, 0, 0) + PcSamplesDescriptor.FRAME_COUNT, count);

        refused(image, "it claims " + told + " pieces of code, with room for 16384");
    }

    @ParameterizedTest
    @CsvSource({"131073, 131073", "-1, 4294967295"})
    void shouldRefuseMorePathsThanThereIsRoomFor(int count, String told) {
        SessionImage image = SessionImage.sampledSample();
        image.putInt(image.cpuSamples(1, 0, 0) + PcSamplesDescriptor.NODE_COUNT, count);

        refused(image, "it claims " + told + " call paths, with room for 131072");
    }

    @ParameterizedTest
    @ValueSource(
            longs = {
                PcSamplesDescriptor.SAMPLES,
                PcSamplesDescriptor.CUT,
                PcSamplesDescriptor.NO_TABLE,
                PcSamplesDescriptor.LEFT_OUT,
                PcSamplesDescriptor.LOST,
                PcSamplesDescriptor.SQUARES
            })
    void shouldRefuseAnImpossibleCounter(long field) {
        SessionImage image = SessionImage.sampledSample();
        long samples = image.cpuSamples(1, 0, 0);
        image.cpuSamplesOf(samples, "/lib/a", 1);
        image.putLong(samples + field, -1);

        refused(image, "a counter holds 18446744073709551615");
    }

    @Test
    void shouldRefuseAnImpossibleCounterOfAFunction() {
        SessionImage image = SessionImage.sampledSample();
        image.cpuSamples(1, 0, 0, 1, -1);

        refused(image, "a counter holds 18446744073709551615");
    }

    @Test
    void shouldRefuseMoreCpuTimeThanAnyoneHas() {
        SessionImage image = SessionImage.sampledSample();
        image.cpuSamples(1, 0, 0, 1L << 59);

        refused(image, "its counts are beyond all bounds");
    }

    @Test
    void shouldRefuseANameThatIsNone() {
        SessionImage image = SessionImage.sampledSample();
        long samples = image.cpuSamples(1, 0, 0);
        int code = image.cpuSamplesOf(samples, "/lib/a", 1);
        image.putInt(image.frameAt(samples, code) + PcFrameDescriptor.IMAGE, 1 << 30);

        refused(image, "a name reaches beyond the end");
    }

    @Test
    void shouldReadSamplesOneByOneWithTheirThreads() throws IOException {
        CallTree tree = read(SessionImage.samplesSample()).paths();

        assertThat(tree.threads())
                .extracting(SampledThread::tid, SampledThread::name, SampledThread::samples)
                .containsExactly(tuple(0, "", 0L), tuple(101, "first", 5L), tuple(102, "second", 5L));
        assertThat(tree.samples()).hasSize(10);
        CallTree.Sample last = tree.samples().getFirst();
        assertThat(last.startNanos()).isEqualTo(900_000_000);
        assertThat(last.thread()).isEqualTo(2);
        assertThat(last.address()).isEqualTo(0x2000);
        assertThat(last.path().path()).extracting(CodeFrame::name).containsExactly("main", "leaf");
        assertThat(tree.samplesPerLogged()).isEqualTo(1);
    }

    /// An odd version: the agent is about it. It may have died there.
    @Test
    void shouldLeaveSamplesAloneWhileSomeAreDropped() throws IOException {
        SessionImage image = SessionImage.samplesSample();
        image.putInt(image.samplesAt() + PcSamplesDescriptor.LOG_VERSION, 3);

        assertThat(read(image).paths().samples()).isEmpty();
        assertThat(read(image).cpu().isEmpty()).isFalse();
    }

    @Test
    void shouldKnowWhatSamplesStandForWhereOthersWereDropped() throws IOException {
        SessionImage image = SessionImage.samplesSample();
        image.putInt(image.samplesAt() + PcSamplesDescriptor.LOG_VERSION, 6);
        image.putInt(image.samplesAt() + PcSamplesDescriptor.THINNED, 3);

        assertThat(read(image).paths().samplesPerLogged()).isEqualTo(8);
    }

    @Test
    void shouldLeaveOutSamplesOfPathsAndThreadsThatAreNotThereYet() throws IOException {
        SessionImage image = SessionImage.samplesSample();
        image.sample(image.samplesAt(), 1000, 99, 1);
        image.putInt(image.samplesAt() + PcSamplesDescriptor.THREAD_COUNT, 2);

        assertThat(read(image).paths().samples()).hasSize(5).allMatch(sample -> sample.thread() == 1);
    }

    @ParameterizedTest
    @CsvSource({"LOG_COUNT, 65537", "LOG_COUNT, -1", "THREAD_COUNT, 4097", "THINNED, 41"})
    void shouldRefuseMoreSamplesThanThereIsRoomFor(String field, int count) throws ReflectiveOperationException {
        SessionImage image = SessionImage.samplesSample();
        long offset = PcSamplesDescriptor.class.getField(field).getLong(null);
        image.putInt(image.samplesAt() + offset, count);

        refused(
                image,
                field.equals("THINNED") ? "samples were dropped" : "it claims " + Integer.toUnsignedString(count));
    }
}
