package org.mdlagent.runtime.cli.live;

import static org.assertj.core.api.Assertions.assertThat;

import org.jline.terminal.Size;
import org.junit.jupiter.api.Test;

class TopTerminalTest {
    @Test
    void shouldTakeTheUsualSizeWhereTheTerminalKnowsNone() {
        Size usual = Size.of(80, 24);

        assertThat(TopTerminal.usable(Size.of(0, 0))).isEqualTo(usual);
        assertThat(TopTerminal.usable(Size.of(120, 0))).isEqualTo(usual);
        assertThat(TopTerminal.usable(Size.of(120, 40))).isEqualTo(Size.of(120, 40));
    }
}
