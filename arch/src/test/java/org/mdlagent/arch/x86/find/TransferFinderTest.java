package org.mdlagent.arch.x86.find;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.shim.Harness;
import org.mdlagent.arch.site.Transfer;
import org.mdlagent.arch.x86.bytes.GnuTools;

/// The calls of compiled functions and the jumps that leave them, against what objdump shows.
class TransferFinderTest {
    private static final Pattern FUNCTION = Pattern.compile("^[0-9a-f]+ <(.*)>:$");
    private static final Pattern INSTRUCTION = Pattern.compile("^ *([0-9a-f]+):\t(?:[0-9a-f]{2} )+ *\t(.*)$");
    private static final Pattern DIRECT = Pattern.compile("(?:bnd |addr32 )*(call|j[a-z]+) +([0-9a-f]+) <([^+>]+).*");
    private static final Pattern SLOT =
            Pattern.compile("(?:bnd )?(call|jmp) +\\*0x[0-9a-f]+\\(%rip\\) +# ([0-9a-f]+).*");
    private static final Pattern INDIRECT = Pattern.compile("(?:notrack )?call +\\*.*");

    private static final String SOURCE = """
            #include <stdlib.h>
            #include <string.h>
            int (*pointer)(int);
            struct table { int (*slots[40])(int); };
            __attribute__((noinline)) int leaf(int x) { __asm__ volatile(""); return x; }
            __attribute__((noinline)) int sibling(int x) { return leaf(x + 1); }
            __attribute__((noinline)) int either(int x) { if (x) return leaf(x); return pointer(x); }
            __attribute__((noinline)) int all(struct table *t, int x) {
                int s = leaf(x) + pointer(x) + t->slots[0](x) + t->slots[33](x) + abs(x) + atoi("7");
                switch (x) { case 1: s += leaf(1); case 2: s += 5; break; case 3: return sibling(s); case 4: abort(); case 5: s -= 4; }
                return s + (int)strlen(getenv("X"));
            }
            int main(int argc, char **argv) { struct table t; memset(&t, argc, sizeof t); return all(&t, argc) + either(argc); }
            """;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-O0",
                "-O1",
                "-O2",
                "-O3",
                "-Os",
                "-O2 -fno-plt",
                "-O2 -fcf-protection=full",
                "-O2 -fPIC -shared"
            })
    void shouldFindWhatObjdumpShows(String flags) throws Exception {
        Path program = compile(flags);
        Set<String> expected = expected(program);
        Set<String> found = new TreeSet<>();
        try (ElfFile elf = ElfFile.open(program)) {
            SymbolTable symbols = elf.symbols();
            for (int i = 0; i < symbols.size(); i++) {
                long start = symbols.start(i);
                if (symbols.length(i) > 0) {
                    InstructionSet.ofAtomicUnit(8)
                            .search()
                            .transfers(elf.code(start, symbols.length(i)), start, Harness.API::decode)
                            .forEach(transfer -> found.add(Long.toHexString(transfer.address()) + " " + transfer.kind()
                                    + " " + Long.toHexString(transfer.target())));
                }
            }
        }
        assertThat(expected).hasSizeGreaterThan(10);
        assertThat(found).isEqualTo(expected);
    }

    @Test
    void shouldReadTheSlotOfALinkageStub() throws Exception {
        for (String stub : List.of("jmp *0x1234(%rip)", "bnd jmp *0x1234(%rip)", "endbr64\nbnd jmp *0x1234(%rip)")) {
            byte[] code = GnuTools.assemble(directory, stub);
            assertThat(InstructionSet.ofAtomicUnit(8).search().linkageSlot(code, 0x5000))
                    .isEqualTo(0x5000 + code.length + 0x1234);
        }
        byte[] other = GnuTools.assemble(directory, "mov %rax,%rbx\njmp *0x1234(%rip)");
        assertThat(InstructionSet.ofAtomicUnit(8).search().linkageSlot(other, 0x5000))
                .isZero();
        assertThat(InstructionSet.ofAtomicUnit(8).search().linkageSlot(new byte[] {(byte) 0xFF}, 0x5000))
                .isZero();
    }

    private Path compile(String flags) throws Exception {
        Path source = Files.writeString(directory.resolve("p.c"), SOURCE);
        Path program = directory.resolve("p");
        List<String> command = new ArrayList<>(List.of("gcc", "-w", "-nostartfiles", "-Wl,-emain", "-fno-builtin"));
        command.addAll(List.of(flags.split(" ")));
        command.addAll(List.of("-o", program.toString(), source.toString()));
        GnuTools.run(command.toArray(String[]::new));
        return program;
    }

    /// Of functions: linkage stubs are none.
    private static Set<String> expected(Path program) throws Exception {
        Set<String> expected = new TreeSet<>();
        String function = "";
        for (String line : GnuTools.run("objdump", "-d", "-w", "-j", ".text", program.toString())
                .lines()
                .toList()) {
            Matcher head = FUNCTION.matcher(line);
            Matcher instruction = INSTRUCTION.matcher(line);
            if (head.matches()) {
                function = head.group(1);
            } else if (instruction.matches()) {
                String transfer = transfer(instruction.group(2).strip(), function);
                if (!transfer.isEmpty()) {
                    expected.add(instruction.group(1) + " " + transfer);
                }
            }
        }
        return expected;
    }

    private static String transfer(String text, String function) {
        Matcher direct = DIRECT.matcher(text);
        Matcher slot = SLOT.matcher(text);
        if (direct.matches()) {
            boolean call = direct.group(1).equals("call");
            boolean within = !call && direct.group(3).equals(function);
            return within ? "" : (call ? Transfer.Kind.CALL : Transfer.Kind.JUMP) + " " + direct.group(2);
        }
        if (slot.matches()) {
            boolean call = slot.group(1).equals("call");
            return (call ? Transfer.Kind.CALL_BY_SLOT : Transfer.Kind.JUMP_BY_SLOT) + " " + slot.group(2);
        }
        return INDIRECT.matcher(text).matches() ? Transfer.Kind.CALL_INDIRECT + " 0" : "";
    }
}
