package org.mdlagent.arch.elf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Damaged files: each is read in full or refused with [ElfFormatException], in bounded time.
///
/// `-Dmdl.fuzz.cases=N` sets the number of cases, `-Dmdl.fuzz.seed=S` where they start.
class ElfFuzzTest {
    private static final int CASES = Integer.getInteger("mdl.fuzz.cases", 24_000);
    private static final long SEED = Long.getLong("mdl.fuzz.seed", 1);
    private static final long NANOS_MAX = 5_000_000_000L;

    private static final long[] AWKWARD = {
        0,
        1,
        2,
        0x7f,
        0xff,
        0xffff,
        0x7fff_ffffL,
        0x8000_0000L,
        0xffff_ffffL,
        0x1_0000_0000L,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        -1,
        -8
    };

    /// A file, and the parts where counts, sizes and offsets stand: half of the damage is done there.
    private record Victim(byte[] bytes, List<Section> parts) {}

    @Test
    void shouldReadOrRefuseDamagedFiles() throws IOException {
        readAllCases();
    }

    @Tag("timing")
    @Test
    void shouldTakeLittleTimeForEach() throws IOException {
        long longest = readAllCases();
        System.out.printf("the longest took %,d ms%n", longest / 1_000_000);
        assertThat(longest).isLessThan(NANOS_MAX);
    }

    /// How long the slowest case took, in nanoseconds.
    private static long readAllCases() throws IOException {
        long longest = 0;
        List<Victim> victims = new ArrayList<>();
        for (Path program : List.of(
                Programs.small("-O1", "-g"),
                Programs.small("-O1", "-gdwarf-4", "-gz=zlib", "-no-pie"),
                Programs.changed(Programs.small("-O1", "-rdynamic", "-Wl,--hash-style=sysv"), "strip"),
                Programs.withoutSections(Programs.small("-O1", "-rdynamic")))) {
            victims.add(victim(program));
        }
        int read = 0;
        int refused = 0;
        for (int i = 0; i < CASES; i++) {
            long seed = SEED + i;
            SplittableRandom random = new SplittableRandom(seed);
            byte[] damaged = damage(victims.get((int) (seed % victims.size())), random);
            long before = System.nanoTime();
            try (ElfFile file = ElfFile.of("damaged", damaged)) {
                if (readAll(file) == 0) {
                    read++;
                } else {
                    refused++;
                }
            } catch (ElfFormatException e) {
                assertThat(e.file()).isEqualTo("damaged");
                refused++;
            } catch (RuntimeException | Error e) {
                throw new AssertionError("case with seed " + seed, e);
            }
            longest = Math.max(longest, System.nanoTime() - before);
        }
        assertThat(read).isGreaterThan(CASES / 20);
        assertThat(refused).isGreaterThan(CASES / 20);
        return longest;
    }

    private interface Reading {
        void read() throws ElfFormatException;
    }

    /// Reads all there is; returns how many of the parts were refused.
    private static int readAll(ElfFile file) {
        return refusals(
                () -> assertThat(file.buildId())
                        .satisfiesAnyOf(
                                id -> assertThat(id).isNull(),
                                id -> assertThat(id).matches("([0-9a-f]{2})*")),
                file::sections,
                () -> {
                    SymbolTable symbols = file.symbols();
                    for (int i = 0; i < symbols.size(); i++) {
                        assertThat(symbols.name(i).length()).isNotNegative();
                        assertThat(symbols.containing(symbols.start(i))).isEqualTo(i);
                        assertThat(symbols.containing(symbols.start(i) + symbols.length(i)))
                                .isBetween(-1, symbols.size() - 1);
                    }
                },
                () -> {
                    DynamicSection dynamic = file.dynamic();
                    if (dynamic != null) {
                        dynamic.soname();
                        assertThat(dynamic.imports().size())
                                .isLessThanOrEqualTo(dynamic.relocations().size());
                        assertThat(dynamic.slotsOf(Set.of("puts", "printf")).size())
                                .isLessThanOrEqualTo(dynamic.relocations().size());
                        assertThat(dynamic.defines("main") && dynamic.imports("main"))
                                .isFalse();
                    }
                },
                () -> {
                    EhFrame frames = file.ehFrame();
                    if (frames != null) {
                        long[] addresses = new long[frames.size()];
                        for (int i = 0; i < frames.size(); i++) {
                            addresses[i] = frames.start(i) + frames.length(i) / 2;
                        }
                        Arrays.sort(addresses);
                        assertThat(frames.cfaAt(addresses)).doesNotContainNull();
                    }
                },
                () -> {
                    DwarfLines lines = file.lines();
                    if (lines != null) {
                        long[] addresses = new long[4096];
                        for (int i = 0; i < addresses.length; i++) {
                            addresses[i] = file.entry() - 128 + i;
                        }
                        assertThat(lines.at(addresses)).allMatch(line -> line == null || line.line() > 0);
                    }
                });
    }

    private static int refusals(Reading... readings) {
        int refusals = 0;
        for (Reading reading : readings) {
            try {
                reading.read();
            } catch (ElfFormatException e) {
                refusals++;
            }
        }
        return refusals;
    }

    private static Victim victim(Path program) throws IOException {
        byte[] bytes = Files.readAllBytes(program);
        List<Section> parts = new ArrayList<>();
        try (ElfFile file = ElfFile.of("victim", bytes)) {
            assertThat(readAll(file)).isZero();
            ByteBuffer header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            parts.add(part(0, 64 + 56 * header.getShort(56)));
            if (header.getLong(40) != 0) {
                parts.add(part(header.getLong(40), 64L * header.getShort(60)));
            }
            for (Section section : file.sections()) {
                boolean code = List.of(".text", ".rodata", ".comment", "").contains(section.name());
                if (!code && section.type() != 8 && section.size() > 0) {
                    parts.add(section);
                }
            }
            for (Segment segment : file.segments()) {
                if (segment.type() == 2 || segment.type() == 4 || segment.type() == 0x6474e550) {
                    parts.add(part(segment.offset(), segment.fileSize()));
                }
            }
        }
        return new Victim(bytes, parts);
    }

    private static Section part(long offset, long size) {
        return new Section("", 1, 0, 0, offset, size, 0, 0);
    }

    private static byte[] damage(Victim victim, SplittableRandom random) {
        byte[] bytes = victim.bytes.clone();
        int kind = random.nextInt(10);
        if (kind == 0) {
            return Arrays.copyOf(bytes, random.nextInt(bytes.length));
        }
        int times = 1 + random.nextInt(kind < 5 ? 8 : 3);
        for (int i = 0; i < times; i++) {
            int start = 0;
            int length = bytes.length;
            if (random.nextInt(10) < 9) {
                Section part = victim.parts.get(random.nextInt(victim.parts.size()));
                start = (int) part.offset();
                length = (int) part.size();
            }
            int at = start + random.nextInt(length);
            if (kind < 5) {
                bytes[at] ^= (byte) (1 << random.nextInt(8));
            } else {
                int size = 1 << random.nextInt(4);
                long value = random.nextInt(4) == 0
                        ? bytes.length + random.nextInt(-9, 9)
                        : AWKWARD[random.nextInt(AWKWARD.length)];
                at -= (at - start) % size;
                for (int b = 0; b < size && at + b < bytes.length; b++) {
                    bytes[at + b] = (byte) (value >> 8 * b);
                }
            }
        }
        return bytes;
    }
}
