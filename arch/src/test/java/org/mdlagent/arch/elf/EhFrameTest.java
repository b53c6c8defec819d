package org.mdlagent.arch.elf;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EhFrameTest {
    private static final List<String> REGISTERS = List.of(
            "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
            "r15");

    /// What readelf prints of one description: the CFA from each of these addresses on.
    private record Printed(long start, long end, TreeMap<Long, String> rows) {}

    static Stream<Path> programs() {
        Path program = Programs.cpp("-O2", "-g");
        return Stream.concat(
                Programs.system().stream(),
                Stream.of(
                        program,
                        Programs.changed(program, "strip"),
                        Programs.cpp("-O0", "-no-pie"),
                        Programs.cpp("-O3", "-fno-omit-frame-pointer", "-finstrument-functions"),
                        Programs.cpp("-O2", "-mcmodel=large", "-fPIC"),
                        Programs.cpp("-O2", "-no-pie", "-fno-pic", "-fno-dwarf2-cfi-asm"),
                        Programs.cpp("-O2", "-no-pie", "-fno-pic", "-fno-dwarf2-cfi-asm", "-mcmodel=large"),
                        Programs.everyCfaInstruction(),
                        Programs.small("-O2", "-static"),
                        Programs.small("-O2", "-static", "-Wl,--no-eh-frame-hdr"),
                        Programs.small("-O2", "-Wl,--no-ld-generated-unwind-info")));
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldAgreeWithReadelfOnEveryRange(Path program) throws IOException {
        List<Printed> expected = readelf(program);
        assertThat(expected).isNotEmpty();
        try (ElfFile file = ElfFile.open(program)) {
            EhFrame frames = requireNonNull(file.ehFrame());
            List<String> read = new ArrayList<>();
            for (int i = 0; i < frames.size(); i++) {
                read.add(Long.toHexString(frames.start(i)) + "+" + frames.length(i));
            }
            assertThat(read)
                    .containsExactlyElementsOf(expected.stream()
                            .map(range -> Long.toHexString(range.start) + "+" + (range.end - range.start))
                            .toList());
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldAgreeWithReadelfOnTheRuleAtEveryRow(Path program) throws IOException {
        List<Long> addresses = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        for (Printed range : readelf(program)) {
            for (long address = range.start; address < range.end; address++) {
                // The first and the last address of each row: there the rule changes.
                boolean edge = address == range.start
                        || address == range.end - 1
                        || range.rows.containsKey(address)
                        || range.rows.containsKey(address + 1);
                if (edge) {
                    addresses.add(address);
                    expected.add(range.rows.floorEntry(address).getValue());
                }
            }
        }
        try (ElfFile file = ElfFile.open(program)) {
            EhFrame frames = requireNonNull(file.ehFrame());
            CfaRule[] rules =
                    frames.cfaAt(addresses.stream().mapToLong(Long::longValue).toArray());
            List<String> wrong = new ArrayList<>();
            for (int i = 0; i < rules.length; i++) {
                if (!print(rules[i]).equals(expected.get(i))) {
                    wrong.add(Long.toHexString(addresses.get(i)) + " " + rules[i] + " not " + expected.get(i));
                }
                if (i % 97 == 0) {
                    assertThat(frames.cfaAt(addresses.get(i))).isEqualTo(rules[i]);
                }
            }
            assertThat(wrong).isEmpty();
        }
    }

    @Test
    void shouldFindNoRangeOutsideOfCode() throws IOException {
        try (ElfFile file = ElfFile.open(Programs.cpp("-O2", "-g"))) {
            EhFrame frames = requireNonNull(file.ehFrame());
            assertThat(frames.containing(0)).isEqualTo(-1);
            assertThat(frames.cfaAt(0)).isEqualTo(CfaRule.Undescribed.NO_RANGE);
            long end = frames.start(frames.size() - 1) + frames.length(frames.size() - 1);
            assertThat(frames.containing(end)).isEqualTo(-1);
            assertThat(frames.containing(end - 1)).isEqualTo(frames.size() - 1);
        }
    }

    @Test
    void shouldReadTheSameWithoutSectionHeaders() throws IOException {
        Path program = Programs.cpp("-O2", "-g");
        try (ElfFile file = ElfFile.open(program);
                ElfFile bare = ElfFile.open(Programs.withoutSections(program))) {
            assertThat(requireNonNull(bare.ehFrame()).size())
                    .isEqualTo(requireNonNull(file.ehFrame()).size());
            long pc = file.symbols().start(file.symbols().size() / 2);
            assertThat(requireNonNull(bare.ehFrame()).cfaAt(pc))
                    .isEqualTo(new CfaRule.RegisterOffset(Machine.X86_64.stackPointer(), 8));
        }
    }

    @Test
    void shouldRefuseARangeThatReachesOutOfItsDescription() throws IOException {
        assertThat(problems((words, common, first) -> words.putInt(first, 8)))
                .containsOnlyOnce("a range inside its description in .eh_frame");
    }

    @Test
    void shouldRefuseARangeOfTwoGigabytes() throws IOException {
        assertThat(problems((words, common, first) -> {
                    int encoding = common + 16; // behind "zR", both alignments, the return address and a length
                    assertThat(words.get(encoding)).isEqualTo((byte) 0x1B);
                    words.put(encoding, (byte) 0x04); // eight bytes
                    words.putLong(first + 8, 16);
                    words.putLong(first + 16, 1L << 31);
                }))
                .contains("a range shorter than 2 GiB in .eh_frame");
    }

    private interface Damage {
        /// @param common position of the first common entry
        /// @param first  position of the first description
        void to(ByteBuffer words, int common, int first);
    }

    /// What is wrong with ranges of a damaged file.
    private static List<String> problems(Damage damage) throws IOException {
        Path program = Programs.cpp("-O2", "-g");
        byte[] bytes = Files.readAllBytes(program);
        ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int common;
        try (ElfFile file = ElfFile.open(program)) {
            common = (int) requireNonNull(file.section(".eh_frame")).offset();
        }
        int first = common + 4 + words.getInt(common);
        damage.to(words, common, first);
        EhFrame damaged = requireNonNull(ElfFile.of("damaged", bytes).ehFrame());
        List<String> problems = new ArrayList<>();
        for (int i = 0; i < damaged.size(); i++) {
            try {
                damaged.length(i);
            } catch (ElfFormatException e) {
                problems.add(e.expected());
            }
        }
        return problems;
    }

    private static String print(CfaRule rule) {
        if (rule instanceof CfaRule.RegisterOffset known) {
            return REGISTERS.get(known.register()) + (known.offset() < 0 ? "" : "+") + known.offset();
        }
        return rule == CfaRule.Undescribed.EXPRESSION ? "exp" : rule.toString();
    }

    private static List<Printed> readelf(Path program) {
        List<Printed> ranges = new ArrayList<>();
        Map<String, String> initial = new HashMap<>();
        String cie = "";
        Printed range = null;
        boolean wanted = true;
        for (String line : Programs.print("readelf", "--debug-dump=frames-interp", "-W", program.toString())) {
            String[] words = line.trim().split("\\s+", -1);
            if (line.startsWith("Contents of the ")) {
                wanted = line.contains(".eh_frame ");
            }
            if (!wanted || words.length < 2) {
                continue;
            }
            if (words.length > 3 && words[3].equals("CIE")) {
                cie = words[0].replaceFirst("^0+(?=.)", "");
                range = null;
            } else if (words.length > 3 && words[3].equals("FDE")) {
                String[] bounds = words[5].substring("pc=".length()).split("\\.\\.", -1);
                range = new Printed(
                        Long.parseUnsignedLong(bounds[0], 16), Long.parseUnsignedLong(bounds[1], 16), new TreeMap<>());
                String of = words[4].substring("cie=".length()).replaceFirst("^0+(?=.)", "");
                range.rows.put(range.start, initial.get(of));
                ranges.add(range);
            } else if (words[0].matches("[0-9a-f]{16}")) {
                if (range == null) {
                    initial.put(cie, words[1]);
                } else {
                    range.rows.put(Long.parseUnsignedLong(words[0], 16), words[1]);
                }
            }
        }
        ranges.removeIf(printed -> printed.start == printed.end);
        ranges.sort(Comparator.comparingLong(Printed::start));
        return ranges;
    }
}
