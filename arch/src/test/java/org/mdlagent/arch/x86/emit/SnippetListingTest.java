package org.mdlagent.arch.x86.emit;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.site.SnippetPlace;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Expression.Argument;
import org.mdlagent.arch.snippet.Expression.Binary;
import org.mdlagent.arch.snippet.Expression.Constant;
import org.mdlagent.arch.snippet.Expression.Load;
import org.mdlagent.arch.snippet.Expression.Member;
import org.mdlagent.arch.snippet.Expression.Operator;
import org.mdlagent.arch.snippet.Expression.Width;
import org.mdlagent.arch.snippet.Optimisation;
import org.mdlagent.arch.snippet.Optimiser;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement.Add;
import org.mdlagent.arch.snippet.Statement.Clock;
import org.mdlagent.arch.snippet.Statement.Start;
import org.mdlagent.arch.x86.bytes.GnuTools;

/// The code of the paper's snippets, as `objdump` reads it, with each optimisation and without.
class SnippetListingTest {
    private static final long AT = 0x1000;
    private static final long RESUME = 0x2000;
    private static final long CALL = 0x7fff_0000_0000L;
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
    void shouldComputeCommonSubexpressionsOnce() throws Exception {
        Expression area = new Binary(Operator.MULTIPLY, new Load(0x5000, Width.U64), new Load(0x6000, Width.U64));
        List<Snippet> chain = List.of(Snippet.of(new Add(1, area)), Snippet.of(new Add(2, area)));

        assertThat(listing(chain, Body.ENTRY, Optimisation.all()))
                .containsExactly(
                        "5 mov $0x5000,%ecx",
                        "3 mov (%rcx),%rcx",
                        "5 mov $0x6000,%esi",
                        "3 mov (%rsi),%rsi",
                        "4 imul %rsi,%rcx",
                        "5 mov %rcx,-0x78(%rsp)",
                        "5 mov -0x78(%rsp),%rcx",
                        "4 add %rcx,0x8(%r11)",
                        "5 mov -0x78(%rsp),%rcx",
                        "4 add %rcx,0x10(%r11)",
                        "5 jmp 0x2000");
        assertThat(listing(chain, Body.ENTRY, EnumSet.complementOf(EnumSet.of(Optimisation.COMMON_SUBEXPRESSIONS))))
                .filteredOn("4 imul %rsi,%rcx"::equals)
                .hasSize(2);
    }

    @Test
    void shouldSaveForEachSnippetAndJumpWithoutFusion() throws Exception {
        Snippet sum = Snippet.of(new Add(1, new Argument(0)));

        assertThat(listing(
                        List.of(sum, COUNT),
                        Body.FUNCTION_ENTRY,
                        EnumSet.complementOf(EnumSet.of(Optimisation.FUSION))))
                .containsExactly(
                        "5 mov %rcx,-0x20(%rsp)",
                        "3 mov %rdi,%rcx",
                        "4 add %rcx,0x8(%r11)",
                        "5 mov -0x20(%rsp),%rcx",
                        "5 jmp 0x1016",
                        "5 mov %rcx,-0x20(%rsp)",
                        "4 incq 0x8(%r11)",
                        "5 mov -0x20(%rsp),%rcx",
                        "5 jmp 0x2000");
    }

    @Test
    void shouldFindMembersByTheirBits() throws Exception {
        List<Snippet> chain = List.of(
                COUNT.constrained(new Member(9, 0)),
                Snippet.of(new Add(2, new Constant(1))).constrained(new Member(9, 1)));

        assertThat(listing(chain, Body.FUNCTION_ENTRY, Optimisation.all()))
                .containsExactly(
                        "5 mov %rax,-0x20(%rsp)",
                        "5 mov %rdx,-0x28(%rsp)",
                        "4 mov 0x48(%r11),%rax",
                        "4 and $0x3,%rax",
                        "6 je 0x1048",
                        "5 mov %r10,-0x70(%rsp)",
                        "4 bsf %rax,%rdx",
                        "4 lea -0x1(%rax),%r10",
                        "3 and %rax,%r10",
                        "5 mov %r10,-0x68(%rsp)",
                        "4 lea (%r11,%rdx,8),%r10",
                        "4 incq 0x8(%r10)",
                        "5 mov -0x68(%rsp),%rax",
                        "3 test %rax,%rax",
                        "6 jne 0x101d",
                        "5 mov -0x70(%rsp),%r10",
                        "5 mov -0x20(%rsp),%rax",
                        "5 mov -0x28(%rsp),%rdx",
                        "5 jmp 0x2000");
        assertThat(listing(chain, Body.FUNCTION_ENTRY, EnumSet.complementOf(EnumSet.of(Optimisation.VECTORISATION))))
                .containsExactly(
                        "6 btq $0x0,0x48(%r11)",
                        "6 jae 0x1010",
                        "4 incq 0x8(%r11)",
                        "6 btq $0x1,0x48(%r11)",
                        "6 jae 0x1020",
                        "4 incq 0x10(%r11)",
                        "5 jmp 0x2000");
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
        return listing(List.of(snippet), body, optimisations);
    }

    private List<String> listing(List<Snippet> chain, Body body, Set<Optimisation> optimisations) throws Exception {
        byte[] code = new X86SnippetCompiler()
                .compile(
                        new Optimiser(optimisations).optimise(chain),
                        new SnippetPlace(body, RESUME, CALL),
                        AT,
                        optimisations);
        return GnuTools.disassemble(directory, code, AT);
    }
}
