package org.mdlagent.arch.elf;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DynamicSectionTest {
    private static final Map<Integer, String> TYPES = Map.of(
            1, "R_X86_64_64",
            5, "R_X86_64_COPY",
            6, "R_X86_64_GLOB_DAT",
            7, "R_X86_64_JUMP_SLOT",
            8, "R_X86_64_RELATIVE",
            16, "R_X86_64_DTPMOD64",
            17, "R_X86_64_DTPOFF64",
            18, "R_X86_64_TPOFF64",
            36, "R_X86_64_TLSDESC",
            37, "R_X86_64_IRELATIVE");

    /// Of a symbol without a value, as readelf prints it.
    private static final Pattern VERSIONED_SLOT =
            Pattern.compile("R_X86_64_(?:JUMP_SLOT?|GLOB_DAT|64) +0+ +([^ @]+@[^ @]+) ");

    static Stream<Path> programs() {
        return Stream.concat(
                Programs.system().stream(),
                Stream.of(
                        Programs.cpp("-O2", "-g"),
                        Programs.cpp("-O2", "-no-pie"),
                        Programs.cpp("-O2", "-Wl,-z,now"),
                        Programs.small("-O2", "-rdynamic", "-Wl,--hash-style=sysv"),
                        Programs.small("-O2", "-fno-plt", "-Wl,-z,nodynamic-undefined-weak")));
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldHoldTheRelocationsThatReadelfPrints(Path program) throws IOException {
        try (ElfFile file = ElfFile.open(program)) {
            DynamicSection dynamic = requireNonNull(file.dynamic());
            List<String> read = new ArrayList<>();
            for (Relocation relocation : dynamic.relocations()) {
                read.add(line(relocation.address(), type(relocation.type()), relocation.symbol(), relocation.addend()));
            }
            assertThat(read).isNotEmpty().containsExactlyInAnyOrderElementsOf(readelf(program));
        }
    }

    @Test
    void shouldReadTheSameWithoutSectionHeaders() throws IOException {
        for (Path program : programs().toList()) {
            try (ElfFile file = ElfFile.open(program);
                    ElfFile bare = ElfFile.open(Programs.withoutSections(program))) {
                assertThat(requireNonNull(bare.dynamic()).relocations())
                        .isEqualTo(requireNonNull(file.dynamic()).relocations());
                assertThat(requireNonNull(bare.dynamic()).needed())
                        .isEqualTo(requireNonNull(file.dynamic()).needed());
                assertThat(bare.buildId()).isEqualTo(file.buildId());
            }
        }
    }

    @Test
    void shouldFindTheSlotsOfImportedFunctions() throws IOException {
        for (String style : List.of("-fplt", "-fno-plt")) {
            Path program = Programs.small("-O2", "-fno-builtin", "-fPIE", style);
            try (ElfFile file = ElfFile.open(program)) {
                DynamicSection dynamic = requireNonNull(file.dynamic());
                List<String> expected = readelf(program).stream()
                        .filter(line -> line.contains(" puts ") || line.contains(" printf "))
                        .toList();
                assertThat(expected).hasSizeGreaterThanOrEqualTo(2);
                assertThat(dynamic.slotsOf(Set.of("puts", "printf", "absent")))
                        .extracting(slot -> line(slot.address(), type(slot.type()), slot.symbol(), slot.addend()))
                        .containsExactlyInAnyOrderElementsOf(expected);
                assertThat(dynamic.slotsOf(Set.of("absent"))).isEmpty();
            }
        }
    }

    @Test
    void shouldKnowTheVersionsOfImports() throws IOException {
        for (Path program : List.of(Programs.cpp("-O2"), Programs.cpp("-O2", "-Wl,-z,now", "-fno-plt"))) {
            Set<String> expected = new TreeSet<>();
            for (String line : Programs.print("readelf", "-rW", program.toString())) {
                Matcher slot = VERSIONED_SLOT.matcher(line);
                if (slot.find()) {
                    expected.add(slot.group(1));
                }
            }
            assertThat(expected).hasSizeGreaterThan(2);
            try (ElfFile file = ElfFile.open(program)) {
                Set<String> found = new TreeSet<>();
                for (DynamicSection.Import imported :
                        requireNonNull(file.dynamic()).imports()) {
                    found.add(imported.slot().symbol() + "@" + imported.version());
                }
                found.removeIf(name -> name.endsWith("@"));
                assertThat(found).isEqualTo(expected);
            }
        }
    }

    @Test
    void shouldTellDefinitionsFromImports() throws IOException {
        try (ElfFile file = ElfFile.open(Programs.small("-O2", "-rdynamic"))) {
            DynamicSection dynamic = requireNonNull(file.dynamic());
            assertThat(dynamic.imports("printf")).isTrue();
            assertThat(dynamic.defines("printf")).isFalse();
            assertThat(dynamic.defines("strong_name")).isTrue();
            assertThat(dynamic.imports("strong_name")).isFalse();
            assertThat(dynamic.defines("local_name")).isFalse();
            assertThat(dynamic.imports("absent")).isFalse();
            assertThat(dynamic.needed()).containsExactly("libc.so.6");
            assertThat(dynamic.soname()).isNull();
        }
        try (ElfFile libc = ElfFile.open(Path.of("/lib/x86_64-linux-gnu/libc.so.6"))) {
            assertThat(requireNonNull(libc.dynamic()).soname()).isEqualTo("libc.so.6");
            assertThat(requireNonNull(libc.dynamic()).defines("malloc")).isTrue();
        }
    }

    @Test
    void shouldBeAbsentFromAStaticProgram() throws IOException {
        try (ElfFile file = ElfFile.open(Programs.small("-O2", "-static"))) {
            assertThat(file.dynamic()).isNull();
        }
    }

    private static String type(int number) {
        return requireNonNull(TYPES.get(number));
    }

    private static String line(long address, String type, String symbol, long addend) {
        return Long.toHexString(address) + " " + type + " " + symbol + " " + addend;
    }

    private static List<String> readelf(Path program) {
        List<String> lines = new ArrayList<>();
        boolean wanted = false;
        for (String line : Programs.print("readelf", "-rW", program.toString())) {
            if (line.startsWith("Relocation section")) {
                wanted = !line.contains(".relr");
            }
            String[] words = line.trim().split("\\s+", -1);
            if (!wanted || words.length < 4 || !words[2].startsWith("R_")) {
                continue;
            }
            String symbol = "";
            long addend;
            if (words.length == 4) {
                addend = Long.parseUnsignedLong(words[3], 16);
            } else {
                symbol = words[4].replaceFirst("@.*", "");
                addend = Long.parseUnsignedLong(words[6], 16) * (words[5].equals("-") ? -1 : 1);
            }
            lines.add(line(Long.parseUnsignedLong(words[0], 16), words[2], symbol, addend));
        }
        return lines;
    }
}
