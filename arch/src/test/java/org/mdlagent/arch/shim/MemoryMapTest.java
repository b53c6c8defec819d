package org.mdlagent.arch.shim;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MemoryMapTest {
    private static final String TEXT = """
            55d0f0a4e000-55d0f0a50000 r--p 00000000 fe:00 1234                       /usr/bin/a program
            55d0f0a50000-55d0f0a55000 r-xp 00002000 fe:00 1234                       /usr/bin/a program
            55d0f0a55000-55d0f0a56000 rw-p 00007000 fe:00 1234                       /usr/bin/a programs
            55d0f1a4e000-55d0f1a6f000 rw-p 00000000 00:00 0                          [heap]
            7f0000000000-7f0000021000 ---p 00000000 00:00 0\s
            7f0000021000-7f0000022000 r-xp ab000000 00:01 2067                       /memfd:mdl-text (deleted)
            ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
            """;

    private static MemoryMap of(String text) {
        return MemoryMap.of(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void shouldReadRegionsOfUserSpace() {
        assertThat(of(TEXT).regions())
                .containsExactly(
                        new MemoryMap.Region(0x55d0f0a4e000L, 0x55d0f0a50000L, false, 0, "/usr/bin/a program"),
                        new MemoryMap.Region(0x55d0f0a50000L, 0x55d0f0a55000L, false, 0x2000, "/usr/bin/a program"),
                        new MemoryMap.Region(0x55d0f0a55000L, 0x55d0f0a56000L, true, 0x7000, "/usr/bin/a programs"),
                        new MemoryMap.Region(0x55d0f1a4e000L, 0x55d0f1a6f000L, true, 0, ""),
                        new MemoryMap.Region(0x7f0000000000L, 0x7f0000021000L, false, 0, ""),
                        new MemoryMap.Region(
                                0x7f0000021000L, 0x7f0000022000L, false, 0xab000000L, "/memfd:mdl-text (deleted)"));
    }

    @Test
    void shouldFindTheRegionOfAnAddress() {
        MemoryMap map = of(TEXT);

        assertThat(map.at(0x55d0f0a50000L)).isEqualTo(map.regions().get(1));
        assertThat(map.at(0x55d0f0a54fffL)).isEqualTo(map.regions().get(1));
        assertThat(map.at(0x55d0f0a56000L)).isNull();
        assertThat(map.at(0)).isNull();
        assertThat(of("").at(0)).isNull();
    }

    @Test
    void shouldReadWhatTheKernelSaysOfThisProcess() throws Exception {
        List<String> paths = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            if (line.contains("libjvm.so")) {
                paths.add(line.substring(line.indexOf('/')));
            }
        }

        assertThat(paths).isNotEmpty();
        assertThat(MemoryMap.read().regions().stream()
                        .map(MemoryMap.Region::path)
                        .filter(path -> path.contains("libjvm.so")))
                .isEqualTo(paths);
    }

    @Test
    void shouldSurviveWhateverStandsThere() {
        byte[] text = TEXT.getBytes(StandardCharsets.UTF_8);
        for (int seed = 0; seed < 10_000; seed++) {
            Random random = new Random(seed);
            byte[] bytes = Arrays.copyOf(text, random.nextInt(text.length));
            for (int i = random.nextInt(8); i > 0 && bytes.length > 0; i--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            assertThat(MemoryMap.of(bytes).regions().size()).as("seed %d", seed).isLessThanOrEqualTo(16);
        }
    }
}
