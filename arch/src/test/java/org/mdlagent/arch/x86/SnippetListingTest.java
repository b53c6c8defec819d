package org.mdlagent.arch.x86;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.Body;
import org.mdlagent.arch.snippet.Expression.Argument;
import org.mdlagent.arch.snippet.Expression.Binary;
import org.mdlagent.arch.snippet.Expression.Constant;
import org.mdlagent.arch.snippet.Expression.Operator;
import org.mdlagent.arch.snippet.Optimisation;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement.Add;
import org.mdlagent.arch.snippet.Statement.Clock;
import org.mdlagent.arch.snippet.Statement.Start;

/// The code of the paper's snippets, as `objdump` reads it, with each optimisation and without.
class SnippetListingTest {
    private static final long AT = 0x1000;
    private static final long RESUME = 0x2000;
    private static final Snippet COUNT = Snippet.of(new Add(1, new Constant(1)));

    @TempDir
    Path directory;

    @Test
    void shouldCountByOneInstruction() throws Exception {
        assertThat(listing(COUNT, Body.FUNCTION_ENTRY, Optimisation.all()))
                .containsExactly("4 incq 0x8(%r11)", "5 jmp 0x2000");
    }

    @Test
    void shouldGuardByOneComparison() throws Exception {
        assertThat(listing(COUNT.constrained(2), Body.FUNCTION_ENTRY, Optimisation.all()))
                .containsExactly("5 cmpq $0x0,0x10(%r11)", "6 je 0x100f", "4 incq 0x8(%r11)", "5 jmp 0x2000");
    }

    @Test
    void shouldSaveNothingAtHooksWhereRegistersAreFree() throws Exception {
        Snippet twice = Snippet.of(new Add(1, new Binary(Operator.MULTIPLY, new Constant(2), new Constant(3))));
        Set<Optimisation> some = EnumSet.of(Optimisation.SAVES_ON_DEMAND, Optimisation.DIRECT_OPERANDS);

        assertThat(listing(twice, Body.ENTRY, some))
                .containsExactly(
                        "5 mov $0x2,%ecx",
                        "5 mov $0x3,%esi", "4 imul %rsi,%rcx", "4 add %rcx,0x8(%r11)", "5 jmp 0x2000");
        assertThat(listing(twice, Body.ENTRY, Optimisation.all()))
                .containsExactly("5 addq $0x6,0x8(%r11)", "5 jmp 0x2000");
    }

    @Test
    void shouldReadSavedArgumentFromItsPlace() throws Exception {
        Snippet sum = Snippet.of(new Add(1, new Argument(3)));

        assertThat(listing(sum, Body.FUNCTION_ENTRY, Optimisation.all()))
                .containsExactly(
                        "5 mov %rcx,-0x20(%rsp)",
                        "5 mov -0x20(%rsp),%rcx", "4 add %rcx,0x8(%r11)", "5 mov -0x20(%rsp),%rcx", "5 jmp 0x2000");
    }

    @Test
    void shouldSaveAllRegistersAndLoadEveryOperandWithoutOptimisation() throws Exception {
        assertThat(listing(COUNT, Body.FUNCTION_ENTRY, Set.of()))
                .hasSize(7 + 2 + 7 + 1)
                .contains("5 mov %r9,-0x50(%rsp)", "5 mov $0x1,%ecx", "4 add %rcx,0x8(%r11)");
    }

    @Test
    void shouldReadClockOnlyForFirstStart() throws Exception {
        assertThat(listing(Snippet.of(new Start(1, Clock.WALL)), Body.ENTRY, Optimisation.all()))
                .containsExactly(
                        "5 mov %rax,-0x20(%rsp)",
                        "5 cmpq $0x0,0x8(%r11)",
                        "6 jne 0x101d",
                        "2 rdtsc",
                        "4 shl $0x20,%rdx",
                        "3 or %rdx,%rax",
                        "4 mov %rax,0x10(%r11)",
                        "4 incq 0x8(%r11)",
                        "5 mov -0x20(%rsp),%rax",
                        "5 jmp 0x2000");
    }

    private List<String> listing(Snippet snippet, Body body, Set<Optimisation> optimisations) throws Exception {
        byte[] code = SnippetAssembler.assemble(List.of(snippet), body, AT, RESUME, optimisations);
        return GnuTools.disassemble(directory, code, AT);
    }
}
