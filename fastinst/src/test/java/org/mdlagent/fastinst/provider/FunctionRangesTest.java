package org.mdlagent.fastinst.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.code.OffsetTable;
import org.mdlagent.arch.elf.EhFrame;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.LoadedImage;

/// Whatever order pieces of code are asked for in, the one around an offset is found.
class FunctionRangesTest {
    private static final Path PROGRAM = Path.of("/bin/bash");
    private static final long BIAS = 0x5555_0000_0000L;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, -1, 2, -2, 101, -101})
    void shouldFindThePieceAroundAnOffset(int step) throws IOException {
        try (ElfFile elf = ElfFile.open(PROGRAM)) {
            EhFrame frames = elf.ehFrame();
            assertThat(frames).isNotNull();
            OffsetTable functions = new OffsetTable();
            for (int i = 0; i < frames.size(); i += 2) {
                functions.put(frames.start(i), i);
            }

            FunctionRanges ranges = FunctionRanges.of(new LoadedImage(PROGRAM.toString(), BIAS, 0, 0), elf, functions);

            assertThat(ranges.size()).isGreaterThan(1000);
            int i = ranges.size() / 2;
            for (int count = 0; count < ranges.size(); count++) {
                FunctionRanges.Range range = ranges.get(i);
                FunctionRanges.Range next = i + 1 < ranges.size() ? ranges.get(i + 1) : null;
                FunctionRanges.Range after = next != null && next.start() == range.end() ? next : null;
                assertThat(ranges.around(range.start())).isEqualTo(range);
                assertThat(ranges.around(range.end() - 1)).isEqualTo(range);
                assertThat(ranges.around(range.end())).isEqualTo(after);
                assertThat(ranges.length(range.start())).isEqualTo(range.end() - range.start());
                assertThat(ranges.length(range.start() + 1)).isZero();
                assertThat(ranges.at(range.end() - 1)).isEqualTo(range.function());
                assertThat(range.function()).isEqualTo(functions.get(range.start(), FunctionRanges.NONE));
                i = Math.floorMod(i + step, ranges.size());
            }
        }
    }
}
