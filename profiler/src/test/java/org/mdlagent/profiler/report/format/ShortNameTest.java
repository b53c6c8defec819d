package org.mdlagent.profiler.report.format;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShortNameTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        20 | main                                         | main
        20 | f[abi:cxx11](int, char)                      | f(int, char)
        30 | std::map<int, A<B>>::at(int const&)          | std::map<…>::at(int const&)
        20 | std::map<int, A<B>>::at(int const&)          | std::map<…>::at(…)
        30 | ostream& operator<< <char>(ostream&, C<D>&)  | ostream& operator<< <…>(…)
        30 | C<int, char, long, short>::operator->() const | C<…>::operator->() const
        30 | C<int, char, long, short>::operator()(int, in) | C<…>::operator()(int, in)
        24 | bool operator< <A, B>(A const&, B const&)    | bool operator< <…>(…)
        12 | a_very_long_name_in_c                        | a_ver…e_in_c
        30 | <app::Sq<u8> as app::Shape<u8>>::area::<u8> | <app::Sq<…> as…<…>>::area::<…>
        45 | <app::Sq<u8> as app::Shape<u8>>::area::<u8> | <app::Sq<u8> as app::Shape<u8>>::area::<u8>
        40 | <app::Sq<u8> as app::Shape<u8>>::area::<u8> | <app::Sq<…> as app::Shape<…>>::area::<…>
        20 | app::run::<fn(u8) -> bool>                  | app::run::<…>
        10 | unpaired<(and_long                           | unpa…_long
        """)
    void shouldKeepWhatSaysMost(int width, String name, String expected) {
        assertThat(ShortName.of(name, width)).isEqualTo(expected);
    }

    @Test
    void shouldOfferPagesWhatTheTableChoosesFrom() {
        assertThat(ShortName.shorter("main")).isEmpty();
        assertThat(ShortName.shorter("A<B<C>>::f[abi:cxx11](int)"))
                .containsExactly("A<B<C>>::f(int)", "A<…>::f(int)", "A<…>::f(…)");
    }
}
