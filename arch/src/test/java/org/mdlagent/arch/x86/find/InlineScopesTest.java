package org.mdlagent.arch.x86.find;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.site.SiteInstruction;

/// Functions `f`, which others are inlined in, instruction by instruction.
class InlineScopesTest {
    private final StringBuilder code = new StringBuilder();
    private final StringBuilder lengths = new StringBuilder();
    private final Map<Integer, SiteInstruction> hooks = new LinkedHashMap<>();

    private int at() {
        return code.length() / 2;
    }

    private void instruction(String hex) {
        code.append(hex);
        lengths.append("%02x".formatted(hex.length() / 2)).append("00".repeat(hex.length() / 2 - 1));
    }

    private void hook(SiteInstruction.Role role, int function) {
        hooks.put(at(), new SiteInstruction(0x1000 + at(), SiteInstruction.Form.CALL, role, function));
        instruction("0f1f440000");
    }

    private void enter(int function) {
        hook(SiteInstruction.Role.ENTRY, function);
    }

    private void leave(int function) {
        hook(SiteInstruction.Role.EXIT, function);
    }

    /// By the offset where it begins, the function that code belongs to; 0 for none.
    private Map<Integer, Long> scopes() {
        HexFormat hex = HexFormat.of();
        Map<Integer, Long> functions = new TreeMap<>();
        Map<Integer, @Nullable SiteInstruction> found =
                new InlineScopes(hex.parseHex(code), hex.parseHex(lengths), new HashMap<>(hooks)).find();
        found.forEach((at, entry) -> functions.put(at, entry == null ? 0 : entry.function()));
        return functions;
    }

    @Test
    void shouldNestFunctionsAndLetAnExitBelongToWhatIsAroundIt() {
        enter(1); // 0
        enter(2); // 5
        enter(3); // 10
        instruction("90"); // 15
        leave(3); // 16
        instruction("90"); // 21
        leave(2); // 22
        instruction("90"); // 27
        leave(1); // 28
        instruction("c3"); // 33

        assertThat(scopes())
                .containsExactly(
                        Map.entry(5, 1L),
                        Map.entry(10, 2L),
                        Map.entry(15, 3L),
                        Map.entry(16, 2L),
                        Map.entry(22, 1L),
                        Map.entry(28, 0L));
    }

    @Test
    void shouldFollowBranchesAndNotTheOrderOfTheCode() {
        enter(1); // 0
        enter(2); // 5
        instruction("7507"); // 10: to 19
        leave(2); // 12
        instruction("eb06"); // 17: to 25
        instruction("90"); // 19: in 2 still, though behind its exit
        leave(2); // 20
        leave(1); // 25
        instruction("c3"); // 30

        assertThat(scopes())
                .containsExactly(
                        Map.entry(5, 1L),
                        Map.entry(10, 2L),
                        Map.entry(12, 1L),
                        Map.entry(19, 2L),
                        Map.entry(20, 1L),
                        Map.entry(25, 0L));
    }

    @Test
    void shouldNotGoOnBehindACallThatDoesNotReturn() {
        enter(1); // 0
        instruction("750a"); // 5: to 17
        enter(2); // 7
        instruction("e800000000"); // 12: a call of abort, in 2
        instruction("90"); // 17: in 1
        leave(1); // 18
        instruction("c3"); // 23

        assertThat(scopes()).containsExactly(Map.entry(5, 1L), Map.entry(12, 2L), Map.entry(17, 1L), Map.entry(18, 0L));
    }

    @Test
    void shouldTakeTheCasesOfASwitchToBeWhereItIs() {
        enter(1); // 0
        instruction("ffe0"); // 5: jmp *%rax
        enter(2); // 7
        instruction("90"); // 12
        leave(2); // 13
        instruction("90"); // 18
        leave(1); // 19
        instruction("c3"); // 24

        assertThat(scopes()).containsExactly(Map.entry(5, 1L), Map.entry(12, 2L), Map.entry(13, 1L), Map.entry(19, 0L));
    }

    @Test
    void shouldCloseWhatAnExitOfUnknownFunctionIsIn() {
        enter(1); // 0
        enter(2); // 5
        leave(0); // 10
        instruction("90"); // 15
        leave(1); // 16
        instruction("c3"); // 21

        assertThat(scopes()).containsExactly(Map.entry(5, 1L), Map.entry(16, 0L));
    }
}
