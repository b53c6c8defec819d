package org.mdlagent.runtime.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.SplittableRandom;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FunctionGlobTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        parse                 | parse                     | true
        parse                 | parser                    | false
        parse*                | parser                    | true
        p?rse                 | parse                     | true
        p?rse                 | prse                      | false
        *                     | anything(int)             | true
        ns::f                 | ns::f(int, char)          | true
        ns::f                 | ns::f(int (*)(char))      | true
        ns::f(int)            | ns::f(int)                | true
        ns::f(int)            | ns::f(char)               | false
        ns::*                 | ns::f()                   | true
        f                     | ns::f()                   | false
        operator!=            | operator!=(A, B)          | true
        f                     | f.constprop.0             | true
        f                     | f.isra.0.constprop.1      | true
        f                     | f.part.0                  | true
        ns::f                 | ns::f(int) [clone .isra.0] | true
        ns::f(int)            | ns::f(int) [clone .isra.0] | true
        f.constprop.1         | f.constprop.0             | false
        f                     | f.other                   | false
        app!parse             | parse                     | true
        other!parse           | parse                     | false
        app!ns::f             | ns::f(int)                | true
        /opt/bin/*!parse      | parse                     | true
        bin/app!parse         | parse                     | true
        in/app!parse          | parse                     | false
        x.cpp:parse           | parse                     | true
        y.cpp:parse           | parse                     | false
        src/x.cpp:*           | parse                     | true
        /home/*/x.cpp:parse   | parse                     | true
        x.cpp:ns::f           | ns::f(int)                | true
        """)
    void shouldMatch(String glob, String name, boolean expected) {
        assertThat(FunctionGlob.of(glob).matches("/opt/bin/app", "/home/me/src/x.cpp", name))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "app!", "x.cpp:"})
    void shouldRefuseAnEmptyPart(String glob) {
        assertThatThrownBy(() -> FunctionGlob.of(glob))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("IMAGE!FUNCTION");
    }

    @Test
    void shouldNeedTheFileOnlyWhenThePatternNamesOne() {
        assertThat(FunctionGlob.of("x.c:f").needsFile()).isTrue();
        assertThat(FunctionGlob.of("ns::f").needsFile()).isFalse();
        assertThat(FunctionGlob.of("app!f").needsFile()).isFalse();
    }

    @Test
    void shouldNotMatchAFileThatIsNotKnown() {
        assertThat(FunctionGlob.of("x.c:f").matches("app", "", "f")).isFalse();
    }

    @Test
    void shouldAgreeWithRegularExpressions() {
        SplittableRandom random = new SplittableRandom(3);
        int matched = 0;
        for (int i = 0; i < 100_000; i++) {
            String pattern = text(random, "ab*?", 6);
            String text = text(random, "ab", 8);
            String regex = pattern.replace("*", ".*").replace("?", ".");
            boolean expected = Pattern.matches(regex, text);
            matched += expected ? 1 : 0;
            assertThat(FunctionGlob.matches(pattern, text))
                    .as("%s in %s", pattern, text)
                    .isEqualTo(expected);
        }
        assertThat(matched).isBetween(1_000, 99_000);
    }

    private static String text(SplittableRandom random, String alphabet, int lengthMax) {
        StringBuilder text = new StringBuilder();
        for (int length = random.nextInt(lengthMax + 1); length > 0; length--) {
            text.append(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        return text.toString();
    }
}
