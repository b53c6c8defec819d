package org.mdlagent.fastinst.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.SiteInstruction;

/// Runtimes are recognised by what their files have, and no program of C or C++ is taken for one.
class KeyedRuntimeTest {
    private static final NativeApi API = NativeApi.ofHarness(Path.of("../native-shim/target/cmake/libmdl_harness.so"));
    private static final InstructionSet INSTRUCTIONS = InstructionSet.ofAtomicUnit(64);
    private static final CodeSearch SEARCH = INSTRUCTIONS.search();

    /// Of a table whose entries have a return address and what describes the frame, as OCaml's have.
    private static final int ENTRIES = 100;

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"caml_frametable, , OCAML", "caml_frametable, caml_call_realloc_stack, OCAML_5"})
    void shouldKnowARuntimeByItsSymbols(String one, @Nullable String other, KeyedRuntime expected) throws Exception {
        String declarations = "void " + one + "(void) {}\n" + (other == null ? "" : "void " + other + "(void) {}\n");

        Path named = compile(declarations + "int main(void) { return 0; }", "-rdynamic");
        assertThat(runtime(named)).isEqualTo(expected);

        // What the dynamic linker needs stays.
        run("strip", named.toString());
        assertThat(runtime(named)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({".llvm_stackmaps, STACK_MAPS", ".svm_heap, NATIVE_IMAGE", "__managedcode, NATIVE_AOT"})
    void shouldKnowARuntimeByASection(String section, KeyedRuntime expected) throws Exception {
        Path program = compile("__attribute__((section(\"" + section
                + "\"))) int table[4] = {1};\nint main(void) { return table[0]; }");
        run("strip", program.toString());

        assertThat(runtime(program)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-pie -fpie", "-no-pie -fno-pie"})
    void shouldKnowATableWithoutSymbols(String flags) throws Exception {
        Path program = compile(table(ENTRIES, ".short 16, 1, 8, 0"), flags.split(" "));
        run("strip", program.toString());

        assertThat(runtime(program)).isEqualTo(KeyedRuntime.UNKNOWN);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-pie -fpie", "-no-pie -fno-pie"})
    void shouldTakeNoOtherTableForOne(String flags) throws Exception {
        // Beside each other they are a jump table; few are labels behind calls, as compilers leave them.
        Path jumps = compile(table(ENTRIES, ""), flags.split(" "));
        assertThat(runtime(jumps)).isNull();
        Path few = compile(table(ENTRIES / 2, ".short 16, 1, 8, 0"), flags.split(" "));
        assertThat(runtime(few)).isNull();
    }

    @Test
    void shouldTakeNoCommonProgramForOne() throws Exception {
        for (String name : List.of("bash", "perl", "git", "gdb", "python3.11", "ls")) {
            Path program = Path.of("/usr/bin", name);
            if (Files.exists(program)) {
                assertThat(runtime(program)).as(name).isNull();
            }
        }
    }

    /// The oracle is OCaml's compiler.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldKnowOCamlAndCountItsFunctions(boolean embedded) throws Exception {
        assumeTrue(
                Files.isExecutable(Path.of("/usr/bin/ocamlopt")), "ocamlopt is not installed; it is in Debian's ocaml");
        Path program = embedded ? embedded() : directory.resolve("alone");
        if (!embedded) {
            Path source = Files.writeString(directory.resolve("alone.ml"), "let () = print_int (List.length [1])");
            run("ocamlopt", "-o", program.toString(), source.toString());
        }
        run("strip", program.toString());

        KeyedRuntime found = runtime(program);

        // A program in C that has OCaml inside exports nothing.
        assertThat(found).isEqualTo(embedded ? KeyedRuntime.UNKNOWN : KeyedRuntime.OCAML);
        int entries = 0;
        try (ElfFile elf = ElfFile.open(program)) {
            FunctionEntries functions = FunctionEntries.of(
                    elf, SEARCH, new StackArguments(SEARCH, API::decode, API::demangle, known -> List.of()).add(elf));
            for (int i = 0; i < functions.size(); i++) {
                EntryPuns.Fit fit = functions.entry(i, INSTRUCTIONS.puns(), API::decode, EntryPuns.Covered.TRAPS);
                if (fit instanceof EntryPun pun) {
                    entries++;
                    assertThat(pun.site().role()).isEqualTo(SiteInstruction.Role.COUNT);
                }
            }
        }
        assertThat(entries).isGreaterThan(100);
    }

    private Path embedded() throws Exception {
        Path library = Files.writeString(
                directory.resolve("inside.ml"),
                "let () = Callback.register \"length\" (List.length : int list -> int)");
        Path object = directory.resolve("object.o");
        run("ocamlopt", "-output-obj", "-o", object.toString(), library.toString());
        Path main = Files.writeString(
                directory.resolve("outside.c"),
                "extern void caml_startup(char **); int main(int n, char **v) { caml_startup(v); return n; }");
        Path program = directory.resolve("embedded");
        run(
                "gcc",
                "-w",
                "-o",
                program.toString(),
                main.toString(),
                object.toString(),
                "/usr/lib/ocaml/libasmrun.a",
                "-lm",
                "-ldl");
        return program;
    }

    /// @param behind what stands behind each address in the table
    private static String table(int entries, String behind) {
        String calls = IntStream.range(0, entries)
                .mapToObj(i -> "call leaf\\n.Lreturn" + i + ":\\n")
                .collect(Collectors.joining());
        String addresses = IntStream.range(0, entries)
                .mapToObj(i -> ".quad .Lreturn" + i + "\\n" + behind + "\\n")
                .collect(Collectors.joining());
        return "void leaf(void) {}\n__attribute__((naked)) void calls(void) { __asm__(\"" + calls + "ret\"); }\n"
                + "__asm__(\".data\\n.balign 8\\n" + addresses + ".text\\n\");\nint main(void) { return 0; }";
    }

    private static @Nullable KeyedRuntime runtime(Path program) throws Exception {
        try (ElfFile elf = ElfFile.open(program)) {
            return KeyedRuntime.of(elf, SEARCH);
        }
    }

    private Path compile(String source, String... flags) throws Exception {
        Path file = Files.writeString(directory.resolve("program.c"), source);
        Path program = directory.resolve("program");
        List<String> command = new ArrayList<>(List.of("gcc", "-O1", "-w"));
        command.addAll(List.of(flags));
        command.addAll(List.of("-o", program.toString(), file.toString()));
        run(command.toArray(String[]::new));
        return program;
    }

    private static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor())
                .as(Stream.of(command).collect(Collectors.joining(" ")) + "\n" + output)
                .isZero();
    }
}
