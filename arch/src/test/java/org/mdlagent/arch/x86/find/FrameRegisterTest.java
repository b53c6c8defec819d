package org.mdlagent.arch.x86.find;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.shim.Harness;
import org.mdlagent.arch.x86.bytes.GnuTools;

/// Instructions of real files, against the operands that objdump shows.
class FrameRegisterTest {
    private static final Pattern INSTRUCTION = Pattern.compile("^ *[0-9a-f]+:\t((?:[0-9a-f]{2} )+) *\t([^#<]*).*$");
    private static final Pattern RBX = Pattern.compile("%(rbx|ebx|bx|bl|bh)");
    private static final Pattern IN_MEMORY = Pattern.compile("\\([^)]*\\)");

    @TempDir
    Path directory;

    /// Of what changes RBX everything is found; of the rest, what does not have it as an operand is not.
    @ParameterizedTest
    @ValueSource(strings = {"libcrypto.so.3", "libc.so.6", "libstdc++.so.6"})
    void shouldFindWhatChangesIt(String library) throws Exception {
        int changing = 0;
        int all = 0;
        List<String> wrong = new ArrayList<>();
        for (String line : GnuTools.run("objdump", "-d", "-w", "/usr/lib/x86_64-linux-gnu/" + library)
                .split("\n")) {
            Matcher instruction = INSTRUCTION.matcher(line);
            if (!instruction.matches() || !isInstruction(bytes(instruction.group(1)))) {
                continue;
            }
            String operands =
                    IN_MEMORY.matcher(instruction.group(2)).replaceAll("").strip();
            boolean has = RBX.matcher(operands).find() || operands.startsWith("cpuid");
            boolean changes = has && !onlyReads(operands);
            all++;
            changing += changes ? 1 : 0;
            boolean found = mayChange(bytes(instruction.group(1)));
            if (changes && !found || found && !has) {
                wrong.add(line);
            }
        }
        assertThat(all).isGreaterThan(100_000);
        assertThat(changing).isGreaterThan(1_000);
        assertThat(wrong).isEmpty();
    }

    /// Constants among the code are shown as instructions, too.
    private static boolean isInstruction(byte[] code) {
        return InstructionLengths.of(code, Harness.API::decode)[0] == code.length;
    }

    /// In AT&T's order what changes comes last, or it is one of several that change.
    private static boolean onlyReads(String operands) {
        String[] parts = operands.split("[ ,]+");
        boolean exchanges = operands.contains("xchg") || operands.contains("xadd") || operands.startsWith("mulx");
        boolean compares = operands.startsWith("cmp") && !exchanges
                || operands.startsWith("test")
                || operands.startsWith("push")
                || operands.startsWith("call")
                || operands.startsWith("jmp")
                || operands.startsWith("bt ")
                || operands.startsWith("notrack")
                || operands.startsWith("vmwrite")
                || operands.startsWith("bnd");
        return compares
                || !exchanges && !RBX.matcher(parts[parts.length - 1]).matches() && !operands.startsWith("cpuid");
    }

    @Test
    void shouldKnowTheRarerOnes() throws Exception {
        for (String changing : List.of(
                "cpuid",
                "pop %rbx",
                "xchg %rax,%rbx",
                "mov $1,%bh",
                "mulx %rax,%rbx,%rcx",
                "mulx %rax,%rcx,%rbx",
                "andn %rax,%rcx,%rbx",
                "blsr %rax,%rbx",
                "rorx $3,%rax,%rbx",
                "pextrq $1,%xmm3,%rbx",
                "vmovq %xmm1,%rbx",
                "vmovmskps %ymm3,%ebx",
                "kmovq %k3,%rbx",
                "vcvttsd2usi %xmm3,%rbx",
                "rdrand %rbx",
                "rdfsbase %rbx",
                "rdsspq %rbx",
                "lsl %eax,%ebx",
                "crc32q %rax,%rbx",
                "adcx %rax,%rbx",
                "sete %bl",
                "bswap %rbx",
                "lock xadd %rbx,(%rax)")) {
            assertThat(mayChange(GnuTools.assemble(directory, changing)))
                    .as(changing)
                    .isTrue();
        }
        for (String other : List.of(
                "mov (%rbx,%rbx,2),%rax",
                "mov $1,%r11",
                "pop %r11",
                "xchg %rax,%r11",
                "mov %dil,%al",
                "movaps %xmm3,%xmm3",
                "vaddps %ymm3,%ymm3,%ymm3",
                "kmovq %rax,%k3",
                "vpaddd %zmm3,%zmm19,%zmm3",
                "mulx %rax,%r11,%rcx",
                "movq %xmm3,%xmm3",
                "mfence",
                "endbr64")) {
            assertThat(mayChange(GnuTools.assemble(directory, other))).as(other).isFalse();
        }
    }

    private static boolean mayChange(byte[] code) {
        return InstructionSet.ofAtomicUnit(8).search().mayChangeFrameRegister(code, Harness.API::decode);
    }

    private static byte[] bytes(String hex) {
        String[] parts = hex.strip().split(" ");
        byte[] bytes = new byte[parts.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(parts[i], 16);
        }
        return bytes;
    }
}
