package org.mdlagent.runtime.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// No remedy is what is so already.
class RemediesTest {
    @ParameterizedTest
    @CsvSource({
        "3.10.0-1160.el7, use Linux 4.16 or newer",
        "4.15.18, use Linux 4.16 or newer",
        "4.16.0, allow membarrier(2) in the sandbox",
        "6.1.0-18-amd64, allow membarrier(2) in the sandbox",
        "unknown, allow membarrier(2) in the sandbox"
    })
    void shouldAskForAKernelThatIsNewer(String version, String remedy) {
        assertThat(Remedies.membarrier(version)).isEqualTo(remedy);
    }

    @ParameterizedTest
    @CsvSource({"1, 256", "64, 256", "255, 256", "256, 512", "3900, 7800"})
    void shouldAskForMoreSharedMemoryThanThereIs(long mib, long wanted) {
        assertThat(Remedies.sharedMemory(mib << 20)).isEqualTo("mount -o remount,size=" + wanted + "m /dev/shm");
    }
}
