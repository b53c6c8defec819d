package org.mdlagent.arch.code;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.TrapDescriptor;
import org.mdlagent.arch.layout.TrapIndexDescriptor;
import org.mdlagent.arch.shim.Harness;
import org.mdlagent.arch.shim.Memory;

class TrapTableTest {
    private static final TrapTable TABLE = new TrapTable(Harness.API);

    /// As `mdl/layout.h` says, written once more: 0 when the address has no row.
    private static long lookUp(long address) {
        long index = Memory.getLongAcquire(Harness.API.session() + HeaderDescriptor.TRAPS);
        long mask = Memory.getLong(index + TrapIndexDescriptor.MASK);
        for (long slot = address * 0x9E3779B97F4A7C15L >>> 32 & mask; ; slot = slot + 1 & mask) {
            long row = Memory.getLongAcquire(index + TrapIndexDescriptor.ROWS + slot * 8);
            if (row == 0 || Memory.getLong(row + TrapDescriptor.ADDRESS) == address) {
                return row;
            }
        }
    }

    @Test
    void shouldFindEveryRowWhileTheIndexGrows() {
        SplittableRandom random = new SplittableRandom(1);
        Map<Long, Long> rows = new LinkedHashMap<>();
        for (int i = 0; i < 20_000; i++) {
            long address = 0x7F00_0000_0000L + random.nextLong(1L << 32);
            long row = TABLE.row(address);
            rows.put(address, row);
            if (Integer.bitCount(i) == 1) {
                rows.forEach((known, its) -> assertThat(lookUp(known)).isEqualTo(its));
            }
        }
        rows.forEach((address, row) -> {
            assertThat(lookUp(address)).isEqualTo(row);
            assertThat(TABLE.row(address)).as("one row for an address").isEqualTo(row);
        });
        assertThat(rows.values()).doesNotHaveDuplicates();
        assertThat(lookUp(0x1234)).isZero();
    }

    @Test
    void shouldFindTheRowsThatWereThereWhenRoomIsMadeForMore() {
        long row = TABLE.row(0x51_0000);
        TABLE.reserve(100_000);
        long slots = slots();

        assertThat(lookUp(0x51_0000)).isEqualTo(row);
        assertThat(slots).isGreaterThan(200_000);
        for (int i = 1; i <= 100_000; i++) {
            assertThat(TABLE.row(0x51_0000L + i)).isNotZero();
        }
        assertThat(slots()).as("no index was copied").isEqualTo(slots);
    }

    private static long slots() {
        long index = Memory.getLongAcquire(Harness.API.session() + HeaderDescriptor.TRAPS);
        return Memory.getLong(index + TrapIndexDescriptor.MASK) + 1;
    }

    @Test
    void shouldSayInOneWordWhatToDo() {
        long row = TABLE.row(0x40_0000);
        assertThat(Memory.getLong(row + TrapDescriptor.ACTION)).isZero();

        TABLE.publish(row, new Redirect.Jump(0x7FFF_FFFF_FFFFL).action());
        assertThat(Memory.getLong(row + TrapDescriptor.ACTION)).isEqualTo(0x0100_7FFF_FFFF_FFFFL);

        TABLE.publish(row, new Redirect.Call(0x1234_5678L, 6).action());
        assertThat(Memory.getLong(row + TrapDescriptor.ACTION)).isEqualTo(0x0206_0000_1234_5678L);

        TABLE.publish(row, new Redirect.Spin().action());
        assertThat(Memory.getLong(row + TrapDescriptor.ACTION)).isEqualTo(0x0300_0000_0000_0000L);

        TABLE.withdraw(row);
        assertThat(Memory.getLong(row + TrapDescriptor.ACTION)).isZero();
        assertThat(TABLE.hits(row)).isZero();
    }

    @Test
    void shouldRefuseTargetsThatAreNoAddresses() {
        long row = TABLE.row(0x40_0010);

        assertThatThrownBy(() -> TABLE.publish(row, new Redirect.Jump(-1).action()))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
