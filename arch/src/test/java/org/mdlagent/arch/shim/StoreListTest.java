package org.mdlagent.arch.shim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StoreListTest {
    /// More than one call of the shim takes.
    private static final int COUNT = 1500;

    private final long memory = Harness.API.allocate(COUNT * 2L * Long.BYTES);

    @Test
    void shouldMakeAllStoresByFewCallsInTheirOrder() {
        StoreList stores = new StoreList(10);
        for (int i = 0; i < COUNT; i++) {
            long at = memory + i * 2L * Long.BYTES;
            stores.add(at, StoreList.ALL, -1);
            stores.add(at, 0xFF_FFFF_0000L, 0x11_2233_0000L);
            stores.addByte(at + 1, (byte) 0xCC);
            stores.add(at + Long.BYTES, StoreList.ALL, i);
        }

        Harness.API.replaceAll(stores);

        for (int i = 0; i < COUNT; i++) {
            long at = memory + i * 2L * Long.BYTES;
            assertThat(Memory.getLong(at)).isEqualTo(0xFFFF_FF11_2233_CCFFL);
            assertThat(Memory.getLong(at + Long.BYTES)).isEqualTo(i);
        }
    }

    @Test
    void shouldLetAWriterOfTestsMakeThemOneByOne() {
        StoreList stores = new StoreList(0);
        stores.add(8, 0xFF00, 0x1200);
        stores.addByte(99, (byte) 0xCC);
        stores.add(16, StoreList.ALL, -1);
        List<String> made = new ArrayList<>();
        CodeWriter writer = new CodeWriter() {
            @Override
            public void store(long alias, long value, int size) {
                made.add("store %d %x %d".formatted(alias, value, size));
            }

            @Override
            public void replace(long alias, long mask, long value) {
                made.add("replace %d %x %x".formatted(alias, mask, value));
            }
        };

        writer.replaceAll(stores);
        stores.clear();
        writer.replaceAll(stores);

        assertThat(made)
                .containsExactly(
                        "replace 8 ff00 1200", "store 99 cc 1", "replace 16 ffffffffffffffff ffffffffffffffff");
    }

    @Test
    void shouldMakeNoStoreWhenThereIsNone() {
        StoreList stores = new StoreList(0);

        Harness.API.replaceAll(stores);

        assertThat(stores.isEmpty()).isTrue();
    }
}
