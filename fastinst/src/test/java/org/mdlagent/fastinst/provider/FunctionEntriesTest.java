package org.mdlagent.fastinst.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.ElfFormatException;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.Refusal;
import org.mdlagent.arch.site.SiteInstruction;

/// Functions of programs that nobody prepared, with and without their symbols, against what `nm` lists.
class FunctionEntriesTest {
    private static final NativeApi API = NativeApi.ofHarness(Path.of("../native-shim/target/cmake/libmdl_harness.so"));
    private static final InstructionSet INSTRUCTIONS = InstructionSet.ofAtomicUnit(64);
    private static final int DAMAGED = 2_000;

    private static final String SOURCE = """
            #include <stdlib.h>
            #define ALONE __attribute__((noinline, noclone))
            ALONE int leaf(int x) { __asm__ volatile(""); return x * 3; }
            ALONE static int byPointer(int x) { __asm__ volatile(""); return x + 100000; }
            int (*volatile pointer)(int) = byPointer;
            ALONE __attribute__((cold)) void fail(int x) { __asm__ volatile(""); exit(x); }
            ALONE int checked(int x) { if (__builtin_expect(x == 77, 0)) { fail(x); abort(); } return x ^ 5; }
            ALONE int framed(int x) { int s = leaf(x); if (__builtin_expect(s == 77, 0)) abort(); return s + leaf(s); }
            ALONE static int tail(int x) { __asm__ volatile(""); return x - 1; }
            ALONE int one(int x) { __asm__ volatile(""); return tail(x + 1); }
            ALONE int two(int x) { __asm__ volatile(""); return tail(x + 2); }
            ALONE void *caller(void) { return __builtin_return_address(0); }
            ALONE void *deepCaller(int x) { volatile int a[50]; a[x] = leaf(x); return (char *) __builtin_return_address(0) + a[x]; }
            __attribute__((naked)) void around(void) { __asm__("1: nop; dec %edi; jnz 1b; ret"); }
            __attribute__((naked)) void into(void) { __asm__("nop; 1: dec %edi; jnz 1b; ret"); }
            __attribute__((naked, aligned(1))) void cramped(void) { __asm__("ret"); }
            __attribute__((naked, aligned(1))) void follower(void) { __asm__("xor %eax, %eax; ret"); }
            __attribute__((naked)) void padded(void) { __asm__("ret"); }
            __attribute__((naked)) void scratches(void) { __asm__("mov $7, %ebx; mov %ebx, %eax; ret"); }
            __attribute__((naked)) void forwards(void) { __asm__("xor %eax, %eax; nop; nop; nop; jmp between"); }
            __attribute__((naked)) void between(void) { __asm__("call scratches; ret"); }
            __attribute__((naked)) void saves(void) { __asm__("push %rbx; .cfi_adjust_cfa_offset 8; .cfi_rel_offset rbx, 0; call scratches; pop %rbx; ret"); }
            int vfork(void) { return 7; }
            int main(int n, char **words) {
                return checked(n) + framed(n) + pointer(n) + one(n) + two(n) + (caller() != deepCaller(n)) + leaf(2);
            }
            """;

    @TempDir
    Path directory;

    private record Found(long length, @Nullable Refusal refusal, boolean counted) {}

    @ParameterizedTest
    @ValueSource(strings = {"-O2", "-O2 -no-pie -fno-pic", "-O1", "-O0", "-O2 -fcf-protection=full", "-Os"})
    void shouldFindTheSameFunctionsWithoutSymbols(String flags) throws Exception {
        Path program = compile(flags);
        Path stripped = directory.resolve("stripped");
        run("strip", "-o", stripped.toString(), program.toString());
        Map<String, Long> functions = functions(program);

        Map<Long, Found> named = find(program);
        Map<Long, Found> nameless = find(stripped);

        TreeSet<Long> expected = new TreeSet<>();
        functions.forEach((name, start) -> {
            boolean source = SOURCE.contains(" " + name + "(") || SOURCE.contains("*" + name + "(");
            if (source && !name.equals("vfork")) {
                expected.add(start);
            }
        });
        assertThat(expected).hasSize(20);
        assertThat(named.keySet())
                .containsAll(expected)
                .doesNotContain(functions.get("vfork"), functions.get("_start"));
        assertThat(nameless.keySet()).containsAll(expected).doesNotContain(functions.get("_start"));
        functions.forEach((name, start) -> {
            if (name.contains(".cold")) {
                assertThat(named).doesNotContainKey(start);
                assertThat(nameless).doesNotContainKey(start);
            }
        });
        assertThat(functions.keySet().stream().anyMatch(name -> name.contains(".cold")))
                .isEqualTo(flags.contains("-O2"));
        expected.forEach(start -> assertThat(nameless.get(start)).isEqualTo(named.get(start)));
    }

    @Test
    void shouldSayWhyFunctionsAreRefused() throws Exception {
        Path program = compile("-O2 -fno-reorder-functions -fno-toplevel-reorder -falign-functions=16");
        Map<String, Long> functions = functions(program);
        Map<Long, Found> found = find(program);

        Map<String, Refusal> refused = new TreeMap<>();
        functions.forEach((name, start) -> {
            Found function = found.get(start);
            if (function != null && function.refusal != null && SOURCE.contains(name + "(")) {
                refused.put(name, function.refusal);
            }
        });
        functions.forEach((name, start) -> {
            if (found.containsKey(start)) {
                assertThat(found.get(start).counted)
                        .as("%s looks at its return address, or its unwind table forgets a pop", name)
                        .isEqualTo(List.of("caller", "deepCaller", "saves").contains(name));
            }
        });
        assertThat(refused)
                .isEqualTo(Map.of(
                        "around", Refusal.LOOPS_TO_ENTRY,
                        "into", Refusal.BRANCH_INTO_ENTRY,
                        "cramped", Refusal.TOO_SHORT,
                        // GCC puts `ud2` behind naked functions.
                        "padded", Refusal.TRAP,
                        "follower", Refusal.TRAP));
    }

    @Test
    void shouldFindOrRefuseInDamagedFiles() throws Exception {
        Path program = compile("-O2");
        run("strip", program.toString());
        byte[] bytes = Files.readAllBytes(program);
        int read = 0;
        for (int seed = 0; seed < DAMAGED; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            byte[] damaged = bytes.clone();
            for (int i = 0; i <= random.nextInt(8); i++) {
                damaged[random.nextInt(random.nextBoolean() ? 1024 : damaged.length)] = (byte) random.nextInt();
            }
            try (ElfFile elf = ElfFile.of("damaged", damaged)) {
                find(elf);
                read++;
            } catch (ElfFormatException e) {
                assertThat(e.file()).isEqualTo("damaged");
            } catch (RuntimeException | Error e) {
                throw new AssertionError("case with seed " + seed, e);
            }
        }
        assertThat(read).isGreaterThan(DAMAGED / 20);
    }

    private Path compile(String flags) throws Exception {
        Path source = Files.writeString(directory.resolve("p.c"), SOURCE);
        Path program = directory.resolve("p");
        List<String> command = new ArrayList<>(List.of("gcc", "-w"));
        command.addAll(List.of(flags.split(" ")));
        command.addAll(List.of("-o", program.toString(), source.toString()));
        run(command.toArray(String[]::new));
        return program;
    }

    private static Map<Long, Found> find(Path program) throws Exception {
        try (ElfFile elf = ElfFile.open(program)) {
            return find(elf);
        }
    }

    private static Map<Long, Found> find(ElfFile elf) throws Exception {
        FunctionEntries entries = FunctionEntries.of(
                elf,
                INSTRUCTIONS.search(),
                new StackArguments(INSTRUCTIONS.search(), API::decode, API::demangle, known -> List.of()).add(elf));
        Map<Long, Found> found = new TreeMap<>();
        for (int i = 0; i < entries.size(); i++) {
            EntryPuns.Fit fit = entries.entry(i, INSTRUCTIONS.puns(), API::decode, EntryPuns.Covered.TRAPS);
            boolean counted = fit instanceof EntryPun pun && pun.site().role() == SiteInstruction.Role.COUNT;
            found.put(
                    entries.start(i),
                    new Found(entries.length(i), fit instanceof Refusal reason ? reason : null, counted));
        }
        assertThat(found).hasSize(entries.size());
        return found;
    }

    private static Map<String, Long> functions(Path program) throws Exception {
        Map<String, Long> functions = new HashMap<>();
        for (String line : run("nm", "--defined-only", program.toString()).split("\n")) {
            String[] parts = line.split(" ");
            if (parts.length == 3 && "tT".contains(parts[1])) {
                functions.put(parts[2], Long.parseLong(parts[0], 16));
            }
        }
        return functions;
    }

    private static String run(String... command) throws Exception {
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return output;
    }
}
