package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// Where the agent and its JVM have memory: not where programs map theirs at addresses of their own choice.
class AddressesIT {
    /// Below are the four gigabytes of 32-bit pointers, and the arenas of several languages' heaps.
    private static final long LOWEST = 0x1000_0000_0000L;

    @TempDir
    Path directory;

    @Test
    void shouldMapNothingAtLowAddresses() throws Exception {
        Dist.Outcome run = Dist.run(directory, Dist.preload("wait"), List.of("/bin/cat", "/proc/self/maps"));

        assertThat(run.text()).as("the JVM is there, with its cache").contains("/libjvm.so", "/agent.aot");
        assertThat(run.text().lines().filter(AddressesIT::isLow)).isEmpty();
    }

    private static boolean isLow(String line) {
        return Long.compareUnsigned(Long.parseUnsignedLong(line.substring(0, line.indexOf('-')), 16), LOWEST) < 0;
    }
}
