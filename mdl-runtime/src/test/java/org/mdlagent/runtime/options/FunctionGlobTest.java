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
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
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
        f                     | ns::f()                   | true
        s                     | ns::f()                   | false
        parse                 | ns::Parser::parse(int)    | true
        Parser::parse         | ns::Parser::parse(int)    | true
        Parser::parse(int)    | ns::Parser::parse(int)    | true
        Parser::parse(char)   | ns::Parser::parse(int)    | false
        Parser                | ns::Parser::parse(int)    | false
        ser::parse            | ns::Parser::parse(int)    | false
        par*                  | ns::Parser::parse(int)    | true
        parse                 | bool ns::P<A::B>::parse<C::D>(int (*)(E::F)) const | true
        P::parse              | bool ns::P<A::B>::parse<C::D>(int (*)(E::F)) const | true
        P<A::B>::parse        | ns::P<A::B>::parse(int)   | true
        B                     | ns::P<A::B>::parse(int)   | false
        D                     | void f<C::D>()            | false
        f                     | void f<C::D>()            | true
        f                     | (anonymous namespace)::f() | true
        operator!=            | ns::operator!=(A, B)      | true
        operator()            | ns::C::operator()(int) const | true
        C::operator()         | ns::C::operator()(int) const | true
        operator<<            | ns::S& ns::operator<< <char>(ns::S&, ns::C<D>&) | true
        operator<< *          | ns::S& ns::operator<< <char>(ns::S&, ns::C<D>&) | true
        operator->            | A<B>::operator->() const  | true
        operator int          | ns::C::operator int()     | true
        {lambda(int)#1}::operator() | f(A::B)::{lambda(int)#1}::operator()(int) const | true
        push_back             | std::vector<int, std::allocator<int> >::push_back(int&&) | true
        vector::push_back     | std::vector<int, std::allocator<int> >::push_back(int&&) | true
        generic               | a::generic::<*const [u8], for<'a> fn(&'a u8) -> bool> | true
        sum                   | <a::Gen<u8, 3>>::sum::<u32> | true
        Gen::sum              | <a::Gen<u8, 3>>::sum::<u32> | true
        area                  | <a::Sq as a::Shape>::area | true
        Sq::area              | <a::Sq as a::Shape>::area | true
        Shape                 | <a::Sq as a::Shape>::area | false
        main                  | a::main::{closure#0}      | false
        main::{closure#0}     | a::main::{closure#0}      | true
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

    @ParameterizedTest
    @CsvSource({"f, true", "f*, false", "?, false", "app!f, false", "ns::f, true"})
    void shouldTellNamesFromPatterns(String text, boolean expected) {
        assertThat(FunctionGlob.of(text).isName()).isEqualTo(expected);
        assertThat(FunctionGlob.isPattern(text)).isEqualTo(text.contains("*") || text.contains("?"));
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

    /// Names are what a file says: brackets need not pair.
    @Test
    void shouldReadAnyName() {
        SplittableRandom random = new SplittableRandom(18);
        FunctionGlob glob = FunctionGlob.of("f*(");
        int matched = 0;
        for (int i = 0; i < 100_000; i++) {
            matched += glob.matches("", "", text(random, "<>(){}: f->", 14)) ? 1 : 0;
        }
        assertThat(matched).isBetween(100, 99_000);
    }

    @Test
    void shouldMeanANameOfCAsItIs() {
        SplittableRandom random = new SplittableRandom(4);
        int matched = 0;
        for (int i = 0; i < 100_000; i++) {
            String pattern = text(random, "aZ_$9*?", 6);
            String name = text(random, "aZ_$9+", 8);
            boolean expected = FunctionGlob.matches(pattern, name);
            matched += expected ? 1 : 0;
            assertThat(FunctionGlob.meansName(pattern, name))
                    .as("%s means %s", pattern, name)
                    .isEqualTo(expected);
        }
        assertThat(matched).isBetween(100, 99_000);
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
