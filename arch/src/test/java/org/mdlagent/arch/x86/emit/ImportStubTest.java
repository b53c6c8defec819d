package org.mdlagent.arch.x86.emit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.x86.find.EntryReader;

/// Bytes are those of GNU as: `printf 'call *0x20(%%rip)' | as -o o - && objdump -d o`.
class ImportStubTest {
    private static final long AT = 0x1000;

    @Test
    void shouldBeginWithASiteAndGoOnAtTheTarget() {
        byte[] stub = InstructionSet.host().stubs().importStub(AT, 0x1122334455667788L);

        assertThat(HexFormat.of().formatHex(stub))
                .startsWith(
                        "6666666690" // data16 data16 data16 xchg %ax,%ax
                                + "ff2505000000") // jmp *0x5(%rip)
                .contains("8877665544332211");
        assertThat(stub).hasSize(InstructionSet.host().stubs().importStubSize());
        assertThat(EntryReader.form(stub)).isEqualTo(SiteInstruction.Form.NOP);
        assertThat(EntryReader.length(SiteInstruction.Form.NOP, stub)).isEqualTo(ImportStub.SITE_LENGTH);
    }

    @ParameterizedTest
    @CsvSource({
        "ff1520000000,       1026, false, call *0x20(%rip)",
        "ff2520000000,       1026, false, jmp *0x20(%rip)",
        "f2ff2520000000,     1027, false, bnd jmp *0x20(%rip)",
        "488b0520000000,     1027, true,  'mov 0x20(%rip),%rax'",
        "ff3520000000,       1026, true,  push 0x20(%rip)",
        "48833d2000000000,   1028, true,  'cmpq $0,0x20(%rip)'",
        "48813d2000000000010000, 102b, true, 'cmpq $0x100,0x20(%rip)'",
    })
    void shouldTellWhetherCodeLoadsAWordOrOnlyCallsThroughIt(
            String code, String word, boolean loaded, String instruction) {
        long address = Long.parseLong(word, 16);

        assertThat(InstructionSet.host()
                        .search()
                        .loaded(HexFormat.of().parseHex(code), AT, Set.of(address, address + 0x1000))
                        .contains(address))
                .as(instruction)
                .isEqualTo(loaded);
    }
}
