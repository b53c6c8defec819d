package org.mdlagent.runtime.cli.names;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class DemanglerTest {
    static final Path LIBRARY = Path.of("../native-shim/target/cmake/libmdldemangle.so");

    private final Demangler demangler = new Demangler(LIBRARY);

    @Test
    void shouldWriteNamesAsPeopleDo() {
        assertThat(demangler.demangle("_ZNSt6vectorIiSaIiEE9push_backEOi"))
                .isEqualTo("std::vector<int, std::allocator<int> >::push_back(int&&)");
        assertThat(demangler.demangle("_Znonsense")).isEqualTo("_Znonsense");
        assertThat(demangler.demangle("main")).isEqualTo("main");
    }

    /// Each pair has the one before as both of its types, so the name of the last has some 10^13 bytes.
    @Test
    void shouldKeepASymbolWhoseNameWouldNotFit() {
        StringBuilder symbol = new StringBuilder("_Z1fSt4pairIiiE");
        for (int i = 0; i < 40; i++) {
            String before = "S" + Integer.toString(i, 36).toUpperCase(Locale.ROOT) + "_";
            symbol.append("S_I").append(before).append(before).append('E');
        }
        String huge = symbol.toString();

        assertThat(demangler.demangle(huge)).isEqualTo(huge);
        assertThat(demangler.demangle(huge.substring(0, "_Z1fSt4pairIiiES_IS0_S0_E".length())))
                .isEqualTo("f(std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<int, int> >)");
    }

    @Test
    void shouldKeepEverySymbolWhereTheLibraryIsMissing() {
        assertThat(new Demangler(Path.of("/nowhere/libmdldemangle.so")).demangle("_Z1fv"))
                .isEqualTo("_Z1fv");
    }
}
