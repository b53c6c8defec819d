package org.mdlagent.fastinst.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.StackUse.Reason;

/// The proof that functions need nothing on the stack, over a corpus whose names say which do: those of `takes_...`
/// must
/// never be proved.
class StackArgumentsTest {
    private static final NativeApi API = NativeApi.ofHarness(Path.of("../native-shim/target/cmake/libmdl_harness.so"));
    private static final InstructionSet INSTRUCTIONS = InstructionSet.ofAtomicUnit(64);
    private static final Path CORPUS = Path.of("src/test/stack");
    private static final String TAKES = "takes_";
    private static final String PLAIN = "plain_";

    /// Functions of each kind that each compiler makes of the corpus, at least.
    private static final int TAKERS_MIN = 4;

    @TempDir
    Path directory;

    /// @param proved  why each function is not proved, "" where it is
    /// @param alone   the same by its own code alone, as if nothing left by sibling calls
    private record Verdicts(Map<String, String> proved, Map<String, String> alone) {
        List<String> wrong(Map<String, String> which) {
            return which.entrySet().stream()
                    .filter(e -> e.getKey().contains(TAKES) && e.getValue().isEmpty())
                    .map(Map.Entry::getKey)
                    .toList();
        }

        long count(String kind) {
            return proved.keySet().stream().filter(name -> name.contains(kind)).count();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gcc corpus.c -O0",
                "gcc corpus.c -O1",
                "gcc corpus.c -O2",
                "gcc corpus.c -O3 -fcf-protection=none",
                "gcc corpus.c -Os",
                "gcc corpus.c -O2 -fno-omit-frame-pointer",
                "gcc corpus.c -O1 -fno-omit-frame-pointer -mno-red-zone",
                "gcc corpus.c -O2 -mstackrealign -fstack-clash-protection",
                "gcc corpus.c -O2 -maccumulate-outgoing-args -fno-plt",
                "clang corpus.c -O0",
                "clang corpus.c -O1",
                "clang corpus.c -O2",
                "clang corpus.c -O3 -fno-omit-frame-pointer",
                "clang corpus.c -Os -mstackrealign",
                "g++ corpus.cc -O0",
                "g++ corpus.cc -O1",
                "g++ corpus.cc -O2",
                "g++ corpus.cc -Os -fno-omit-frame-pointer",
                "clang++ corpus.cc -O0",
                "clang++ corpus.cc -O2",
                "clang++ corpus.cc -O3 -fno-omit-frame-pointer",
                "rustc corpus.rs -Copt-level=0",
                "rustc corpus.rs -Copt-level=2",
                "rustc corpus.rs -Copt-level=3 -Cforce-frame-pointers=yes",
                "rustc corpus.rs -Copt-level=s -Cpanic=abort -Cforce-unwind-tables=yes",
                "gfortran corpus.f90 -O0",
                "gfortran corpus.f90 -O2",
                "gcc corpus.s -O0",
            })
    void shouldNeverProveWhatTakes(String how) throws Exception {
        Verdicts verdicts = judge(compile(how));

        assertThat(verdicts.count(TAKES)).as("functions that take").isGreaterThanOrEqualTo(TAKERS_MIN);
        assertThat(verdicts.wrong(verdicts.proved()))
                .as("proved though they take")
                .isEmpty();
    }

    /// The proof without what siblings do: that it fails says that the corpus can tell.
    @ParameterizedTest
    @ValueSource(strings = {"gcc corpus.c -O2", "clang corpus.c -O2", "g++ corpus.cc -O2", "gcc corpus.s -O0"})
    void shouldBeWrongWithoutSiblings(String how) throws Exception {
        Verdicts verdicts = judge(compile(how));

        assertThat(verdicts.wrong(verdicts.alone())).isNotEmpty();
    }

    /// The proof with names of which each says that there are no parameters.
    @ParameterizedTest
    @ValueSource(strings = {"g++ corpus.cc -O2", "clang++ corpus.cc -O2"})
    void shouldBeWrongWithWrongNames(String how) throws Exception {
        Verdicts verdicts = judge(compile(how), symbol -> "f()");

        assertThat(verdicts.wrong(verdicts.proved())).anyMatch(name -> name.contains("for_pointer"));
    }

    /// The exported name of the two says that there are no parameters on the stack; the other has some.
    @Test
    void shouldAskAllNamesOfFunctionsThatTheLinkerHasFolded() throws Exception {
        assumeTrue(isInstalled("ld.gold"), "ld.gold");

        Verdicts verdicts = judge(compile("g++ folded.cc -O2 -ffunction-sections -fuse-ld=gold -Wl,--icf=all"));

        assertThat(verdicts.alone()).containsEntry("_Z12plain_foldedPPv", Reason.INDIRECT.name());
        assertThat(verdicts.count(TAKES)).isOne();
        assertThat(verdicts.wrong(verdicts.proved())).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"g++ corpus.cc -O2", "clang++ corpus.cc -O2"})
    void shouldProveByNamesWhatLeavesForPointers(String how) throws Exception {
        Verdicts verdicts = judge(compile(how));

        assertThat(verdicts.proved())
                .containsEntry("_Z17plain_for_pointerP8pointersidPKc", "")
                .containsEntry(
                        "_Z15plain_for_plainP8pointersRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gcc corpus.c -O2",
                "gcc corpus.c -O2 -fno-omit-frame-pointer",
                "clang corpus.c -O2",
                "g++ corpus.cc -O2"
            })
    void shouldProveMostOfTheOthers(String how) throws Exception {
        Verdicts verdicts = judge(compile(how));

        Map<String, String> missed = new TreeMap<>(verdicts.proved());
        missed.entrySet()
                .removeIf(e -> !e.getKey().contains(PLAIN) || e.getValue().isEmpty());
        assertThat(missed.size() * 10L).as("not proved: %s", missed).isLessThanOrEqualTo(verdicts.count(PLAIN));
    }

    private Path compile(String how) throws Exception {
        String[] words = how.split(" ");
        if (!isInstalled(words[0]) && words[0].startsWith("clang")) {
            words[0] += "-14"; // as the package of the gate has it
        }
        assumeTrue(isInstalled(words[0]), words[0]);
        Path library = directory.resolve("corpus.so");
        List<String> command = new ArrayList<>(List.of(words[0]));
        if (!words[0].equals("rustc")) {
            command.addAll(List.of("-w", "-fPIC", "-shared"));
        }
        command.addAll(List.of(words).subList(2, words.length));
        command.addAll(
                List.of("-o", library.toString(), CORPUS.resolve(words[1]).toString()));
        run(command);
        return library;
    }

    private static boolean isInstalled(String compiler) {
        for (String folder : System.getenv("PATH").split(":")) {
            if (Files.isExecutable(Path.of(folder, compiler))) {
                return true;
            }
        }
        return false;
    }

    private static Verdicts judge(Path library) throws Exception {
        return judge(library, API::demangle);
    }

    private static Verdicts judge(Path library, UnaryOperator<String> demangler) throws Exception {
        Verdicts verdicts = new Verdicts(new TreeMap<>(), new TreeMap<>());
        try (ElfFile elf = ElfFile.open(library)) {
            StackArguments.Image proof =
                    new StackArguments(INSTRUCTIONS.search(), API::decode, demangler, known -> List.of()).add(elf);
            for (String line :
                    run(List.of("nm", "--defined-only", library.toString())).split("\n")) {
                String[] parts = line.split(" ");
                boolean known = parts.length == 3 && "tTwW".contains(parts[1]);
                if (known && (parts[2].contains(TAKES) || parts[2].contains(PLAIN))) {
                    long start = Long.parseLong(parts[0], 16);
                    verdicts.alone.put(parts[2], text(proof.ownReason(start)));
                    verdicts.proved.put(parts[2], text(proof.reason(start)));
                }
            }
        }
        return verdicts;
    }

    private static String text(@Nullable Reason reason) {
        return reason == null ? "" : reason.name();
    }

    private static String run(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(String.join(" ", command)).isZero();
        return output;
    }
}
