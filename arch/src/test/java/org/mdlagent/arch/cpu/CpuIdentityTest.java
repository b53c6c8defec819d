package org.mdlagent.arch.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.mdlagent.arch.shim.Harness;

/// What a processor is known by, inside and outside of a target process.
class CpuIdentityTest {
    private static final String CPUINFO = """
            processor\t: 0
            vendor_id\t: GenuineIntel
            cpu family\t: 6
            model\t\t: 143
            model name\t: Intel(R) Xeon(R) Platinum 8488C
            stepping\t: 8
            microcode\t: 0x2b000603
            flags\t\t: fpu tsc constant_tsc nonstop_tsc hypervisor
            """;
    private static final CpuIdentity XEON = new CpuIdentity(
            "GenuineIntel",
            6,
            143,
            8,
            "Intel(R) Xeon(R) Platinum 8488C",
            "0x2b000603",
            "KVMKVMKVM",
            true,
            2_400_000_000L);

    @Test
    void shouldReadWhatTheKernelSays() {
        assertThat(CpuIdentity.of(CPUINFO, "KVMKVMKVM", 2_400_000_000L)).isEqualTo(XEON);
    }

    @Test
    void shouldNotTrustTheClockOfAProcessorThatIsNotKnown() {
        CpuIdentity unknown = CpuIdentity.of("", "", 1);

        assertThat(unknown.tscInvariant()).isFalse();
        assertThat(unknown.vendor()).isEmpty();
        assertThat(CpuIdentity.of(CPUINFO.replace("nonstop_tsc", ""), "", 1).tscInvariant())
                .isFalse();
    }

    /// Registers as the manuals of KVM and Hyper-V print them.
    @Test
    void shouldReadTheHypervisorOfItsLeaf() {
        assertThat(CpuIdentity.hypervisor(new int[] {0x40000001, 0x4b4d564b, 0x564b4d56, 0x4d}))
                .isEqualTo("KVMKVMKVM");
        assertThat(CpuIdentity.hypervisor(new int[] {0x4000000b, 0x7263694d, 0x666f736f, 0x76482074}))
                .isEqualTo("Microsoft Hv");
        assertThat(CpuIdentity.hypervisor(new int[0])).isEmpty();
    }

    static Stream<Arguments> others() {
        return Stream.of(
                Arguments.of(CPUINFO.replace("GenuineIntel", "AuthenticAMD"), "KVMKVMKVM", 2_400_000_000L, "vendor"),
                Arguments.of(CPUINFO.replace(": 6", ": 5"), "KVMKVMKVM", 2_400_000_000L, "family (6 instead of 5)"),
                Arguments.of(CPUINFO.replace("143", "144"), "KVMKVMKVM", 2_400_000_000L, "model (143"),
                Arguments.of(CPUINFO.replace(": 8", ": 7"), "KVMKVMKVM", 2_400_000_000L, "stepping (8 instead of 7)"),
                Arguments.of(
                        CPUINFO.replace("0x2b000603", "0x2b000604"),
                        "KVMKVMKVM",
                        2_400_000_000L,
                        "microcode (0x2b000603 instead of 0x2b000604)"),
                Arguments.of(CPUINFO, "", 2_400_000_000L, "hypervisor (KVMKVMKVM instead of none)"),
                Arguments.of(CPUINFO, "KVMKVMKVM", 2_600_000_000L, "frequency"));
    }

    @ParameterizedTest
    @MethodSource("others")
    void shouldTellInWhatAnotherProcessorDiffers(String cpuinfo, String hypervisor, long tscHz, String difference) {
        assertThat(CpuIdentity.of(cpuinfo, hypervisor, tscHz).differenceTo(XEON))
                .startsWith(difference);
    }

    @Test
    void shouldTakeAMeasuredFrequencyForTheSameWithinAPercent() {
        CpuIdentity here =
                CpuIdentity.of(CPUINFO.replace("Platinum 8488C", "another name"), "KVMKVMKVM", 2_401_000_000L);

        assertThat(here.differenceTo(XEON)).isNull();
    }

    @Test
    void shouldBeTheSameInsideAndOutsideOfATargetProcess() throws Exception {
        Path trial = Path.of("../native-shim/target/cmake/mdl-calibrate-trial");
        CpuIdentity outside = CpuIdentity.ofProgram(trial);
        CpuIdentity inside = CpuIdentity.ofProcess(Harness.API, (double) outside.tscHz());

        assertThat(inside).isEqualTo(outside);
        assertThat(outside.differenceTo(inside)).isNull();
    }

    @Test
    void shouldAgreeWithLscpu() throws Exception {
        CpuIdentity cpu = CpuIdentity.ofProcess(Harness.API, 1e9);
        Process lscpu = new ProcessBuilder("lscpu").start();
        String text = new String(lscpu.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(text)
                .containsPattern("Vendor ID: +" + cpu.vendor())
                .containsPattern("CPU family: +" + cpu.family())
                .containsPattern("Model: +" + cpu.model())
                .containsPattern("Stepping: +" + cpu.stepping());
        // It names the vendors that it knows, but shows the flag of any.
        assertThat(text.lines().anyMatch(line -> line.startsWith("Flags:") && line.contains(" hypervisor ")))
                .isEqualTo(!cpu.hypervisor().isEmpty());
    }
}
