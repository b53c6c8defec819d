package org.mdlagent.arch.x86.patch;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.SiteInstruction.Form;
import org.mdlagent.arch.site.SiteInstruction.Role;
import org.mdlagent.arch.x86.bytes.GnuTools;

/// What an entry decodes to after each store of its patch, for a thread at any place where one may stand, by objdump.
class EntryViewTest {
    private static final int UNIT = 8;
    private static final int BEHIND_BYTES = 16;

    /// What compilers leave, and where a thread may stand in it.
    private enum Left {
        CALL("e8 11 22 33 44", Form.CALL, 0),
        CALL_PADDED("67 e8 11 22 33 44", Form.CALL_PADDED, 0),
        CALL_INDIRECT("ff 15 11 22 33 04", Form.CALL_INDIRECT, 0),
        NOP_5("0f 1f 44 00 08", Form.NOP, 0),
        NOP_6("66 0f 1f 44 00 08", Form.NOP, 0),
        NOP_7("0f 1f 80 00 02 00 00", Form.NOP, 0),
        NOP_8("0f 1f 84 00 00 02 00 00", Form.NOP, 0),
        NOP_9("66 0f 1f 84 00 00 02 00 00", Form.NOP, 0),
        NOP_10("2e 66 0f 1f 84 00 00 02 00 00", Form.NOP, 0),
        XRAY("eb 09 66 0f 1f 84 00 00 02 00 00", Form.SKIP, 0),
        NOPS_5("90 90 90 90 90", Form.NOP_RUN, 0, 1, 2, 3, 4),
        NOPS_7("90 90 90 90 90 90 90", Form.NOP_RUN, 0, 1, 2, 3, 4, 5, 6),
        NOPS_2("90 90", Form.NOP_SHORT, 0, 1),
        NOPS_3("90 90 90", Form.NOP_SHORT, 0, 1, 2),
        NOP_2("66 90", Form.NOP_SHORT, 0);

        final byte[] bytes;
        final Form form;
        final int[] standing;

        Left(String bytes, Form form, int... standing) {
            this.bytes = HexFormat.ofDelimiter(" ").parseHex(bytes);
            this.form = form;
            this.standing = standing;
        }
    }

    @TempDir
    Path directory;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(256, 64);
    private final InstructionSet instructions = InstructionSet.ofAtomicUnit(UNIT);
    private final Map<String, List<String>> decoded = new HashMap<>();

    @AfterEach
    void close() {
        arena.close();
    }

    @ParameterizedTest
    @EnumSource
    void shouldJumpToStubWhenOnAndDoNothingElseAtEveryOffset(Left left) throws Exception {
        int refused = 0;
        for (int offset = 64; offset < 64 + 2 * UNIT; offset++) {
            SiteInstruction site = write(left, offset, Role.FUNCTION);
            if (site == null) {
                refused++;
                continue;
            }
            assertThat(site.form()).isEqualTo(left.form);
            assertThat(site.length()).isEqualTo(left.bytes.length);
            check(left, site, "jmp");
        }
        // A long NOP, or XRay's jump, split behind its first byte.
        assertThat(refused).isEqualTo(Set.of(Left.NOP_9, Left.NOP_10, Left.XRAY).contains(left) ? 2 : 0);
    }

    @ParameterizedTest
    @EnumSource(names = {"CALL", "CALL_PADDED", "CALL_INDIRECT", "NOP_5"})
    void shouldCallStubOfSiteThatCounts(Left left) throws Exception {
        for (int offset = 64; offset < 64 + UNIT; offset++) {
            check(left, requireNonNull(write(left, offset, Role.COUNT)), "call");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NOP_6", "NOP_9", "XRAY", "NOPS_5", "NOPS_2"})
    void shouldNotCountWithinAFunctionWhereNoCallFits(Left left) {
        assertThat(write(left, 64, Role.COUNT, 16)).isNull();
    }

    @ParameterizedTest
    @EnumSource(names = {"NOP_6", "NOP_9", "XRAY", "NOPS_5", "NOPS_2"})
    void shouldJumpToStubOfSiteThatCountsWhereTheFunctionBegins(Left left) throws Exception {
        SiteInstruction site = requireNonNull(write(left, 64, Role.COUNT));

        assertThat(site.countsByJump()).isTrue();
        check(left, site, "jmp");
    }

    private @Nullable SiteInstruction write(Left left, int offset, Role role) {
        return write(left, offset, role, 0);
    }

    /// @param into bytes of the function before the site
    private @Nullable SiteInstruction write(Left left, int offset, Role role, int into) {
        memory.fill((byte) 0x90);
        long address = memory.address() + offset;
        Memory.put(address, left.bytes);
        Memory.putByte(address + left.bytes.length, (byte) 0xC3); // ret: the run of NOPs ends here
        return instructions.sites().entrySite(address, address + 32, role, address - into, 5);
    }

    private void check(Left left, SiteInstruction site, String transfer) throws Exception {
        long address = site.address();
        long[] hops = instructions.sites().hops(site);
        long target = hops.length == 0 ? address + 0x12345678 : hops[hops.length - 1];
        PatchPlan plan = instructions.sites().plan(site, target, 0);
        assertWithinUnit(plan.neutralAt(), plan.neutralSize());
        assertWithinUnit(plan.toggleAt(), plan.toggleSize());
        if (plan.rewritten().length > 0) {
            assertThat((address + 1) % UNIT).as("split behind one byte").isZero();
            assertThat(plan.rewritten()).hasSize(site.length()).hasSizeLessThanOrEqualTo(8);
            Memory.put(address, plan.rewritten());
            assertNothing(left, site, "rewritten");
        }
        store(plan.neutralAt(), plan.neutral(), plan.neutralSize());
        assertNothing(left, site, "neutral");
        for (int i = 0; i < plan.tail().length; i++) {
            store(plan.tailAt() + i, plan.tail()[i], 1);
            assertNothing(left, site, "tail " + i);
        }
        store(plan.toggleAt(), plan.off(), plan.toggleSize());
        assertNothing(left, site, "off");
        store(plan.toggleAt(), plan.on(), plan.toggleSize());
        assertThat(decode(address, site.length()).getFirst())
                .as("on, %s at %d", left, address & 63)
                .matches(".*\\b" + transfer + " 0x" + Long.toHexString(target));
        for (int from : left.standing) {
            if (from > 0) {
                assertNothing(site, from, "on, standing at " + from);
            }
        }
        store(plan.toggleAt(), plan.off(), plan.toggleSize());
        assertNothing(left, site, "off again");
        assertThat(Memory.getByte(address + site.length())).isEqualTo((byte) 0xC3);
        assertThat(Memory.getByte(address - 1)).isEqualTo((byte) 0x90);
    }

    private void assertNothing(Left left, SiteInstruction site, String state) throws Exception {
        for (int from : left.standing) {
            assertNothing(site, from, state);
        }
    }

    /// Whether a thread at offset `from` comes to the end of the site, or to `ret` behind it, and only flags change.
    private void assertNothing(SiteInstruction site, int from, String state) throws Exception {
        long behind = site.address() + site.length();
        long at = site.address() + from;
        while (at < behind) {
            String instruction = decode(at, (int) (behind + 1 - at)).getFirst();
            int space = instruction.indexOf(' ');
            String text = instruction.substring(space + 1);
            if (text.matches("jmp 0x" + Long.toHexString(behind))) {
                return;
            }
            assertThat(text)
                    .as("%s at +%d of %s", state, at - site.address(), site)
                    .matches("(cs |es |ss )?nop.*|xchg %ax,%ax|(ds |addr32 )?test \\$0x[0-9a-f]+,%eax|cmc|clc|stc|cld"
                            + "|data16 stc|([scde]s )?ret");
            at += Integer.parseInt(instruction.substring(0, space));
        }
        assertThat(at).as(state).isIn(behind, behind + 1);
    }

    private List<String> decode(long address, int length) throws IOException, InterruptedException {
        byte[] bytes = Memory.copy(address, length);
        String key = HexFormat.of().formatHex(bytes) + '@' + address;
        List<String> known = decoded.get(key);
        if (known == null) {
            known = GnuTools.disassemble(directory, bytes, address);
            decoded.put(key, known);
        }
        return known;
    }

    private static void assertWithinUnit(long at, int size) {
        assertThat(at / UNIT).isEqualTo((at + size - 1) / UNIT);
    }

    private static void store(long address, long value, int size) {
        for (int i = 0; i < size; i++) {
            Memory.putByte(address + i, (byte) (value >> 8 * i));
        }
    }

    @Test
    void shouldHaveHopsOfRunsOfNopsAtTheSameDistancesInBothDirections() {
        long[] one = instructions.sites().hops(requireNonNull(write(Left.NOPS_5, 64, Role.FUNCTION)));
        long first = memory.address() + 64;
        long[] other = instructions.sites().hops(requireNonNull(write(Left.NOPS_7, 77, Role.FUNCTION)));

        assertThat(one).hasSameSizeAs(other);
        for (int i = 0; i < one.length; i++) {
            assertThat(one[i] - first).isEqualTo(other[i] - (memory.address() + 77));
        }
        assertThat(one[0]).isEqualTo(first + 5 + 0x90909090);
        assertThat(Arrays.stream(one)).anyMatch(hop -> hop > first);
        assertThat(one).doesNotHaveDuplicates();
    }

    @Test
    void shouldRefuseDisplacementWithAnEffect() {
        SiteInstruction site = requireNonNull(write(Left.NOPS_5, 64, Role.FUNCTION));

        assertThatThrownBy(() -> instructions.sites().plan(site, site.address() + 5 + 0x90909050, 0)) // push %rax
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has an effect");
    }

    @Test
    void shouldNotPutSegmentPrefixBeforeAnother() {
        SiteInstruction site = requireNonNull(write(Left.NOPS_5, 64, Role.FUNCTION));
        long[] hops = instructions.sites().hops(site);
        long ahead = IntStream.range(0, hops.length)
                .filter(i -> hops[i] > site.address())
                .mapToLong(i -> hops[i])
                .findFirst()
                .orElseThrow();
        assertThat(instructions.sites().plan(site, ahead, 0).tail()[3]).isEqualTo((byte) 0x36);

        Memory.put(site.address() + 5, new byte[] {0x66, 0x64, (byte) 0x8B}); // an access by %fs

        assertThatThrownBy(() -> instructions.sites().plan(site, ahead, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(instructions.sites().plan(site, hops[0], 0).tail()[3]).isEqualTo((byte) 0x90);
    }

    @Test
    void shouldFindHopInFrontOfFunctionWithLandingPad() {
        memory.fill((byte) 0x90);
        long function = memory.address() + 64;
        Memory.put(function, HexFormat.ofDelimiter(" ").parseHex("f3 0f 1e fa 90 90 55")); // endbr64; nop; nop; push

        long first = instructions.search().firstInstruction(function);
        SiteInstruction site =
                requireNonNull(instructions.sites().entrySite(first, function + 7, Role.FUNCTION, function, 5));

        assertThat(first).isEqualTo(function + 4);
        assertThat(instructions.sites().hops(site)).containsExactly(function - 5);
        assertThat(instructions.sites().plan(site, function - 5, 0).tail())
                .containsExactly(0xF5); // cmc; -11 as a displacement
        assertThat(instructions.sites().entrySite(first, function + 7, Role.FUNCTION, function, 4))
                .as("no room in front")
                .isNull();
    }

    @Test
    void shouldFindSiteBehindDataOnTheType() {
        long function = memory.address() + 64;
        // clang++-14 -fsanitize=function: jmp over the data; the data; nopl; push
        Memory.put(function, HexFormat.ofDelimiter(" ").parseHex("eb 06 76 32 f0 49 01 00 0f 1f 44 00 08 53"));

        long first = instructions.search().firstInstruction(function);

        assertThat(first).isEqualTo(function + 8);
        assertThat(requireNonNull(instructions.sites().entrySite(first, function + 14, Role.FUNCTION, function, 0))
                        .form())
                .isEqualTo(Form.NOP);
    }

    @Test
    void shouldFindNothingInOtherCode() {
        for (String other :
                List.of("55 48 89 e5 90 90", "90 55", "eb 02 90 90", "0f 1f 00 55", "66 55", "0f 1e fa 55")) {
            memory.fill((byte) 0xC3);
            Memory.put(memory.address() + 64, HexFormat.ofDelimiter(" ").parseHex(other));
            assertThat(instructions
                            .sites()
                            .entrySite(
                                    memory.address() + 64,
                                    memory.address() + 96,
                                    Role.FUNCTION,
                                    memory.address() + 64,
                                    5))
                    .as(other)
                    .isNull();
        }
    }

    @Test
    void shouldNotReadBehindTheText() {
        write(Left.NOPS_5, 64, Role.FUNCTION);
        long address = memory.address() + 64;

        assertThat(instructions.sites().entrySite(address, address + 4, Role.FUNCTION, address, 0))
                .isNull();
        assertThat(instructions.sites().entrySite(address, address + 5, Role.FUNCTION, address, 0))
                .isNotNull();
    }

    @Test
    void shouldRefuseOtherInstruction() {
        SiteInstruction site = requireNonNull(write(Left.NOP_5, 64, Role.FUNCTION));
        Memory.putByte(site.address(), (byte) 0xE8);

        assertThatThrownBy(() -> instructions.sites().plan(site, site.address(), 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no NOP at 0x" + Long.toHexString(site.address()) + " but CALL");
        assertThat(EnumSet.allOf(Form.class)).hasSize(10);
    }
}
