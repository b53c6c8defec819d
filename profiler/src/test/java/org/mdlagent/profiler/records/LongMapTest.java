package org.mdlagent.profiler.records;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LongMapTest {
    @Test
    void shouldFindWhatWasPutAndNothingElse() {
        SplittableRandom random = new SplittableRandom(7);
        LongMap<Long> map = new LongMap<>(1 << 20);
        Map<Long, Long> truth = new HashMap<>();
        for (long i = 0; i < 50_000; i++) {
            // Addresses lie close together, and 0 is one of the keys.
            long key = random.nextLong(100_000) << random.nextInt(2) * 5;
            if (map.get(key) == null) {
                map.put(key, i);
                truth.put(key, i);
            }
        }

        truth.forEach((key, value) -> assertThat(map.get(key)).isEqualTo(value));
        for (long key = 1; key < 100_000; key += 2) {
            assertThat(map.get(key)).isEqualTo(truth.get(key));
        }
    }

    @Test
    void shouldMakeRoomForTheNextWhenItIsFull() {
        LongMap<String> map = new LongMap<>(2);
        map.put(1, "one");
        map.put(2, "two");
        map.put(3, "three");

        assertThat(map.get(1)).isNull();
        assertThat(map.get(3)).isEqualTo("three");
    }
}
