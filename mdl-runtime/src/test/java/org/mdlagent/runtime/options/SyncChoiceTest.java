package org.mdlagent.runtime.options;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.mdlagent.arch.cpu.Calibration;
import org.mdlagent.arch.cpu.CpuIdentity;

/// Which sync the agent takes, and what its log says.
class SyncChoiceTest {
    private static final CpuIdentity HERE = cpu("0x1000065", true);
    private static final String REMEDY = "T_max of this machine is not known: using membarrier; run mdl calibrate";

    @TempDir
    private Path directory;

    private Path own;
    private Path machine;

    @BeforeEach
    void nameFiles() {
        own = directory.resolve("own/tmax.properties");
        machine = directory.resolve("machine/tmax.properties");
    }

    private static CpuIdentity cpu(String microcode, boolean invariant) {
        return new CpuIdentity("AuthenticAMD", 26, 2, 1, "AMD EPYC", microcode, "KVMKVMKVM", invariant, 2_600_000_000L);
    }

    private static void calibrate(Path file, CpuIdentity cpu, long tmaxTicks) throws IOException {
        new Calibration(cpu, "2026-01-01T00:00:00Z", tmaxTicks, 4, 3000, 400, 700, 1, 1, 3000, tmaxTicks).write(file);
    }

    private SyncChoice choose(AgentOptions.Sync wanted) {
        return SyncChoice.of(wanted, HERE, List.of(own, machine));
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "TMAX"})
    void shouldWaitTmaxWhereThisProcessorHasBeenCalibrated(AgentOptions.Sync wanted) throws IOException {
        calibrate(own, HERE, 6144);
        calibrate(machine, HERE, 8192);

        assertThat(choose(wanted))
                .isEqualTo(new SyncChoice(
                        6144, List.of("T_max, 6144 ticks, of " + own + ", measured 2026-01-01T00:00:00Z")));
    }

    @ParameterizedTest
    @EnumSource(names = {"MEMBARRIER", "STRICT"})
    void shouldUseMembarrierWhenAskedFor(AgentOptions.Sync wanted) throws IOException {
        calibrate(own, HERE, 6144);

        assertThat(choose(wanted)).isEqualTo(new SyncChoice(0, List.of("membarrier, as asked for")));
    }

    @Test
    void shouldUseMembarrierWithoutACalibration() {
        assertThat(choose(AgentOptions.Sync.AUTO)).isEqualTo(new SyncChoice(0, List.of(REMEDY)));
        assertThat(choose(AgentOptions.Sync.TMAX))
                .isEqualTo(new SyncChoice(0, List.of("sync=tmax is not possible, " + REMEDY)));
    }

    @Test
    void shouldRefuseACalibrationOfAnotherProcessorAndSayWhy() throws IOException {
        calibrate(own, cpu("0x1000066", true), 6144);

        assertThat(choose(AgentOptions.Sync.AUTO))
                .isEqualTo(new SyncChoice(
                        0,
                        List.of(
                                own + " is ignored: T_max of another microcode (0x1000066 instead of 0x1000065)",
                                REMEDY)));
    }

    @Test
    void shouldFallBackToTheMachinesCalibration() throws IOException {
        Files.createDirectories(own.getParent());
        Files.writeString(own, "format=1\n");
        calibrate(machine, HERE, 8192);

        SyncChoice choice = choose(AgentOptions.Sync.AUTO);

        assertThat(choice.tmaxTicks()).isEqualTo(8192);
        assertThat(choice.log()).first().isEqualTo(own + " is ignored: it is damaged: there is no vendor");
    }

    @Test
    void shouldIgnoreAFileThatOthersMayWriteTo() throws IOException {
        calibrate(own, HERE, 6144);
        Files.setPosixFilePermissions(own, PosixFilePermissions.fromString("rw-rw-rw-"));

        assertThat(choose(AgentOptions.Sync.AUTO))
                .isEqualTo(new SyncChoice(0, List.of(own + " is ignored: others may write to it", REMEDY)));
    }

    @Test
    void shouldNotCountTicksOfAClockThatMayStop() throws IOException {
        calibrate(own, cpu("0x1000065", false), 6144);

        SyncChoice choice = SyncChoice.of(AgentOptions.Sync.AUTO, cpu("0x1000065", false), List.of(own));

        assertThat(choice.tmaxTicks()).isZero();
        assertThat(choice.log()).singleElement().asString().contains("may not be invariant");
    }
}
