package org.mdlagent.runtime.cli.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.cli.terminal.CommandFailure;

class ResourceListingTest {
    private static final List<String> PATHS = List.of(
            "/Code/a.c",
            "/Code/a.c/main",
            "/Code/a.c/read_\u001b[31mred",
            "/Code/b.cc",
            "/Code/b.cc/operator/(int)",
            "/Thread/4711",
            "/Thread/4712");

    private static String listing(@Nullable String pattern, boolean tree) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ResourceListing.of(pattern, PATHS).print(new PrintStream(out, true, StandardCharsets.UTF_8), tree);
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void shouldBeATreeOnATerminal() {
        assertThat(listing(null, true)).isEqualTo("""
                /Code
                  a.c
                    main
                    read_?[31mred
                  b.cc
                    operator/(int)
                /Thread
                  4711
                  4712
                """);
    }

    @ParameterizedTest
    @CsvSource({
        "/Thread,       /Thread/4711 /Thread/4712",
        "/Thread/*,     /Thread/4711 /Thread/4712",
        "/Thread/*2,    /Thread/4712",
        "/Code/a.c,     /Code/a.c /Code/a.c/main /Code/a.c/read_?[31mred",
        "/Code/*,       /Code/a.c /Code/b.cc",
        "/Code/*/m*,    /Code/a.c/main",
        "/Code/b.cc/operator/*, /Code/b.cc/operator/(int)",
    })
    void shouldBeAPathALineElsewhere(String pattern, String paths) {
        assertThat(listing(pattern, false).lines()).containsExactly(paths.split(" "));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        /Code/a.h | the program has no /Code/a.h                      | did you mean '/Code/a.c'?
        /Cod/a.c  | there is no hierarchy /Cod, did you mean '/Code'? | as in /Code/aof.c or '/Code/*/read*'
        Code      | a resource is given as /HIERARCHY/..., not as Code | as in /Code/aof.c or '/Code/*/read*'
        """)
    void shouldSayWhatToTypeWhenNothingIsMeant(String pattern, String message, String remedy) {
        assertThatThrownBy(() -> ResourceListing.of(pattern, PATHS))
                .hasMessage(message)
                .isInstanceOfSatisfying(
                        CommandFailure.class,
                        failure -> assertThat(failure.remedy()).isEqualTo(remedy));
    }
}
