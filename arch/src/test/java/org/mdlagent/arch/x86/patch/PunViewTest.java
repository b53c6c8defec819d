package org.mdlagent.arch.x86.patch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mdlagent.arch.site.EntryPuns.Covered.TRAPS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.shim.Harness;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.DisplacementRule;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.Refusal;

/// Entries of functions that no compiler has prepared: which there are, and what their jumps must look like.
class PunViewTest {
    private static final int LINE = 64;

    /// push %rbp; mov %rsp,%rbp; push %r15; push %r14
    private static final String FRAME = "55 4889e5 4157 4156";

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(4 * LINE, LINE);
    private final long address = memory.address() + LINE;

    @AfterEach
    void close() {
        arena.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 64})
    void shouldFindWhichSitesLieWithinAUnit(int unit) {
        for (int offset = 0; offset < LINE; offset++) {
            EntryPun pun = (EntryPun) fit(FRAME, address + offset, 32, 32, unit);

            assertThat(pun.cut() == null).as("at %d", offset).isEqualTo(offset % unit <= unit - 5);
            assertThat(pun.site().length()).isEqualTo(6);
            assertThat(pun.site().address()).isEqualTo(address + offset);
        }
    }

    /// Instructions begin at 0, 1 and 4.
    @Test
    void shouldFindTheInstructionThatABoundarySplits() {
        int[] heads = {EntryPun.Cut.NO_HEAD, 1, 1, EntryPun.Cut.NO_HEAD};
        for (int front = 1; front <= 4; front++) {
            EntryPun.Cut cut = ((EntryPun) fit(FRAME, address + 8 - front, 32, 32, 8)).cut();

            assertThat(cut).isEqualTo(new EntryPun.Cut(front, heads[front - 1], true));
        }
    }

    @Test
    void shouldLetAJumpPassByTrapsOrByOneStore() {
        EntryPun.Cut trapping = new EntryPun.Cut(2, 0, true);
        EntryPun.Cut steady = new EntryPun.Cut(2, 0, false);

        assertThat(trapping.isPassable(0xCC_11_22_CC_E9L, 0x41_E5_89_48_55L)).isTrue();
        assertThat(steady.isPassable(0xCC_11_22_CC_E9L, 0x41_E5_89_48_55L)).isFalse();
        assertThat(steady.isPassable(0x41_E5_89_CC_E9L, 0x41_E5_89_48_55L)).isTrue();
    }

    @Test
    void shouldSwitchAGateWhereAUnitEndsWithin() {
        EntryPun pun = (EntryPun) fit(FRAME, address + 5, 32, 32, 8);
        long gate = address + 0x1000;

        PatchPlan jump = new PunView(pun).plan(address + 10 + 0xCC1122CC);
        PatchPlan plan = PunView.gate(gate, gate + 5 + 0x11223344, gate + 5 - 2);

        assertThat(jump.toggleAt()).isEqualTo(address + 5);
        assertThat(jump.on()).isEqualTo(0xCC_11_22_CC_E9L);
        assertThat(plan.isMade()).isTrue();
        assertThat(plan.toggleAt()).isEqualTo(gate + 1);
        assertThat(plan.toggleSize()).isEqualTo(4);
        assertThat(plan.on()).isEqualTo(0x11223344);
        assertThat(plan.off()).isEqualTo(-2);
        assertThatThrownBy(() -> PunView.gate(gate + 4, gate, gate)).hasMessageContaining("not aligned");
    }

    @ParameterizedTest
    @CsvSource({
        "31c0 c3, 90 90, 3", // xor; ret, and nop
        "31c0 c3, 6690, 3",
        "31c0 c3, 0f1f4000, 3",
        "c3, cccccccc, 1",
        "c3, 0f1f840000000000, 1",
        "f30f1efa, 90, 4",
    })
    void shouldUsePaddingBehindShortFunctions(String function, String padding, int length) {
        int own = bytes(function).length;
        int all = own + bytes(padding).length;

        EntryPun pun = (EntryPun) fit(function + padding, address, own, all, 8);

        assertThat(pun.site().length()).isEqualTo(length);
        assertThat(fit(function + padding, address, own, 4, 8))
                .as("the next one begins within")
                .isEqualTo(Refusal.TOO_SHORT);
    }

    @ParameterizedTest
    @CsvSource({
        "31c0 c3 55 4889e5, 3, 32, TOO_SHORT", // what no table names begins behind the function
        "31c0 c3 90 55, 3, 32, TOO_SHORT",
        "55 cc 4889e5, 32, 32, TRAP", // somebody else's, at a head
        "cc 90 90 90 90 90, 32, 32, TRAP",
        "55 4889e5 4157 90 90, 5, 32, UNKNOWN_INSTRUCTION", // ends in an instruction
        "06 90 90 90 90, 32, 32, UNKNOWN_INSTRUCTION",
        "ffd0 90 90 90, 32, 32, CALL_WITHIN",
        "50 41ffd4 90, 32, 32, CALL_WITHIN",
        "ff5008 90 90, 32, 32, CALL_WITHIN",
        "55 0f0b 90 90, 32, 32, TRAP", // ud2: SIGILL is ours where a head is
        "0f0b 90 90 90, 32, 32, TRAP",
        "55 0fb9c0 90, 32, 32, TRAP",
        "90 90 0fffc0, 32, 32, TRAP",
    })
    void shouldSayWhyThereIsNone(String code, int end, int next, Refusal reason) {
        assertThat(fit(code, address, end, next, 8)).isEqualTo(reason);
    }

    /// Whatever the file says: the text may end anywhere.
    @Test
    void shouldTakeTextThatEndsWithinAFunctionOrItsFilling() {
        byte[] code = bytes("31c0 c3 0f1f4000 90");
        for (int held = 0; held <= code.length; held++) {
            byte[] text = Arrays.copyOf(code, held);
            for (int length = 0; length <= code.length; length++) {
                EntryPuns.Fit fit = PunView.fit(text, address, length, 8, Harness.API::decode, TRAPS);
                assertThat(fit instanceof EntryPun)
                        .as("%d of %d", length, held)
                        .isEqualTo(held >= 7 && (length == 3 || length >= 7));
            }
        }
    }

    /// Where a call is the last, its callee returns behind the jump.
    @Test
    void shouldTakeACallThatIsTheLast() {
        EntryPun pun = (EntryPun) fit("50 50 50 ffd0", address, 32, 32, 8);

        assertThat(new X86EntryPuns(8)
                        .displaced(Harness.API, pun.site(), address)
                        .bytes())
                .isNotEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "4157 4156 4155, cc00cc00", // heads {2,4}
        "4157 488b07, 0000cc00", // {2}
        "55 4889e5 4157, cc0000cc", // {1,4}
        "f30f1efa 55, cc000000", // {4}: over endbr64
        "4889f8 488b07, 00cc0000", // {3}
        "55 488d6f10, 000000cc", // {1}
        "53 89fb 4889f0, 00cc00cc", // {1,3}
        "53 55 488b07, 0000cccc", // {1,2}
        "53 55 89fb 50, cc00cccc", // {1,2,4}
        "53 55 50 51 52, cccccccc", // {1,2,3,4}
        "4881ec00010000, 00000000", // none: one instruction of seven bytes
        "b801000000, 00000000",
    })
    void shouldWantTrapsOverHeads(String code, String heads) {
        EntryPun pun = (EntryPun) fit(code, address, 32, 32, 8);

        int expected = HexFormat.fromHexDigits(heads);
        int mask = (expected & 0x0C0C0C0C) / 0xC * 0xFF;
        List<DisplacementRule> rules = new ArrayList<>(List.of(new DisplacementRule(mask, expected)));
        if (mask >>> 24 != 0) {
            rules.add(new DisplacementRule(mask, expected & 0xFFFFFF | 0x60000000)); // no instruction, either
            rules.add(new DisplacementRule(mask, expected & 0xFFFFFF | 0x61000000));
        }
        assertThat(pun.rules()).isEqualTo(rules);
        assertThat(pun.leadsAnywhere()).isEqualTo(mask == 0);
    }

    /// From the first head on the jump is what stands there.
    @ParameterizedTest
    @CsvSource({
        "4157 4156 4155, ffffff00, 41564100", // heads {2,4}
        "55 4889e5 4157, ffffffff, 41e58948", // {1,4}
        "f30f1efa 55, ff000000, 55000000", // {4}
        "4885ff 0f84aa000000, ffff0000, 840f0000", // {3}, as in libc's free
        "53 55 50 c3, 00ffffff, 00c35055", // what follows the function need not stay
        "803d3133e30000, 00000000, 00000000", // none
    })
    void shouldLeaveHeadsAsTheyAreWhereThreadsStay(String code, String mask, String value) {
        memory.fill((byte) 0x90);
        Memory.put(address, bytes(code));
        int length = code.startsWith("53 55") ? 4 : 32;

        EntryPun pun = (EntryPun)
                PunView.fit(Memory.copy(address, 32), address, length, 8, Harness.API::decode, EntryPuns.Covered.STAYS);

        assertThat(pun.rules())
                .containsExactly(new DisplacementRule(HexFormat.fromHexDigits(mask), HexFormat.fromHexDigits(value)));
    }

    @ParameterizedTest
    @ValueSource(ints = {0x601122CC, 0x611122CC})
    void shouldTakeJumpsUpwardsWhoseHeadsTrap(int displacement) {
        assertThat(view(FRAME).plan(address + 5 + displacement).on())
                .isEqualTo(0xE9L | Integer.toUnsignedLong(displacement) << 8);
    }

    @Test
    void shouldToggleBetweenInstructionsAndJump() {
        PunView view = view(FRAME);

        PatchPlan plan = view.plan(address + 5 + 0xCC1122CC);

        assertThat(plan.isMade()).isTrue();
        assertThat(plan.tail()).isEmpty();
        assertThat(plan.toggleAt()).isEqualTo(address);
        assertThat(plan.toggleSize()).isEqualTo(5);
        assertThat(plan.on()).isEqualTo(0xCC_11_22_CC_E9L);
        assertThat(plan.off()).isEqualTo(0x41_E5_89_48_55L);
        assertThat(Memory.copy(address, 8)).as("it plans only").isEqualTo(bytes(FRAME));
    }

    @ParameterizedTest
    @ValueSource(ints = {0xCC1122CD, 0xCD1122CC, 0x621122CC, 0xCC112262, 0x601122CD, 0xCC112260, 0})
    void shouldRefuseJumpWhoseHeadsDoNotTrap(int displacement) {
        PunView view = view(FRAME);

        assertThatThrownBy(() -> view.plan(address + 5 + displacement))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("does not trap over each instruction");
    }

    private PunView view(String code) {
        return new PunView((EntryPun) fit(code, address, 32, 32, 8));
    }

    /// @param end  of the function, counted from its start
    /// @param next where the next one begins
    private EntryPuns.Fit fit(String code, long at, int end, int next, int unit) {
        memory.fill((byte) 0x90);
        Memory.put(at, bytes(code));
        return PunView.fit(Memory.copy(at, next), at, end, unit, Harness.API::decode, TRAPS);
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }
}
