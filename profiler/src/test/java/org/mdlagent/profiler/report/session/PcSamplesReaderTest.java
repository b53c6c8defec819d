package org.mdlagent.profiler.report.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.PcImageDescriptor;
import org.mdlagent.arch.layout.PcSamplesDescriptor;
import org.mdlagent.profiler.report.file.SessionFormatException;
import org.mdlagent.profiler.report.profile.CpuSamples;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.Profiles;

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
                                new CpuSamples.OfImage("/usr/lib/libz.so.1", 100))));
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
        assertThat(functions.get(2).cpuError()).hasValueCloseTo(0.196, within(1e-9));
        assertThat(functions.get(3).cpuError()).isEmpty();
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
        assertThat(profile.functions().getFirst().cpuError()).hasValueCloseTo(0.196, within(1e-9));
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

    @Test
    void shouldRefuseCountersOutsideOfTheFile() {
        SessionImage image = SessionImage.sampledSample();
        long samples = image.cpuSamples(1, 0, 0);
        image.putLong(samples + PcSamplesDescriptor.FUNCTIONS, 0);

        refused(image, "the functions' table of CPU samples is at an impossible place");
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "-1, 18446744073709551615", "10000000001, 10000000001"})
    void shouldRefuseAPeriodThatNobodySamplesBy(long nanos, String told) {
        SessionImage image = SessionImage.sampledSample();
        image.putLong(image.cpuSamples(1, 0, 0) + PcSamplesDescriptor.PERIOD_NANOS, nanos);

        refused(image, "CPU samples are " + told + " ns apart");
    }

    @ParameterizedTest
    @CsvSource({"33, 33", "-1, 18446744073709551615"})
    void shouldRefuseMoreImagesThanThereIsRoomFor(long count, String told) {
        SessionImage image = SessionImage.sampledSample();
        image.putLong(image.cpuSamples(1, 0, 0) + PcSamplesDescriptor.IMAGE_COUNT, count);

        refused(image, "it claims CPU samples of " + told + " programs and libraries, with room for 32");
    }

    @Test
    void shouldReadAsManyImagesAsThereIsRoomFor() throws IOException {
        SessionImage image = SessionImage.sampledSample();
        long samples = image.cpuSamples(100, 0, 0);
        for (int i = 0; i < PcSamplesDescriptor.IMAGES_MAX; i++) {
            image.cpuSamplesOf(samples, "/lib/" + i, i);
        }

        assertThat(read(image).cpu().notProbed()).hasSize(32).startsWith(new CpuSamples.OfImage("/lib/31", 31));
    }

    @ParameterizedTest
    @ValueSource(
            longs = {
                PcSamplesDescriptor.SAMPLES,
                PcSamplesDescriptor.PROBES,
                PcSamplesDescriptor.ELSEWHERE,
                PcSamplesDescriptor.LOST,
                PcSamplesDescriptor.SQUARES,
                PcSamplesDescriptor.IMAGES + PcImageDescriptor.SAMPLES
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
        image.cpuSamplesOf(samples, "/lib/a", 1);
        image.putInt(samples + PcSamplesDescriptor.IMAGES + PcImageDescriptor.PATH, 1 << 30);

        refused(image, "a name reaches beyond the end");
    }
}
