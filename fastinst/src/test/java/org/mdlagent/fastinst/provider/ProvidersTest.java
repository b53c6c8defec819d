package org.mdlagent.fastinst.provider;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.SiteInstruction.Role;

/// What providers find in compiled libraries that the dynamic linker has loaded, against the functions that `nm` lists.
class ProvidersTest {
    private static final NativeApi API = NativeApi.ofHarness(Path.of("../native-shim/target/cmake/libmdl_harness.so"));
    private static final InstructionSet INSTRUCTIONS = InstructionSet.ofAtomicUnit(64);

    /// Functions of the source; `nm` shows others, of the start files.
    private static final Set<String> FUNCTIONS = Set.of("leaf", "caller", "varied", "looping", "guarded");

    private static final String SOURCE = """
            #include <stdarg.h>
            #include <string.h>
            __attribute__((noinline)) static int leaf(int x) { return x * 3; }
            __attribute__((noinline)) int caller(int x) { return leaf(x) + leaf(x + 1); }
            int varied(int n, ...) { va_list l; va_start(l, n); double d = va_arg(l, double); va_end(l); return (int) d; }
            int looping(int n) { int s = 0; while (n > 0) s += caller(n--); return s; }
            int guarded(const char *s) { char b[64]; strncpy(b, s, 64); return b[0] + looping(b[1]); }
            int vfork(void) { return 7; }
            """;

    @TempDir
    Path directory;

    private final List<String> notes = new ArrayList<>();

    private LongPredicate selected = function -> true;

    private final FunctionSelection selection = new FunctionSelection() {
        @Override
        public boolean names(String image) {
            return false;
        }

        @Override
        public LongPredicate of(LoadedImage image, ElfFile elf) {
            return selected;
        }
    };

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            gcc -O2 -fpatchable-function-entry=5                          | NOP_RUN
            gcc -O0 -fpatchable-function-entry=5 -fcf-protection=full     | NOP_RUN
            gcc -O2 -fpatchable-function-entry=16,11                      | NOP_RUN
            gcc -O3 -fpatchable-function-entry=16,11 -fcf-protection=full | NOP_RUN
            gcc -O2 -fpatchable-function-entry=5 -s                       | NOP_RUN
            gcc -O2 -fpatchable-function-entry=16,11 -s                   | NOP_RUN
            gcc -O2 -fpatchable-function-entry=5 -flto                    | NOP_RUN
            gcc -O2 -fpatchable-function-entry=7,5                        | NOP_SHORT
            gcc -O2 -fpatchable-function-entry=7,5 -fcf-protection=full   | NOP_SHORT
            clang-14 -O2 -fpatchable-function-entry=5                     | NOP
            clang-14 -O0 -fpatchable-function-entry=16                    | NOP
            clang-14 -O2 -fpatchable-function-entry=16,11 -fcf-protection=full | NOP
            clang-14 -O2 -fpatchable-function-entry=7,5                   | NOP_SHORT
            clang-14 -O2 -fxray-instrument -fxray-instruction-threshold=1 | SKIP
            gcc -O2 -pg -mfentry                                          | CALL_INDIRECT
            gcc -O2 -pg -mfentry -fcf-protection=full                     | CALL_INDIRECT
            clang-14 -O2 -pg -mfentry                                     | CALL
            clang-14 -O2 -pg -mfentry -fno-plt                            | CALL
            """)
    void shouldFindStartOfEachFunction(String compiler, SiteInstruction.Form form) throws Exception {
        Map<Long, SiteInstruction> whole = find(compiler, Role.FUNCTION);
        Map<Long, SiteInstruction> counted = find(compiler, Role.COUNT);

        Map<Long, String> functions = functions(compiler.replace(" -s", ""));
        assertThat(functions).hasSize(FUNCTIONS.size());
        Map<Long, SiteInstruction> found = new HashMap<>(whole);
        found.putAll(counted);
        assertThat(found.keySet()).isEqualTo(functions.keySet());
        assertThat(counted.keySet())
                .allMatch(function -> "varied".equals(functions.get(function)))
                .hasSize(1);
        assertThat(found.values()).allMatch(site -> site.form() == form);
        assertThat(notes).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gcc -O2 -fpatchable-function-entry=5",
                "clang-14 -O2 -fxray-instrument -fxray-instruction-threshold=1"
            })
    void shouldLeaveOutFunctionsThatAreNotSelected(String compiler) throws Exception {
        Set<Long> functions = functions(compiler).keySet();
        long one = functions.iterator().next();
        selected = function -> function == one;
        assertThat(find(compiler, Role.FUNCTION)).containsOnlyKeys(one);

        selected = function -> !functions.contains(function);
        ImageProbes none = requireNonNull(discover(compiler, null, false));

        assertThat(none.texts()).isEmpty();
        assertThat(notes).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            gcc -O2 -pg                     | CALL_INDIRECT
            gcc -O0 -pg -fcf-protection=full| CALL_INDIRECT
            clang-14 -O2 -pg                | CALL
            """)
    void shouldFindCallBehindPrologueOfEachFunction(String compiler, SiteInstruction.Form form) throws Exception {
        Map<Long, SiteInstruction> found = find(compiler, Role.COUNT);

        assertThat(found.keySet()).containsAll(functions(compiler).keySet());
        assertThat(found.values()).allMatch(site -> site.form() == form && site.address() > site.function());
        assertThat(notes).isEmpty();
    }

    @Test
    void shouldSayWhyItLeavesCrampedFunctionsAlone() throws Exception {
        assertThat(discover("gcc -O2 -fpatchable-function-entry=2", null, false))
                .isNull();

        // All but vfork.
        assertThat(notes).singleElement().asString().contains(FUNCTIONS.size() + " patchable functions left alone");
    }

    @Test
    void shouldLeaveProfilingCallsToGprofAndToOthers() throws Exception {
        assertThat(discover("gcc -O2 -pg", null, true)).isNull();
        assertThat(discover("gcc -O2 -pg -mfentry", "/opt/libmcount.so", false)).isNull();

        assertThat(notes).hasSize(2);
        assertThat(notes.getFirst()).contains("gprof");
        assertThat(notes.getLast()).contains("/opt/libmcount.so");
    }

    @Test
    void shouldFindNopsThatGprofDoesNotNeed() throws Exception {
        ImageProbes probes =
                discover("gcc -O2 -fno-pic -Wl,-Bsymbolic -pg -mfentry -mnop-mcount -mrecord-mcount", null, true);

        assertThat(requireNonNull(probes).texts().getFirst().sites()).hasSize(FUNCTIONS.size());
        assertThat(EnumSet.of(SiteInstruction.Form.NOP))
                .contains(probes.texts().getFirst().sites().getFirst().hook().form());
    }

    /// Sites by the address of their function at link time, all of a role.
    private Map<Long, SiteInstruction> find(String compiler, Role role) throws Exception {
        ImageProbes probes = requireNonNull(discover(compiler, null, false));
        Map<Long, SiteInstruction> sites = new TreeMap<>();
        for (ImageProbes.Text text : probes.texts()) {
            long last = 0;
            for (ProbeSite site : text.sites()) {
                SiteInstruction hook = site.hook();
                assertThat(hook.address()).isGreaterThan(last).isBetween(text.start(), text.end());
                last = hook.address();
                if (hook.role() == role) {
                    sites.put(hook.function() - probes.image().bias(), hook);
                }
            }
        }
        return sites;
    }

    /// The C library does, and so may others.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            -shared -fPIC                                    |
            -shared -fPIC -s                                 |
            -pie                                             |
            -shared -fPIC -finstrument-functions             | FUNCTIONS
            -shared -fPIC -finstrument-functions -Wl,-Bsymbolic |  FUNCTIONS
            -shared -fPIC -finstrument-functions -s          | FUNCTIONS
            -pie -finstrument-functions                      | FUNCTIONS
            -no-pie -finstrument-functions                   | FUNCTIONS
            """)
    void shouldTellWhoCallsHooksFromWhoOnlyDefinesThem(String flags, @Nullable Instrumentation expected)
            throws Exception {
        Path source = Files.writeString(directory.resolve("hooks.c"), """
                #define NOT __attribute__((no_instrument_function, noipa))
                NOT void __cyg_profile_func_enter(void *function, void *caller) {}
                NOT void __cyg_profile_func_exit(void *function, void *caller) {}
                int main(void) { return 0; }
                """);
        Path image = directory.resolve("hooks");
        List<String> command = new ArrayList<>(List.of("gcc", "-O2", "-o", image.toString(), source.toString()));
        command.addAll(List.of(flags.split(" +")));
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();

        try (ElfFile elf = ElfFile.open(image)) {
            assertThat(elf.mentions("__cyg_profile_func_enter")).isTrue();
            assertThat(Instrumentation.of(elf, INSTRUCTIONS.search())).isEqualTo(expected);
        }
    }

    private @Nullable ImageProbes discover(String compiler, @Nullable String foreignHooks, boolean gprof)
            throws Exception {
        Path library = compile(compiler);
        SymbolLookup unused = SymbolLookup.libraryLookup(library, Arena.global());
        LoadedImage image = API.images().stream()
                .filter(loaded -> loaded.path().equals(library.toString()))
                .findFirst()
                .orElseThrow();
        ElfFile elf = ElfFile.open(library);
        assertThat(Instrumentation.of(elf, INSTRUCTIONS.search())).isNotNull();
        List<ProbeProvider> providers = List.of(
                new XRayProvider(INSTRUCTIONS, selection),
                new PatchableEntryProvider(INSTRUCTIONS, selection),
                new ProfilingCallsProvider(INSTRUCTIONS, API::decode, foreignHooks, gprof));
        try (StackArguments proof =
                new StackArguments(INSTRUCTIONS.search(), API::decode, API::demangle, known -> List.of())) {
            for (ProbeProvider provider : providers) {
                ImageProbes probes = provider.discover(image, elf, proof.add(elf), notes);
                if (probes != null) {
                    return probes;
                }
            }
            return null;
        }
    }

    private Path compile(String compiler) throws IOException, InterruptedException {
        Path source = Files.writeString(directory.resolve("library.c"), SOURCE);
        Path library = Files.createTempDirectory(directory, "built").resolve("library.so");
        List<String> command = new ArrayList<>(Arrays.asList(compiler.strip().split(" +")));
        command.addAll(List.of("-fPIC", "-shared", "-nostartfiles", "-o", library.toString(), source.toString()));
        if (compiler.contains("-fno-pic")) {
            command.remove("-fPIC");
        }
        run(command);
        return library;
    }

    private Map<Long, String> functions(String compiler) throws IOException, InterruptedException {
        Map<Long, String> functions = new TreeMap<>();
        for (String line :
                run(List.of("nm", compile(compiler).toString())).lines().toList()) {
            String[] columns = line.strip().split(" ");
            if (columns.length == 3 && FUNCTIONS.contains(columns[2].replaceAll("\\..*", ""))) {
                functions.put(Long.parseLong(columns[0], 16), columns[2]);
            }
        }
        return functions;
    }

    private static String run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
