package org.mdlagent.fastinst.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.StackUse.Reason;

/// What is found with known facts is what is found without.
class KnownFactsTest {
    /// Has functions of every kind: C, assembler, stack arguments, sibling calls, calls of libc.
    private static final Path FILE = Path.of("../native-shim/target/cmake/libmdl_harness.so");

    private static final NativeApi API = NativeApi.ofHarness(FILE);
    private static final InstructionSet INSTRUCTIONS = InstructionSet.ofAtomicUnit(64);

    /// A line for each function, and what was examined to make them.
    private record Found(List<String> lines, int pieces, ImageFacts facts) {}

    private static Found find(ElfFile elf, ImageFacts.Source source) throws IOException {
        try (StackArguments proof =
                new StackArguments(INSTRUCTIONS.search(), API::decode, API::demangle, known -> List.of())) {
            StackArguments.Image arguments = proof.add(elf, source);
            FunctionEntries entries = FunctionEntries.of(elf, INSTRUCTIONS.search(), arguments);
            List<String> lines = new ArrayList<>();
            lines.add(entries.coldParts() + " " + entries.runtime());
            for (int i = 0; i < entries.size(); i++) {
                EntryPuns.Fit fit = entries.entry(i, INSTRUCTIONS.puns(), API::decode, EntryPuns.Covered.TRAPS);
                lines.add(Long.toHexString(entries.start(i)) + " " + fit + " " + entries.countedFor(i));
            }
            int pieces = Objects.requireNonNull(elf.ehFrame()).size();
            return new Found(lines, pieces, Objects.requireNonNull(arguments.facts()));
        }
    }

    @Test
    void shouldFindWithKnownFactsWhatItFindsWithout() throws IOException {
        try (ElfFile elf = ElfFile.open(FILE);
                ElfFile again = ElfFile.open(FILE)) {
            long checksum = elf.checksum();
            Found first = find(elf, (of, pieces) -> new ImageFacts(checksum, pieces));
            byte[] bytes = first.facts.bytes();
            ImageFacts known = Objects.requireNonNull(ImageFacts.read(bytes, again.checksum(), first.pieces));
            Found second = find(again, (of, pieces) -> known);

            assertThat(first.lines).hasSizeGreaterThan(500);
            assertThat(second.lines).isEqualTo(first.lines);
            // Nothing was examined again.
            assertThat(known.haveGrown()).isFalse();
            assertThat(known.bytes()).isEqualTo(bytes);
        }
    }

    /// The broken twin: other facts make a difference.
    @Test
    void shouldUseTheKnownFacts() throws IOException {
        try (ElfFile elf = ElfFile.open(FILE);
                ElfFile again = ElfFile.open(FILE)) {
            Found first = find(elf, (of, pieces) -> new ImageFacts(1, pieces));
            ImageFacts wrong = new ImageFacts(1, first.pieces);
            for (int piece = 0; piece < first.pieces; piece++) {
                wrong.look(piece, Reason.VARIADIC, new int[0], List.of());
            }
            assertThat(find(again, (of, pieces) -> wrong).lines).isNotEqualTo(first.lines);
        }
    }

    @Test
    void shouldTellFilesApartByTheirContent() throws IOException {
        byte[] bytes = Files.readAllBytes(FILE);
        ElfFile elf = ElfFile.of("file", bytes);
        long checksum = elf.checksum();
        bytes[(int) elf.executableSegments().getFirst().offset() + 4096] ^= 1;
        assertThat(ElfFile.of("file", bytes).checksum()).isNotEqualTo(checksum);
    }
}
