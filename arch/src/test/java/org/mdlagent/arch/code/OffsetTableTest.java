package org.mdlagent.arch.code;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OffsetTableTest {
    private final OffsetTable table = new OffsetTable();

    @Test
    void shouldBeEmptyAtFirst() {
        assertThat(table.size()).isZero();
        assertThat(table.contains(0)).isFalse();
        assertThat(table.get(0, -7)).isEqualTo(-7);
    }

    @Test
    void shouldKeepWhatAMapKeepsInItsOrder() {
        Random random = new Random(1);
        Map<Long, Integer> map = new LinkedHashMap<>();
        for (int i = 0; i < 20_000; i++) {
            long offset = random.nextInt(30_000) * 16L - 64;
            map.put(offset, i - 5);
            table.put(offset, i - 5);
        }

        assertThat(table.size()).isEqualTo(map.size());
        List<Long> offsets = new ArrayList<>();
        List<Integer> numbers = new ArrayList<>();
        table.forEach((offset, number) -> {
            offsets.add(offset);
            numbers.add(number);
        });
        assertThat(offsets).containsExactlyElementsOf(map.keySet());
        assertThat(numbers).containsExactlyElementsOf(map.values());
        assertThat(table.number(7)).isEqualTo(numbers.get(7));
        for (long offset = -128; offset < 480_100; offset += 8) {
            assertThat(table.contains(offset)).isEqualTo(map.containsKey(offset));
            assertThat(table.get(offset, 1 << 20)).isEqualTo(map.getOrDefault(offset, 1 << 20));
        }
    }

    /// Mostly they are asked for in the order in which they came.
    @ParameterizedTest
    @ValueSource(ints = {0, 1, -1, 2, 7})
    void shouldFindOffsetsInAnyOrder(int step) {
        for (int i = 0; i < 1000; i++) {
            assertThat(table.contains(16L * i)).isFalse();
            table.put(16L * i, i);
        }
        int i = 500;
        for (int count = 0; count < 1000; count++) {
            assertThat(table.get(16L * i, -1)).isEqualTo(i);
            assertThat(table.get(16L * i + 8, -1)).isEqualTo(-1);
            table.put(16L * i, i + 1);
            assertThat(table.get(16L * i, -1)).isEqualTo(i + 1);
            table.put(16L * i, i);
            i = Math.floorMod(i + step, 1000);
        }
    }

    /// Of a program whose functions are of one size, or aligned.
    @ParameterizedTest
    @ValueSource(ints = {16, 32, 48, 64, 4096})
    void shouldSpreadOffsetsAtEqualDistances(int distance) {
        int bits = 18;
        BitSet slots = new BitSet(1 << bits);
        for (long i = 0; i < 100_000; i++) {
            slots.set(OffsetTable.firstSlot(0x49_5050 + i * distance, Long.SIZE - bits));
        }

        // By chance it would be 83,000.
        assertThat(slots.cardinality()).isGreaterThan(90_000);
    }

    @Test
    void shouldForgetAll() {
        table.put(32, 3);
        table.clear();

        assertThat(table.size()).isZero();
        assertThat(table.contains(32)).isFalse();
        table.put(48, 4);
        assertThat(table.get(48, 0)).isEqualTo(4);
        assertThat(table.get(32, 0)).isZero();
    }
}
