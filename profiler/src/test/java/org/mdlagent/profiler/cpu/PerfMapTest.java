package org.mdlagent.profiler.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PerfMapTest {
    private final PerfMap map = new PerfMap();

    private void parse(String text) {
        map.parse(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void shouldTellTheNameOfCode() {
        parse("7f00 10 LazyCompile:~run a.js:1:2\n0x8000 0x20 stub\n");

        assertThat(map.at(0x7eff)).isNull();
        assertThat(map.at(0x7f00)).isEqualTo("LazyCompile:~run a.js:1:2");
        assertThat(map.at(0x7f0f)).isEqualTo("LazyCompile:~run a.js:1:2");
        assertThat(map.at(0x7f10)).isNull();
        assertThat(map.at(0x801f)).isEqualTo("stub");
    }

    /// Code that is made later takes the place of what was there.
    @Test
    void shouldBelieveTheLastLine() {
        parse("100 40 old\n120 10 new\n");

        assertThat(map.at(0x11f)).isEqualTo("old");
        assertThat(map.at(0x120)).isEqualTo("new");
        assertThat(map.at(0x130)).isNull();
    }

    @Test
    void shouldForgetWhatIsNotThereAnyMore() {
        parse("100 40 old\n");
        parse("200 40 new\n");

        assertThat(map.at(0x100)).isNull();
        assertThat(map.at(0x200)).isEqualTo("new");
    }

    @Test
    void shouldPassOverWhatIsNoLine() {
        parse("\n \nx y z\n100\n100 \n100 10\n100 10 \n0 10 zero\n-100 10 minus\n100 0 none\n"
                + "7fffffffffffffff 10 beyond\nfffffffffffffffff 1 long\n300 8 good");

        assertThat(map.at(0x100)).isNull();
        assertThat(map.at(0x300)).isEqualTo("good");
    }

    @Test
    void shouldCutNamesOfAnyLength() {
        parse("100 10 " + "x".repeat(100_000) + "\n");

        assertThat(map.at(0x100)).hasSize(512);
    }

    /// It may say anything: whoever writes it is not believed to be right.
    @Test
    void shouldReadAnyBytes() {
        SplittableRandom random = new SplittableRandom(7);
        byte[] letters = "0123456789abcdef  \n\nxX-".getBytes(StandardCharsets.UTF_8);
        int named = 0;
        for (int round = 0; round < 2_000; round++) {
            byte[] text = new byte[random.nextInt(200)];
            for (int i = 0; i < text.length; i++) {
                text[i] =
                        random.nextInt(20) == 0 ? (byte) random.nextInt(256) : letters[random.nextInt(letters.length)];
            }
            map.parse(text);
            for (int i = 0; i < 50; i++) {
                named += map.at(random.nextInt(4096)) == null ? 0 : 1;
            }
        }

        assertThat(named).isPositive();
    }
}
