package org.mdlagent.arch.snippet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.shim.Memory;

class PositionTableTest {
    private final Arena arena = Arena.ofShared();
    private final SplittableRandom random = new SplittableRandom(20_261_126);
    private long allocated;

    @AfterEach
    void free() {
        arena.close();
    }

    private PositionTable table(boolean direct) {
        return new PositionTable(this::allocate, direct);
    }

    private long allocate(long bytes) {
        allocated += bytes;
        return arena.allocate(bytes, Long.BYTES).address();
    }

    /// What generated code does.
    private static long find(PositionTable table, long number) {
        Expression.Position position = table.of(new Expression.Constant(number));
        long at = Memory.getLong(position.table());
        if (position.direct()) {
            long index = number - Memory.getLong(at + PositionTableDescriptor.LOWEST);
            return Long.compareUnsigned(index, Memory.getLong(at + PositionTableDescriptor.COUNT)) < 0
                    ? Memory.getLong(at + PositionTableDescriptor.ENTRIES + index * Long.BYTES)
                    : 0;
        }
        long first = PositionTableDescriptor.firstPlace(
                number,
                Memory.getLong(at + PositionTableDescriptor.MULTIPLIER),
                Memory.getLong(at + PositionTableDescriptor.MASK));
        for (int place = 0; place < PositionTableDescriptor.PLACES; place++) {
            long entry =
                    at + PositionTableDescriptor.ENTRIES + first + (long) place * PositionTableDescriptor.ENTRY_SIZE;
            if (Memory.getLong(entry) == number) {
                return Memory.getLong(entry + PositionTableDescriptor.POSITION);
            }
        }
        return 0;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFindWhatIsThereAndNothingElse(boolean direct) {
        PositionTable table = table(direct);
        LongSupplier number = direct
                ? () -> random.nextInt(-3000, 8000)
                : () -> random.nextInt(8) == 0
                        ? random.nextInt(-2, 3)
                        : 0x7000_0000_0000L + 64L * random.nextInt(20_000);
        Map<Long, Long> expected = new HashMap<>();
        long position = 0;
        for (int i = 0; i < 60_000; i++) {
            long one = number.getAsLong();
            if (expected.containsKey(one) && random.nextInt(3) == 0) {
                table.remove(one);
                expected.remove(one);
            } else if (!expected.containsKey(one)) {
                table.add(one, ++position);
                expected.put(one, position);
            }
            long other = number.getAsLong();
            assertThat(find(table, other)).isEqualTo(expected.getOrDefault(other, 0L));
        }
        assertThat(expected).hasSizeGreaterThan(3000);
        expected.forEach((one, at) -> assertThat(find(table, one)).isEqualTo(at));
        assertThat(allocated).isLessThan(16 << 20);
    }

    @Test
    void shouldRefuseDirectNumbersThatLieFarApart() {
        PositionTable table = table(true);
        table.add(5, 1);
        assertThatThrownBy(() -> table.add(1L << 40, 2))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a direct vector reaches over 65536 numbers, not from 0 to 1099511627776: write"
                        + " 'vector hashed'");
        assertThatThrownBy(() -> table.add(Long.MIN_VALUE, 2)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> table.add(Long.MAX_VALUE, 2)).isInstanceOf(IllegalArgumentException.class);
        assertThat(find(table, 5)).isEqualTo(1);
        assertThat(find(table, 1L << 40)).isZero();
    }

    /// A thread that looks all the time while numbers come.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldKeepWhatIsKnownWhileOthersAreAdded(boolean direct) throws Exception {
        PositionTable table = table(direct);
        table.add(7, 1);
        table.add(0, 2);
        long[] wrong = {0};
        boolean[] end = {false};
        Thread reader = new Thread(() -> {
            while (!isSet(end)) {
                if (find(table, 7) != 1 || find(table, 0) != 2 || find(table, -5) != 0) {
                    wrong[0]++;
                }
            }
        });
        reader.start();
        for (int i = 10; i < 30_000; i++) {
            table.add(i, i);
        }
        synchronized (end) {
            end[0] = true;
        }
        reader.join();
        assertThat(wrong[0]).isZero();
    }

    private static boolean isSet(boolean[] flag) {
        synchronized (flag) {
            return flag[0];
        }
    }
}
