package org.mdlagent.arch.shim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Symbols of rustc 1.95, with the names that `c++filt` of binutils 2.40 gives them, without hashes of crates and types
/// of constants: `nm -D librustc_driver-*.so | grep -o '_R.*' | c++filt`. All 101,655 of that library were compared.
class RustNameTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        _RNvCs6xxl1lAjzDf_1a4main | a::main
        _RNvCs6xxl1lAjzDf_1au9gre_6ka8i | a::größe
        _RINvCs6xxl1lAjzDf_1a3cstKca_Kb0_Kx2540be3ff_EB2_ | a::cst::<'\\n', false, 9999999999>
        _RINvCs6xxl1lAjzDf_1a3cstKcf6_Kb1_Kxn5_EB2_ | a::cst::<'ö', true, -5>
        _RINvCs6xxl1lAjzDf_1a5applyNCNCNvB2_4mains4_00EB2_ | a::apply::<a::main::{closure#6}::{closure#0}>
        _RINvMs_NtNtCs6xxl1lAjzDf_1a4deep5innerINtB5_3GenhKj3_E3summEB9_ | <a::deep::inner::Gen<u8, 3>>::sum::<u32>
        _RINvCs6xxl1lAjzDf_1a7genericFG0_RL1_hRL0_hRL1_hERL1_hRDNtNtNtNtCsgEmfK2I1SDS_4core4iter6traits8iterator8Iteratorp4ItemmEL_EB2_ | a::generic::<for<'a, 'b> fn(&'a u8, &'b u8, &'a u8) -> &'a u8, &dyn core::iter::traits::iterator::Iterator<Item = u32>>
        _RINvCs6xxl1lAjzDf_1a7genericFUKChEuFK6systemEThEEB2_ | a::generic::<unsafe extern "C" fn(u8), extern "system" fn() -> (u8,)>
        _RINvCs6xxl1lAjzDf_1a7genericPShFG_QL0_StTafEEbEB2_ | a::generic::<*const [u8], for<'a> fn(&'a mut [u16], (i8, f32)) -> bool>
        _RINvCs6xxl1lAjzDf_1a7genericReINtNtCsgEmfK2I1SDS_4core6option6OptionINtNtCslNYArtu3iFV_5alloc5boxed3BoxDNtNtNtB2_4deep5inner5ShapeNtNtBx_6marker4SendEL_EEEB2_ | a::generic::<&str, core::option::Option<alloc::boxed::Box<dyn a::deep::inner::Shape + core::marker::Send>>>
        _RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placeINtNtCslNYArtu3iFV_5alloc3vec3VecINtNtBL_5boxed3BoxDINtNtNtB4_3ops8function6FnOnceuEp6OutputuNtNtB4_6marker4SendEL_EEECs6xxl1lAjzDf_1a | core::ptr::drop_in_place::<alloc::vec::Vec<alloc::boxed::Box<dyn core::ops::function::FnOnce<(), Output = ()> + core::marker::Send>>>
        _RNvXs1_NtCsfoXig8kEbyV_12simd_adler324hashAhj1_NtB7_11Adler32Hash4hash | <[u8; 1] as simd_adler32::Adler32Hash>::hash
        _RNvXs1g_NtCsgEmfK2I1SDS_4core3fmtRRNtNtNtCsjrHSEGnQ3l9_3std3ffi6os_str5OsStrNtB6_5Debug3fmtBD_ | <&&std::ffi::os_str::OsStr as core::fmt::Debug>::fmt
        _RNSNvYNCINvNtCsjrHSEGnQ3l9_3std2rt10lang_startuE0INtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceuE9call_once6vtableCs6xxl1lAjzDf_1a.llvm.7157233908516497071 | <std::rt::lang_start<()>::{closure#0} as core::ops::function::FnOnce<()>>::call_once::{shim:vtable#0}
        _RNvNvNtCslNYArtu3iFV_5alloc3fmt6format12format_inner.cold | alloc::fmt::format::format_inner.cold
        """)
    void shouldReadNewSymbols(String symbol, String name) {
        assertThat(RustName.of(symbol)).isEqualTo(name);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        a::main::h0123456789abcdef | a::main
        a::gr$uf6$$udf$e::hc7c50af9b239d634 | a::größe
        a::deep::inner::Gen$LT$T$C$_$GT$::sum::hba4712c9222daaff | a::deep::inner::Gen<T,_>::sum
        _$LT$a..Sq$u20$as$u20$a..Shape$GT$::area::h0123456789abcdef | <a::Sq as a::Shape>::area
        a::b$odd$::h0123456789abcdef | a::b$odd$
        ns::Parser::parse(int) | ns::Parser::parse(int)
        hash::h0123456789abcdeg | hash::h0123456789abcdeg
        """)
    void shouldReadOldSymbols(String demangled, String name) {
        assertThat(OldRustName.of(demangled)).isEqualTo(name);
    }

    @ParameterizedTest
    @CsvSource({
        "main",
        "_Z1fv",
        "_R",
        "_Read",
        "_RNvC1a",
        "_RNvC1a9main",
        "_RB_",
        "_RNvB_1a",
        "_RINvC1a1fB3_E",
        "_RINvC1a1fKj00_E",
        "_RINvC1a1fRL0_hE",
        "_RINvC1a1fFGzzzzzzzzzz_EuE",
        "_RINvC1a1fKcd800_E",
        "_RNvC1au3a_b",
        "_RNvC1a4maintrailing",
        "_RNvC1a99999999999999999999main",
        "_RNvCszzzzzzzzzzzzzzzz_1a4main"
    })
    void shouldReadNothingElse(String symbol) {
        assertThat(RustName.of(symbol)).isNull();
    }

    @Test
    void shouldBoundWhatHostileSymbolsCost() {
        assertThat(RustName.of("_R" + "N".repeat(100_000))).isNull();
        assertThat(RustName.of("_RINvC1a1f" + "R".repeat(100_000) + "hE")).isNull();
        // Each tuple is twice the one before.
        StringBuilder doubling = new StringBuilder("INvC1a1fThhE");
        int last = 8;
        for (int i = 0; i < 60; i++) {
            String back = "B" + base62(last);
            last = doubling.length();
            doubling.append('T').append(back).append(back).append('E');
        }
        assertThat(RustName.of("_R" + doubling + "E")).isNull();
    }

    /// Whatever bytes are changed, nothing is thrown, and what is printed is bounded.
    @Test
    void shouldReadAnything() {
        List<String> symbols = new ArrayList<>(List.of(
                "_RINvCs6xxl1lAjzDf_1a7genericFG0_RL1_hRL0_hRL1_hERL1_hRDNtNtNtNtCsgEmfK2I1SDS_4core4iter6traits8iterator"
                        + "8Iteratorp4ItemmEL_EB2_",
                "_RINvMs_NtNtCs6xxl1lAjzDf_1a4deep5innerINtB5_3GenhKj3_E3summEB9_",
                "_RNvCs6xxl1lAjzDf_1au9gre_6ka8i",
                "_RINvCs6xxl1lAjzDf_1a3cstKcf6_Kb1_Kxn5_EB2_"));
        Random random = new Random(2603);
        String letters = "CMXYNIBTRQPOFDASGLKUEpnsu_0123456789abchjz";
        int read = 0;
        for (int i = 0; i < 200_000; i++) {
            StringBuilder symbol = new StringBuilder(symbols.get(i % symbols.size()));
            for (int changes = random.nextInt(4); changes >= 0; changes--) {
                int at = 2 + random.nextInt(symbol.length() - 2);
                char c = letters.charAt(random.nextInt(letters.length()));
                switch (random.nextInt(3)) {
                    case 0 -> symbol.setCharAt(at, c);
                    case 1 -> symbol.insert(at, c);
                    default -> symbol.delete(at, Math.min(symbol.length(), at + 1 + random.nextInt(3)));
                }
                if (symbol.length() < 4) {
                    break;
                }
            }
            String name = RustName.of(symbol.toString());
            read += name == null ? 0 : 1;
            assertThat(name == null ? 0 : name.length()).isLessThanOrEqualTo(8192);
        }
        assertThat(read).isBetween(1_000, 199_000);
    }

    private static String base62(int value) {
        return value == 0 ? "_" : digits(value - 1) + "_";
    }

    private static String digits(int value) {
        String digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        String last = String.valueOf(digits.charAt(value % 62));
        return value < 62 ? last : digits(value / 62) + last;
    }
}
