package org.mdlagent.arch.x86.patch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.arch.site.DisplacementRule;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.SiteInstruction;

/// Bytes are of functions that Go 1.19 and 1.22 have compiled.
class GoEntryTest {
    private static final long AT = 0x48_53E0;
    private static final String CHECK = "49 3B 66 10 0F 86 0F 02 00 00 ";

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        49 3B 66 10 0F 86 0F 02 00 00 48 83 EC 28 48 89 6C 24 20 48 8D 6C 24 20 | 10 | 9 | FF000000 | 48000000
        49 3B 66 10 76 31 48 83 EC 18 48 89 6C 24 10 48 8D 6C 24 10 48 89       | 6  | 9 | FF000000 | 48000000
        49 3B 66 10 76 31 48 81 EC 90 00 00 00 48 89 AC 24 88 00 00 00          | 6  | 7 | 0        | 0
        4C 8D 64 24 E8 4D 3B 66 10 0F 86 01 02 00 00 48 83 C4 80 48 89 6C 24 78 | 15 | 9 | FF000000 | 48000000
        4C 8D A4 24 78 FF FF FF 4D 3B 66 10 76 31 48 81 EC 08 01 00 00 48 89 AC | 14 | 7 | 0        | 0
        49 3B 66 10 76 31 55 48 89 E5 48 83 EC 18 48 89 44 24 28 90 90          | 6  | 8 | FFFFFFFF | 48E58948
        """)
    void shouldBeginBehindTheCheckOfTheStack(String bytes, int behind, int length, String mask, String value) {
        EntryPuns.Checked checked = checked(bytes);

        assertThat(checked).isNotNull();
        assertThat(checked.pun().site())
                .isEqualTo(new SiteInstruction(
                        AT + behind, SiteInstruction.Form.INSTRUCTIONS, length, SiteInstruction.Role.COUNT_ALONE, AT));
        assertThat(checked.pun().rules())
                .isEqualTo(List.of(
                        new DisplacementRule(Integer.parseUnsignedInt(mask, 16), Integer.parseUnsignedInt(value, 16))));
    }

    @Test
    void shouldSayWhereTheCallerIs() {
        EntryPuns.Checked checked = checked("49 3B 66 10 76 31 55 48 89 E5 48 81 EC 90 00 00 00 90 90 90 90 90 90 90");

        assertThat(checked.rules().stream()
                        .map(rule -> rule.offset() + " " + HexFormat.of().formatHex(rule.instructions())))
                .containsExactly("0 0c0708", "1 0c0710", "4 0c0710");
    }

    @ParameterizedTest
    @CsvSource({
        "48 83 EC 18 48 89 6C 24 10 48 8D 6C 24 10, no check",
        CHECK + "48 8B 08 48 83 EC 28 48 89 6C 24 20, a load that may fault",
        CHECK + "48 83 EC 28 48 8B 08 48 89 6C 24 20, another",
        CHECK + "48 83 EC 28 48 89 08 90 90 90 90 90, a store that may fault",
        CHECK + "48 83 EC 28 E8 00 00 00 00 90 90 90, a call",
        CHECK + "48 83 EC D8 48 89 6C 24 20 48 8D 6C, a frame of negative size",
        "49 3B 66 18 0F 86 0F 02 00 00 48 83 EC 28 48 89 6C 24 20, another word",
        "49 3B 66 10 0F 87 0F 02 00 00 48 83 EC 28 48 89 6C 24 20, another condition"
    })
    void shouldLeaveOthersAlone(String bytes, String why) {
        assertThat(checked(bytes)).as(why).isNull();
    }

    @Test
    void shouldReadNothingBehindTheCode() {
        byte[] code =
                bytes("4C 8D A4 24 78 FF FF FF 4D 3B 66 10 0F 86 01 00 00 00 48 83 EC 28 48 89 AC 24 88 00 00 00");
        for (int length = 0; length < code.length; length++) {
            assertThat(new X86EntryPuns(8).checked(Arrays.copyOf(code, length), AT))
                    .isNull();
        }
        assertThat(new X86EntryPuns(8).checked(code, AT)).isNotNull();
    }

    private static EntryPuns.@Nullable Checked checked(String bytes) {
        // Code goes on behind what matters.
        byte[] code = bytes(bytes);
        return new X86EntryPuns(8).checked(Arrays.copyOf(code, code.length + 16), AT);
    }

    private static byte[] bytes(String text) {
        return HexFormat.ofDelimiter(" ").parseHex(text);
    }
}
