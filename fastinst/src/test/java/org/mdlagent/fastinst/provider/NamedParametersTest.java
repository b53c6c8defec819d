package org.mdlagent.fastinst.provider;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NamedParametersTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "f()",
                "f(void)",
                "ns::C::f(int, char const*) const",
                "ns::C::f(int, long, bool, unsigned char) volatile &&",
                "f(double, double, double, float, double, double, double, double)",
                "f(int (*)(int, int, int, int, int, int, int))",
                "f(int (*(*)(int))(char), std::map<int, C>&)",
                "f(int C::*, void (C::*)(int))",
                "f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int)",
                "f(std::vector<void (*)(int), A>, ns::C<(ns::E)1>&)",
                "C::operator()(int) const",
                "operator<<(std::ostream&, ns::C const&)",
                "void f<int, ns::C>(int, ns::C*)",
                "(anonymous namespace)::f(int)",
                "f(int)::{lambda(ns::C)#1}::operator()(char) const",
                "f[abi:cxx11](int)",
                "f(__int128)",
            })
    void shouldKnowThatAllAreInRegisters(String name) {
        assertThat(NamedParameters.inRegisters(name)).isTrue();
    }

    /// Seven words with the two that names do not tell, classes that may be in memory, and what is no list of
    /// parameters.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "f",
                "vtable for C",
                "()",
                "f(int, int, int, int, int)",
                "f(int, __int128, __int128)",
                "f(int, int, int, void (C::*)(int))",
                "f(double, double, double, double, double, double, double, double, double)",
                "f(long double)",
                "f(long double _Complex)",
                "f(int, ...)",
                "f(...)",
                "f(ns::C)",
                "f(ns::C<int*>)",
                "f(ns::C<void (*)(int)>)",
                "f(ns::C<int&>, int)",
                "f(float __vector(8))",
                "f(std::pair<long, long>)",
                "void (*f(ns::C))(char)",
                "void (*f<int>(int, ns::C))(char)",
                "C::operator ns::D*(ns::C)",
                "f(int) [clone .isra.0]",
                "f(C<&(ns::operator>(int))>)",
                "f(int>)",
                "f(int))",
            })
    void shouldNotKnow(String name) {
        assertThat(NamedParameters.inRegisters(name)).isFalse();
    }
}
