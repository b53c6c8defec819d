package org.mdlagent.arch.elf;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DwarfScopesTest {
    /// Addresses of a program's text that are compared: a prime, so that all kinds of places are met.
    private static final int STEP = 3;

    static Stream<Path> programs() {
        return Stream.of(
                Programs.cpp("-O2", "-gdwarf-4"),
                Programs.cpp("-O2", "-gdwarf-5"),
                Programs.cpp("-O2", "-gdwarf-5", "-gz=zlib", "-no-pie"),
                Programs.cpp("-O0", "-g"));
    }

    /// The functions that lead to each address, outermost first, and the lines of their calls.
    private static List<String> addr2line(Path program, List<Long> addresses) throws IOException {
        List<String> command = new ArrayList<>(List.of("addr2line", "-a", "-i", "-f", "-e", program.toString()));
        addresses.forEach(address -> command.add(Long.toHexString(address)));
        Process process = new ProcessBuilder(command).start();
        String[] words = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split("\n");
        List<String> paths = new ArrayList<>();
        List<String> names = new ArrayList<>();
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < words.length; i++) {
            if (words[i].startsWith("0x")) {
                if (i > 0) {
                    paths.add(path(names, lines));
                }
                names.clear();
                lines.clear();
            } else {
                names.add(words[i]);
                lines.add(words[++i].replaceAll(" \\(discriminator.*", "").replaceAll(".*:", ""));
            }
        }
        paths.add(path(names, lines));
        return paths;
    }

    /// @param names innermost first
    private static String path(List<String> names, List<String> lines) {
        StringBuilder path = new StringBuilder();
        for (int i = names.size() - 1; i >= 0; i--) {
            path.append(names.get(i)).append(i > 0 ? ":" + lines.get(i) + " " : "");
        }
        return path.toString();
    }

    private static String path(List<DwarfScopes.Call> calls) {
        StringBuilder path = new StringBuilder(calls.isEmpty() ? "??" : "");
        for (int i = 0; i < calls.size(); i++) {
            path.append(i > 0 ? ":" + calls.get(i).callLine() + " " : "")
                    .append(calls.get(i).function().name());
        }
        return path.toString();
    }

    private static String outermost(String path) {
        return path.split("[: ]")[0];
    }

    private static String inlined(String path) {
        return path.substring(outermost(path).length());
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldAgreeWithAddr2line(Path program) throws IOException {
        try (ElfFile file = ElfFile.open(program)) {
            DwarfScopes scopes = requireNonNull(file.scopes());
            Section text = requireNonNull(file.section(".text"));
            List<Long> addresses = new ArrayList<>();
            for (long at = text.address(); at < text.address() + text.size(); at += STEP) {
                if (!scopes.at(at).isEmpty()) {
                    addresses.add(at);
                }
            }
            assertThat(addresses).hasSizeGreaterThan(20);

            List<String> found = addresses.stream()
                    .map(scopes::at)
                    .map(DwarfScopesTest::path)
                    .toList();

            List<String> expected = addr2line(program, addresses);
            assertThat(expected).hasSameSizeAs(found);
            for (int i = 0; i < found.size(); i++) {
                // addr2line takes the outermost name from the symbol table: main.cold, _ZL3sum...
                assertThat(inlined(found.get(i))).isEqualTo(inlined(expected.get(i)));
                assertThat(outermost(expected.get(i))).contains(outermost(found.get(i)));
            }
            assertThat(addresses.stream().flatMap(at -> scopes.at(at).stream()))
                    .allSatisfy(call -> assertThat(call.function().line()).isPositive());
        }
    }

    @Test
    void shouldKnowNothingWithoutDebugInformation() throws IOException {
        try (ElfFile file = ElfFile.open(Programs.changed(Programs.cpp("-O2", "-g"), "strip"))) {
            assertThat(file.scopes()).isNull();
        }
    }
}
