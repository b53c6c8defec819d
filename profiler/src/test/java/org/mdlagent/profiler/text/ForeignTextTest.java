package org.mdlagent.profiler.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ForeignTextTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 7, 0x1B, 0x7F, 0x9B, 0x9D, 0x200E, 0x2028, 0x202E, 0x2066, 0xD800, 0xE0041})
    void shouldReplaceWhatControlsATerminalOrTheOrderOfALine(int codePoint) {
        String text = "a" + Character.toString(codePoint) + "b";

        assertThat(ForeignText.printable(text)).isEqualTo("a?b");
        assertThat(ForeignText.printableLines(text)).isEqualTo("a?b");
    }

    @Test
    void shouldLeaveLettersOfAnyScriptAsTheyAre() {
        String text = "std::map<Straße, 名前, عربي, 😀>";

        assertThat(ForeignText.printable(text)).isEqualTo(text);
        assertThat(ForeignText.printableLines(text)).isEqualTo(text);
    }

    @Test
    void shouldKeepLinesAndTabsWhereTheTextHasSeveralLines() {
        assertThat(ForeignText.printableLines("a\tb\nc\rd")).isEqualTo("a\tb\nc?d");
        assertThat(ForeignText.printable("a\tb\nc")).isEqualTo("a?b?c");
    }
}
