package org.mdlagent.fastinst.install;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.mdlagent.arch.site.SiteKind;

class ProbedFunctionTest {
    private final ProbedFunction function =
            new ProbedFunction(new ProbedImage("program", "", ""), 0x1234, 8, 8, Tier.EXACT, false);

    @Test
    void shouldKeepEntriesAndExitsApartInTheirOrder() {
        assertThat(function.entries()).isEmpty();
        function.add(5, SiteKind.ENTRY);
        function.add(3, SiteKind.EXIT);
        function.add(4, SiteKind.FUNCTION);
        function.add(9, SiteKind.EXIT);

        assertThat(function.entries()).containsExactly(5, 4);
        assertThat(function.exits()).containsExactly(3, 9);
    }

    @Test
    void shouldRemoveWhatIsGoneAndSayWhetherItWas() {
        function.add(5, SiteKind.ENTRY);
        function.add(6, SiteKind.ENTRY);
        function.add(7, SiteKind.EXIT);

        assertThat(function.remove(site -> site == 8)).isFalse();
        assertThat(function.remove(site -> site == 5 || site == 7)).isTrue();
        assertThat(function.entries()).containsExactly(6);
        assertThat(function.exits()).isEmpty();
    }
}
