package org.mdlagent.arch.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ElfFileTest {
    @Test
    void shouldListTheSegmentsThatReadelfPrints() throws IOException {
        for (Path program : SymbolTableTest.programs().toList()) {
            List<String> printed = new ArrayList<>();
            for (String line : Programs.print("readelf", "-lW", program.toString())) {
                String[] words = line.trim().split("\\s+", -1);
                if (words.length > 6 && words[0].equals("LOAD")) {
                    boolean executable = line.contains(" E 0x");
                    printed.add(words[1] + words[2] + words[4] + words[5] + (executable ? "E" : ""));
                }
            }
            try (ElfFile file = ElfFile.open(program)) {
                List<String> read = new ArrayList<>();
                for (Segment s : file.segments()) {
                    if (s.type() == 1) {
                        read.add(String.format(
                                "0x%06x0x%016x0x%06x0x%06x%s",
                                s.offset(), s.address(), s.fileSize(), s.memorySize(), s.executable() ? "E" : ""));
                    }
                }
                assertThat(read).isNotEmpty().isEqualTo(printed);
                assertThat(file.executableSegments()).isNotEmpty().allMatch(Segment::executable);
            }
        }
    }

    @Test
    void shouldListTheSectionsThatReadelfPrints() throws IOException {
        Path program = Programs.cpp("-O2", "-g");
        List<String> printed = new ArrayList<>();
        for (String line : Programs.print("readelf", "-SW", program.toString())) {
            String[] words = line.replaceFirst("^ *\\[ *\\d+\\]", "").trim().split("\\s+", -1);
            if (line.matches(" *\\[ *\\d+\\] .*") && words.length > 5 && words[0].startsWith(".")) {
                printed.add(words[0] + " " + words[2] + " " + words[3] + " " + words[4]);
            }
        }
        try (ElfFile file = ElfFile.open(program)) {
            List<String> read = new ArrayList<>();
            for (Section s : file.sections()) {
                if (!s.name().isEmpty()) {
                    read.add(String.format("%s %016x %06x %06x", s.name(), s.address(), s.offset(), s.size()));
                }
            }
            assertThat(read).hasSizeGreaterThan(20).isEqualTo(printed);
            assertThat(file.section(".text")).isNotNull();
            assertThat(file.section(".absent")).isNull();
        }
    }

    /// Also what lies at the end of what was read ahead, and across it; forwards, backwards and by leaps.
    @Test
    void shouldReadCodeInAnyOrder() throws IOException {
        Path library = Path.of("/lib/x86_64-linux-gnu/libc.so.6");
        byte[] bytes = Files.readAllBytes(library);
        try (ElfFile file = ElfFile.open(library)) {
            Segment text = file.executableSegments().getFirst();
            SplittableRandom random = new SplittableRandom(1);
            long at = 0;
            for (int i = 0; i < 20_000; i++) {
                long step = random.nextInt(64) == 0 ? random.nextLong(text.fileSize()) : random.nextLong(-600, 6000);
                at = Math.floorMod(at + step, text.fileSize());
                long length = Math.min(random.nextInt(6000), text.fileSize() - at);
                int offset = Math.toIntExact(text.offset() + at);
                assertThat(file.code(text.address() + at, length))
                        .isEqualTo(Arrays.copyOfRange(bytes, offset, offset + (int) length));
            }
        }
    }

    @Test
    void shouldReadTheBuildId() throws IOException {
        Path program = Programs.small("-O2", "-Wl,--build-id=0x0123456789abcdef");
        try (ElfFile file = ElfFile.open(program)) {
            assertThat(file.buildId()).isEqualTo("0123456789abcdef");
            assertThat(file.debugFile()).isNull();
        }
        try (ElfFile file = ElfFile.open(Programs.small("-O2", "-Wl,--build-id=none"))) {
            assertThat(file.buildId()).isNull();
        }
        for (Path library : Programs.system()) {
            String printed = Programs.print("readelf", "-nW", library.toString()).stream()
                    .filter(line -> line.contains("Build ID: "))
                    .map(line -> line.replaceFirst(".*Build ID: ", ""))
                    .findFirst()
                    .orElse(null);
            try (ElfFile file = ElfFile.open(library)) {
                assertThat(file.buildId()).isEqualTo(printed);
            }
        }
    }

    /// As packages and build systems strip programs.
    @ParameterizedTest
    @ValueSource(strings = {"", ".debug"})
    void shouldReadSymbolsAndLinesOfTheFileThatTheyWereMovedTo(String place, @TempDir Path directory) throws Exception {
        Path program = Programs.small("-O2", "-g", "-Wl,--build-id");
        Path debug = Files.createDirectories(directory.resolve(place)).resolve("program.debug");
        Path stripped = strip(program, debug, directory.resolve("program"));
        try (ElfFile whole = ElfFile.open(program);
                ElfFile file = ElfFile.open(stripped)) {
            assertThat(file.section(".symtab")).isNull();
            assertThat(names(file)).isEqualTo(names(whole)).contains("strong_name", "main");
            long main = whole.symbols().function("main");
            assertThat(lineAt(file, main)).isEqualTo(lineAt(whole, main)).isNotNull();
        }
    }

    @Test
    void shouldPassOverADebugFileOfAnotherBuildAndWhatIsNone(@TempDir Path directory) throws Exception {
        Path debug = directory.resolve("program.debug");
        Path stripped = strip(Programs.small("-O2", "-g", "-Wl,--build-id"), debug, directory.resolve("program"));
        Path other = Programs.small("-O1", "-g", "-Wl,--build-id");
        for (byte[] content : List.of(Files.readAllBytes(other), new byte[100], new byte[0])) {
            Files.write(debug, content);
            try (ElfFile file = ElfFile.open(stripped)) {
                assertThat(file.debugFile()).isNull();
                assertThat(names(file)).doesNotContain("strong_name");
                assertThat(file.lines()).isNull();
            }
        }
    }

    private static Path strip(Path program, Path debug, Path stripped) throws IOException {
        Programs.run("objcopy", "--only-keep-debug", program.toString(), debug.toString());
        Programs.run("objcopy", "--strip-all", "--add-gnu-debuglink=" + debug, program.toString(), stripped.toString());
        return stripped;
    }

    private static List<String> names(ElfFile file) throws IOException {
        SymbolTable symbols = file.symbols();
        return IntStream.range(0, symbols.size()).mapToObj(symbols::name).toList();
    }

    private static @Nullable SourceLine lineAt(ElfFile file, long address) throws IOException {
        return Objects.requireNonNull(file.lines()).at(new long[] {address})[0];
    }

    @Test
    void shouldTellProgramsAtFixedAddressesFromOthers() throws IOException {
        try (ElfFile fixed = ElfFile.open(Programs.cpp("-O0", "-no-pie"));
                ElfFile independent = ElfFile.open(Programs.small("-O2", "-fPIE", "-pie"))) {
            assertThat(fixed.positionIndependent()).isFalse();
            assertThat(independent.positionIndependent()).isTrue();
            assertThat(fixed.symbols().name(fixed.symbols().at(fixed.entry()))).isEqualTo("_start");
            assertThat(fixed.machine()).isEqualTo(Machine.X86_64);
        }
    }

    @Test
    void shouldSayWhatIsWrongAndWhere() throws IOException {
        byte[] bytes = Files.readAllBytes(Programs.small("-O2"));
        for (int[] change : new int[][] {{0, 0}, {4, 1}, {5, 2}, {6, 9}, {16, 1}, {18, 3}, {54, 1}, {58, 1}}) {
            byte[] changed = bytes.clone();
            changed[change[0]] = (byte) change[1];
            assertThatThrownBy(() -> ElfFile.of("changed", changed))
                    .isInstanceOfSatisfying(ElfFormatException.class, e -> {
                        assertThat(e.file()).isEqualTo("changed");
                        assertThat(e.offset()).isEqualTo(change[0]);
                        assertThat(e).hasMessageContaining(e.expected());
                    });
        }
        assertThatThrownBy(() -> ElfFile.of("empty", new byte[0])).isInstanceOf(ElfFormatException.class);
    }

    @Test
    void shouldReportAFileThatCannotBeRead() {
        assertThatThrownBy(() -> ElfFile.open(Path.of("/absent"))).isInstanceOf(FileNotFoundException.class);
    }

    @Test
    void shouldFollowTheEscapeForCountsThatDoNotFit() throws IOException {
        byte[] bytes = Files.readAllBytes(Programs.small("-O2"));
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int sections = (int) file.getLong(40);
        file.putInt(sections + 44, file.getShort(56)).putShort(56, (short) -1);
        file.putLong(sections + 32, file.getShort(60)).putShort(60, (short) 0);
        file.putInt(sections + 40, file.getShort(62)).putShort(62, (short) -1);
        try (ElfFile escaped = ElfFile.of("escaped", bytes);
                ElfFile plain = ElfFile.open(Programs.small("-O2"))) {
            assertThat(escaped.segments()).isEqualTo(plain.segments());
            assertThat(escaped.sections().size()).isEqualTo(plain.sections().size());
            assertThat(escaped.section(".text")).isEqualTo(plain.section(".text"));
        }
    }
}
