package org.mdlagent.fastinst.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.LoadedImage;

/// Whatever order functions are asked for in, the one around an address is found.
class LoadedRangesTest {
    private static final Path PROGRAM = Path.of("/bin/bash");
    private static final long BIAS = 0x5555_0000_0000L;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, -1, 2, -2, 101, -101})
    void shouldFindTheFunctionAroundAnAddress(int step) throws IOException {
        try (ElfFile elf = ElfFile.open(PROGRAM)) {
            LoadedRanges ranges = new LoadedRanges(new LoadedImage(PROGRAM.toString(), BIAS, 0, 0), elf);
            assertThat(ranges.size()).isGreaterThan(1000);
            int i = ranges.size() / 2;
            for (int count = 0; count < ranges.size(); count++) {
                long start = ranges.start(i);
                long end = start + ranges.length(i);
                long after = i + 1 < ranges.size() && ranges.start(i + 1) == end ? end : 0;
                assertThat(ranges.functionAround(start)).isEqualTo(start);
                assertThat(ranges.functionAround(end)).isEqualTo(after);
                assertThat(ranges.functionAround(end - 1)).isEqualTo(start);
                i = Math.floorMod(i + step, ranges.size());
            }
        }
    }
}
