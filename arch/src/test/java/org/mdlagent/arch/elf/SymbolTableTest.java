package org.mdlagent.arch.elf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SymbolTableTest {
    private record Symbol(long address, long size, String type, String binding, String name) {
        Symbol withoutVersion() {
            return new Symbol(address, size, type, binding, name.replaceFirst("(?<=.)@.*", ""));
        }
    }

    private static final List<String> STRONGEST_FIRST = List.of("GLOBAL", "UNIQUE", "WEAK", "LOCAL");

    static Stream<Path> programs() {
        Path program = Programs.cpp("-O2", "-g");
        return Stream.concat(
                Programs.system().stream(),
                Stream.of(
                        program,
                        Programs.changed(Programs.cpp("-O2", "-rdynamic"), "strip"),
                        Programs.cpp("-O0", "-no-pie"),
                        Programs.small("-O2", "-static"),
                        Programs.small("-O2", "-rdynamic", "-Wl,--hash-style=sysv"),
                        Programs.changed(program, "objcopy", "--only-keep-debug")));
    }

    /// The file with its symbols: some systems have them installed for what is stripped.
    private static Path holder(Path program) throws IOException {
        try (ElfFile file = ElfFile.open(program)) {
            ElfFile apart = file.section(".symtab") == null ? file.debugFile() : null;
            return apart == null ? program : Path.of(apart.name());
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldHoldTheFunctionsThatReadelfPrints(Path program) throws IOException {
        Map<Long, List<Symbol>> expected = new TreeMap<>();
        for (Symbol symbol : readelf(holder(program))) {
            expected.computeIfAbsent(symbol.address, address -> new ArrayList<>())
                    .add(symbol.withoutVersion());
        }
        assertThat(expected).isNotEmpty();

        try (ElfFile file = ElfFile.open(program)) {
            SymbolTable symbols = file.symbols();
            List<String> read = new ArrayList<>();
            for (int i = 0; i < symbols.size(); i++) {
                read.add(line(symbols.start(i), symbols.length(i), symbols.name(i), symbols.resolver(i)));
                assertThat(symbols.names(i))
                        .startsWith(symbols.name(i))
                        .containsExactlyInAnyOrderElementsOf(expected.get(symbols.start(i)).stream()
                                .map(Symbol::name)
                                .toList());
            }
            List<String> printed = new ArrayList<>();
            expected.forEach((address, aliases) -> {
                Symbol best = aliases.stream()
                        .min(Comparator.comparingInt(
                                        (Symbol s) -> "WEAK".equals(s.binding) ? 1 : "LOCAL".equals(s.binding) ? 2 : 0)
                                .thenComparingInt(s -> s.name.length()
                                        - s.name.replaceFirst("^_+", "").length())
                                .thenComparing(Symbol::name))
                        .orElseThrow();
                long size = aliases.stream().mapToLong(Symbol::size).max().orElseThrow();
                printed.add(line(address, size, best.name, best.type.equals("IFUNC")));
            });
            assertThat(read).containsExactlyElementsOf(printed);
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldTellOfNamesWithoutDecodingThem(Path program) throws IOException {
        try (ElfFile file = ElfFile.open(program)) {
            SymbolTable symbols = file.symbols();
            Set<String> some = new HashSet<>();
            for (int i = 0; i < symbols.size(); i += 3) {
                some.add(symbols.name(i));
            }
            int longest = some.stream().mapToInt(String::length).max().orElseThrow();
            for (int i = 0; i < symbols.size(); i++) {
                String name = symbols.name(i);
                assertThat(symbols.isNamed(i, some, longest)).as(name).isEqualTo(some.contains(name));
                assertThat(symbols.isNamed(i, some, name.length() - 1)).as(name).isFalse();
                assertThat(symbols.hasInside(i, '.')).as(name).isEqualTo(name.indexOf('.', 1) >= 0);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldTellWhatMayBeThereWithoutReadingIt(Path program) throws IOException {
        try (ElfFile file = ElfFile.open(program)) {
            assertThat(file.mentions("__cyg_profile_func_enter_absent")).isFalse();
            List<Symbol> symbols = readelf(program);
            for (int i = 0; i < symbols.size(); i += 97) {
                String name = symbols.get(i).name();
                assertThat(file.mentions(name)).as(name).isTrue();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldFindTheFunctionThatHoldsAnAddress(Path program) throws IOException {
        try (ElfFile file = ElfFile.open(program)) {
            SymbolTable symbols = file.symbols();
            int inside = 0;
            for (int i = 0; i < symbols.size(); i++) {
                long start = symbols.start(i);
                assertThat(symbols.at(start)).isEqualTo(i);
                assertThat(symbols.containing(start)).isEqualTo(i);
                for (long address : new long[] {start + 1, start + symbols.length(i) - 1, start + symbols.length(i)}) {
                    int expected = holder(symbols, address);
                    assertThat(symbols.containing(address)).isEqualTo(expected);
                    inside += expected == i ? 1 : 0;
                }
            }
            assertThat(inside).isGreaterThan(symbols.size());
            assertThat(symbols.containing(0)).isEqualTo(-1);
            assertThat(symbols.at(1)).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldFindFunctionsInAnyOrder(Path program) throws IOException {
        try (ElfFile file = ElfFile.open(program)) {
            SymbolTable symbols = file.symbols();
            for (int step : new int[] {1, -1, 2, -2, 7, -7, 0}) {
                int i = symbols.size() / 2;
                for (int count = 0; count < 3 * symbols.size(); count++) {
                    long start = symbols.start(i);
                    assertThat(symbols.at(start)).isEqualTo(i);
                    if (i + 1 == symbols.size() || symbols.start(i + 1) != start + 1) {
                        assertThat(symbols.at(start + 1)).isEqualTo(-1);
                    }
                    i = Math.floorMod(i + step, symbols.size());
                }
            }
        }
    }

    /// By the definition, with no search structure.
    private static int holder(SymbolTable symbols, long address) {
        for (int i = symbols.size() - 1; i >= 0; i--) {
            long distance = address - symbols.start(i);
            boolean last = distance >= 0 && (i + 1 == symbols.size() || symbols.start(i + 1) > address);
            if (distance == 0 || (last && symbols.length(i) == 0) || (distance > 0 && distance < symbols.length(i))) {
                return i;
            }
        }
        return -1;
    }

    @Test
    void shouldPreferGlobalNamesToWeakAndLocalOnes() throws IOException {
        try (ElfFile file = ElfFile.open(Programs.small("-O2"))) {
            SymbolTable symbols = file.symbols();
            List<String> names = new ArrayList<>();
            for (int i = 0; i < symbols.size(); i++) {
                names.add(symbols.name(i));
            }
            assertThat(names).contains("strong_name", "main").doesNotContain("weak_name", "local_name");
        }
    }

    @Test
    void shouldFindVariablesByTheirNames() throws IOException {
        Path program = Programs.small("-O2");
        String printed = new String(
                new ProcessBuilder("nm", "-S", program.toString())
                        .start()
                        .getInputStream()
                        .readAllBytes(),
                StandardCharsets.UTF_8);
        Matcher pointer = Pattern.compile("(?m)^(\\w+) (\\w+) D pointer$").matcher(printed);
        assertThat(pointer.find()).isTrue();

        try (ElfFile file = ElfFile.open(program)) {
            assertThat(file.symbols().variable("pointer"))
                    .isEqualTo(new SymbolTable.Variable(
                            Long.parseLong(pointer.group(1), 16), Long.parseLong(pointer.group(2), 16)));
            assertThat(file.symbols().variable("main")).isNull();
        }
    }

    @Test
    void shouldReadTheDynamicSymbolsWithoutSectionHeaders() throws IOException {
        for (String style : List.of("sysv", "gnu")) {
            Path program = Programs.small("-O2", "-rdynamic", "-Wl,--hash-style=" + style);
            try (ElfFile file = ElfFile.open(Programs.withoutSections(program));
                    ElfFile stripped = ElfFile.open(Programs.changed(program, "strip"))) {
                assertThat(file.sections()).isEmpty();
                SymbolTable symbols = file.symbols();
                assertThat(symbols.size()).isEqualTo(stripped.symbols().size()).isGreaterThanOrEqualTo(2);
                for (int i = 0; i < symbols.size(); i++) {
                    assertThat(symbols.name(i)).isEqualTo(stripped.symbols().name(i));
                    assertThat(symbols.start(i)).isEqualTo(stripped.symbols().start(i));
                }
            }
        }
    }

    @Test
    void shouldBeEmptyForAnImageWithoutSymbols() throws IOException {
        Path program = Programs.changed(Programs.small("-O2", "-static"), "strip");
        try (ElfFile file = ElfFile.open(program)) {
            assertThat(file.symbols().size()).isZero();
            assertThat(file.symbols().containing(file.entry())).isEqualTo(-1);
        }
    }

    private static String line(long address, long size, String name, boolean resolver) {
        return Long.toHexString(address) + " " + size + " " + name + (resolver ? " resolver" : "");
    }

    /// The defined functions of the last table that readelf prints: `.symtab` where there is one.
    private static List<Symbol> readelf(Path program) {
        List<Symbol> symbols = new ArrayList<>();
        boolean dynamic = false;
        for (String line : Programs.print("readelf", "-sW", program.toString())) {
            if (line.startsWith("Symbol table ")) {
                symbols.clear();
                dynamic = line.contains(".dynsym");
            }
            String[] words = line.trim().split("\\s+", 8);
            if (words.length == 8 && (words[3].equals("FUNC") || words[3].equals("IFUNC")) && !words[6].equals("UND")) {
                assertThat(STRONGEST_FIRST).contains(words[4]);
                String name = dynamic ? words[7].replaceFirst("@.*", "") : words[7];
                symbols.add(new Symbol(
                        Long.parseUnsignedLong(words[1], 16), Long.decode(words[2]), words[3], words[4], name));
            }
        }
        return symbols;
    }
}
