package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// Programs with very many functions have a profile: the agent's heap may grow with the program's text.
class ManyFunctionsIT {
    @TempDir
    Path directory;

    @Test
    void shouldCountEveryCallOfVeryManyFunctions() throws Exception {
        shouldCountEveryCall(80_000);
    }

    @Tag("soak")
    @Test
    void shouldCountEveryCallOfAHundredThousandFunctions() throws Exception {
        shouldCountEveryCall(100_000);
    }

    private void shouldCountEveryCall(int functions) throws Exception {
        Path program = program(functions);

        JsonNode report = run(program, "wait,exact");

        assertThat(report.get("losses")).isEmpty();
        Map<String, Long> calls = Dist.calls(report);
        assertThat(calls).hasSize(functions).containsKeys("f0", "f" + (functions - 1));
        assertThat(calls.values()).allMatch(count -> count == 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-fpatchable-function-entry=5", "-O2"})
    void shouldMakeNoProbesOfFunctionsThatAreLeftOut(String option) throws Exception {
        Path source = Files.writeString(directory.resolve("two.c"), """
                __attribute__((noinline)) int wanted(int x) { return x * 3; }
                __attribute__((noinline)) int other(int x) { return x * 5; }
                int main(int argc, char **argv) { return wanted(argc) + other(argc) - 8; }
                """);
        Path program = directory.resolve("two");
        Dist.Outcome built =
                Dist.run(directory, Map.of(), List.of("gcc", option, "-o", program.toString(), source.toString()));
        assertThat(built.status()).as(built.err()).isZero();

        Map<String, Long> calls = Dist.calls(run(program, "wait,exact,include=wanted"));

        assertThat(calls).isEqualTo(Map.of("wanted", 1L));
        // A function has one for its entry, and one for its returns.
        assertThat(directory.resolve("session/agent.log")).content().contains("1 functions, 2 sites armed");
    }

    private JsonNode run(Path program, String options) throws Exception {
        Path session = directory.resolve("session");
        Dist.Outcome run =
                Dist.run(directory, Dist.preload(options + ",session=" + session), List.of(program.toString()));
        assertThat(run.status()).isZero();
        assertThat(run.err()).isEmpty();
        return Dist.report(directory, session);
    }

    /// A program that calls each of its functions once. They are written in assembly, as
    /// `-fpatchable-function-entry=5` makes them: a compiler takes a minute for so many.
    private Path program(int functions) throws Exception {
        StringBuilder text = new StringBuilder("""
                .macro function name
                .type \\name, @function
                \\name:
                .skip 5, 0x90
                lea 1(%rdi), %eax
                ret
                .size \\name, . - \\name
                .section __patchable_function_entries, "awo", @progbits, .text
                .quad \\name
                .text
                .endm
                .text
                .globl main
                main:
                push %rbx
                push %r12
                lea table(%rip), %rbx
                lea end(%rip), %r12
                0: mov $1, %edi
                call *(%rbx)
                add $8, %rbx
                cmp %r12, %rbx
                jb 0b
                pop %r12
                pop %rbx
                xor %eax, %eax
                ret
                """);
        StringBuilder table = new StringBuilder(".section .data.rel.ro, \"aw\"\ntable:\n");
        for (int i = 0; i < functions; i++) {
            text.append("function f").append(i).append('\n');
            table.append(".quad f").append(i).append('\n');
        }
        Path source = directory.resolve("many.s");
        Files.writeString(source, text.append(table) + "end:\n.section .note.GNU-stack, \"\", @progbits\n");
        Path program = directory.resolve("many");
        Dist.Outcome built = Dist.run(directory, Map.of(), List.of("gcc", "-o", program.toString(), source.toString()));
        assertThat(built.status()).as(built.err()).isZero();
        return program;
    }
}
