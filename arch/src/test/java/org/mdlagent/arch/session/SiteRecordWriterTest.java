package org.mdlagent.arch.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.SiteKind;

class SiteRecordWriterTest {
    private static final int SIZE = (int) SiteDescriptor.SIZE;
    private static final PatchPlan PLAN = PatchPlan.asItIs(0x7F11_2233_4400L, 7, 5, 0xCC_0203_04E9L, 0xFE_8948_5355L);

    @Test
    void shouldWriteAtOnceWhatItWritesFieldByField() {
        try (Arena arena = Arena.ofConfined()) {
            for (SiteKind kind : SiteKind.values()) {
                long one = arena.allocate(SIZE, Long.BYTES).address();
                long other = arena.allocate(SIZE, Long.BYTES).address();
                SiteRecordWriter fields = new SiteRecordWriter(one);
                fields.setToggle(0x6F00_0000_1234L, PLAN);
                fields.setFunction(0x5E00_0000_0010L);
                fields.setKind(kind);
                fields.setIndex(0x8765_4321);
                fields.setCode(0x7F11_2233_4400L);
                fields.setStub(0x7F11_0000_0040L);
                fields.setImage(0x8000_0008);
                fields.setOwner(0x5E00_0000_0020L);

                new SiteRecordWriter(other)
                        .create(
                                0x8765_4321,
                                kind,
                                0x6F00_0000_1234L,
                                PLAN,
                                0x7F11_2233_4400L,
                                0x7F11_0000_0040L,
                                0x8000_0008,
                                0x5E00_0000_0010L,
                                0x5E00_0000_0020L);

                assertThat(Memory.copy(other, SIZE)).as(kind.name()).isEqualTo(Memory.copy(one, SIZE));
            }
        }
    }
}
