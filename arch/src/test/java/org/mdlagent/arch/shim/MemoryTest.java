package org.mdlagent.arch.shim;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MemoryTest {
    private static final int ROOM = 256;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment segment = arena.allocate(ROOM, Long.BYTES);
    private final byte[] expected = new byte[ROOM];

    MemoryTest() {
        new Random(1).nextBytes(expected);
        MemorySegment.copy(expected, 0, segment, ValueLayout.JAVA_BYTE, 0, ROOM);
    }

    @AfterEach
    void free() {
        arena.close();
    }

    @Test
    void shouldReadBytesAtEveryAlignment() {
        for (int from = 0; from < 17; from++) {
            for (int length = 0; length <= 150; length++) {
                assertThat(Memory.copy(segment.address() + from, length))
                        .isEqualTo(Arrays.copyOfRange(expected, from, from + length));
            }
            assertThat(Memory.getByte(segment.address() + from)).isEqualTo(expected[from]);
        }
    }

    @Test
    void shouldWriteBytesAtEveryAlignmentAndNoOthers() {
        byte[] fresh = new byte[ROOM];
        new Random(2).nextBytes(fresh);
        for (int from = 0; from < 17; from++) {
            for (int length = 0; length <= 150; length++) {
                MemorySegment.copy(expected, 0, segment, ValueLayout.JAVA_BYTE, 0, ROOM);
                Memory.put(segment.address() + from, Arrays.copyOf(fresh, length));

                byte[] wanted = expected.clone();
                System.arraycopy(fresh, 0, wanted, from, length);
                assertThat(segment.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(wanted);
            }
        }
    }

    @Test
    void shouldWriteLongsOfAnArray() {
        long[] longs = new Random(3).longs(ROOM / Long.BYTES).toArray();
        for (int count = 0; count < longs.length; count++) {
            segment.fill((byte) 0);
            Memory.put(segment.address() + Long.BYTES, longs, 1, count);

            long[] wanted = new long[longs.length];
            System.arraycopy(longs, 1, wanted, 1, count);
            assertThat(segment.toArray(ValueLayout.JAVA_LONG)).isEqualTo(wanted);
        }
    }
}
