package org.mdlagent.arch.x86.patch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.SiteInstruction.Form;
import org.mdlagent.arch.x86.bytes.GnuTools;

/// What a site decodes to after each step of its patch, at every offset against the atomic unit, by objdump.
class HookViewTest {
    private static final int[] UNITS = {8, 64};
    private static final Set<Form> TRANSFERS = EnumSet.range(Form.CALL, Form.JUMP_INDIRECT);

    @TempDir
    Path directory;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(256, 64);
    private final long stub = memory.address() + 0x12345678;
    private final long returnStub = memory.address() + 0x02040608;

    /// What is decoded at the end, all at once.
    private final List<Look> looks = new ArrayList<>();

    @AfterEach
    void close() {
        arena.close();
    }

    @Test
    void shouldLeadToStubWhenOnAndNowhereWhenOffAtEveryOffset() throws Exception {
        int checked = 0;
        for (int unit : UNITS) {
            for (Form form : TRANSFERS) {
                for (int offset = 0; offset < 64; offset++) {
                    check(unit, form, offset);
                    checked++;
                }
            }
        }
        assertThat(checked).isEqualTo(2 * 5 * 64);
        assertLooks();
    }

    /// Code as it was, and what must be true of its first instruction.
    private record Look(byte[] code, long address, Consumer<String> first) {}

    private void look(long address, int length, Consumer<String> first) {
        looks.add(new Look(Memory.copy(address, length), address, first));
    }

    private void assertLooks() throws Exception {
        List<String> firsts = GnuTools.firsts(
                directory,
                looks.stream().map(Look::code).toList(),
                looks.stream().map(Look::address).toList());
        for (int i = 0; i < firsts.size(); i++) {
            looks.get(i).first.accept(firsts.get(i));
        }
    }

    private void check(int unit, Form form, int offset) {
        byte[] original = original(form);
        long address = memory.address() + offset;
        memory.fill((byte) 0x90);
        Memory.put(address, original);
        PatchPlan plan = InstructionSet.ofAtomicUnit(unit)
                .sites()
                .plan(new SiteInstruction(address, form, SiteInstruction.Role.ENTRY, 0), stub, returnStub);

        assertThat(plan.length()).isEqualTo(original.length);
        assertWithinUnit(plan.neutralAt(), plan.neutralSize(), unit);
        assertWithinUnit(plan.toggleAt(), plan.toggleSize(), unit);

        store(plan.neutralAt(), plan.neutral(), plan.neutralSize());
        assertNothing(form, address, original.length, "neutral");
        for (int i = 0; i < plan.tail().length; i++) {
            store(plan.tailAt() + i, plan.tail()[i], 1);
            assertNothing(form, address, original.length, "tail");
        }
        store(plan.toggleAt(), plan.off(), plan.toggleSize());
        assertNothing(form, address, original.length, "off");
        store(plan.toggleAt(), plan.on(), plan.toggleSize());
        boolean jump = form == Form.JUMP || form == Form.JUMP_INDIRECT;
        String on = (jump ? "jmp 0x" : "call 0x") + Long.toHexString(stub);
        look(
                address,
                original.length,
                first -> assertThat(first).as("on, %s at %d", form, offset).endsWith(on));
        store(plan.toggleAt(), plan.off(), plan.toggleSize());
        assertNothing(form, address, original.length, "off again");
        assertThat(Memory.getByte(address + original.length)).isEqualTo((byte) 0x90);
        if (offset > 0) {
            assertThat(Memory.getByte(address - 1)).isEqualTo((byte) 0x90);
        }
    }

    /// Whether execution goes on behind the instruction (or returns, for a sibling call) without another effect than
    /// on EAX and flags.
    private void assertNothing(Form form, long address, int length, String state) {
        boolean jump = form == Form.JUMP || form == Form.JUMP_INDIRECT;
        if (jump) {
            look(address, length, first -> assertThat(first).as(state).isEqualTo("1 ret"));
            return;
        }
        String behind = Long.toHexString(address + length);
        look(
                address,
                length,
                first -> assertThat(first)
                        .as("%s of %s at %d", state, form, address & 63)
                        .satisfiesAnyOf(
                                s -> assertThat(s).startsWith(length + " ").contains("nop"),
                                s -> assertThat(s).startsWith("2 jmp 0x" + behind),
                                s -> assertThat(s).isEqualTo("5 call 0x" + Long.toHexString(returnStub)),
                                s -> assertThat(s).startsWith("6 addr32 adc $").endsWith(",%eax")));
    }

    private static void assertWithinUnit(long at, int size, int unit) {
        assertThat(at / unit).isEqualTo((at + size - 1) / unit);
    }

    private static byte[] original(Form form) {
        return switch (form) {
            case CALL -> new byte[] {(byte) 0xE8, 1, 2, 3, 4};
            case CALL_PADDED -> new byte[] {0x67, (byte) 0xE8, 1, 2, 3, 4};
            case CALL_INDIRECT -> new byte[] {(byte) 0xFF, 0x15, 1, 2, 3, 4};
            case JUMP -> new byte[] {(byte) 0xE9, 1, 2, 3, 4};
            case JUMP_INDIRECT -> new byte[] {(byte) 0xFF, 0x25, 1, 2, 3, 4};
            case NOP, NOP_RUN, NOP_SHORT, SKIP, INSTRUCTIONS ->
                throw new IllegalArgumentException(form + " is no transfer");
        };
    }

    private static void store(long address, long value, int size) {
        for (int i = 0; i < size; i++) {
            Memory.putByte(address + i, (byte) (value >> 8 * i));
        }
    }

    /// The whole instruction, on and off, for displacements 0x44332211 to the stub and 0x08070605 to the empty
    /// function. Regenerate the mnemonics: `objdump -D -b binary -m i386:x86-64 FILE`.
    private enum Golden {
        CALL_WHOLE("e8 11 22 33 44", "0f 1f 44 00 44", "5 nopl 0x44(%rax,%rax,1)"),
        CALL_BEHIND_TWO("e8 11 22 33 44", "eb 03 22 33 44", "2 jmp 0x5"),
        CALL_BEHIND_ONE("e8 11 22 33 44", "e8 05 06 07 08", "5 call 0x807060a"),
        PADDED_WHOLE("67 e8 11 22 33 44", "66 0f 1f 44 33 44", "6 nopw 0x44(%rbx,%rsi,1)"),
        PADDED_BEHIND_TWO("67 e8 11 22 33 44", "eb 04 11 22 33 44", "2 jmp 0x6"),
        PADDED_BEHIND_ONE("67 e8 11 22 33 44", "67 0f 1f 44 00 44", "6 nopl 0x44(%eax,%eax,1)"),
        JUMP("e9 11 22 33 44", "c3 11 22 33 44", "1 ret");

        final String on;
        final String off;
        final String offMnemonic;

        Golden(String on, String off, String offMnemonic) {
            this.on = on;
            this.off = off;
            this.offMnemonic = offMnemonic;
        }

        /// @param before bytes in front of the boundary of an atomic unit
        static Golden of(Form form, int before) {
            return switch (form) {
                case CALL -> before == 1 ? CALL_BEHIND_ONE : before < 4 ? CALL_BEHIND_TWO : CALL_WHOLE;
                case CALL_PADDED, CALL_INDIRECT ->
                    before == 1 ? PADDED_BEHIND_ONE : before < 4 ? PADDED_BEHIND_TWO : PADDED_WHOLE;
                case JUMP, JUMP_INDIRECT -> JUMP;
                case NOP, NOP_RUN, NOP_SHORT, SKIP, INSTRUCTIONS ->
                    throw new IllegalArgumentException(form + " is no transfer");
            };
        }
    }

    @Test
    void shouldStoreGoldenBytesAtEveryOffset() {
        Set<Golden> used = EnumSet.noneOf(Golden.class);
        for (int unit : UNITS) {
            for (Form form : TRANSFERS) {
                for (int offset = 0; offset < 64; offset++) {
                    Golden golden = Golden.of(form, unit - offset % unit);
                    used.add(golden);
                    long address = memory.address() + offset;
                    int length = golden.on.length() / 3 + 1;
                    memory.fill((byte) 0x90);
                    Memory.put(address, original(form));
                    PatchPlan plan = InstructionSet.ofAtomicUnit(unit)
                            .sites()
                            .plan(
                                    new SiteInstruction(address, form, SiteInstruction.Role.ENTRY, 0),
                                    address + length + 0x44332211,
                                    address + length + 0x08070605);
                    store(plan.neutralAt(), plan.neutral(), plan.neutralSize());
                    for (int i = 0; i < plan.tail().length; i++) {
                        store(plan.tailAt() + i, plan.tail()[i], 1);
                    }
                    store(plan.toggleAt(), plan.off(), plan.toggleSize());
                    assertThat(hex(address, length))
                            .as("off, %s at %d, unit %d", form, offset, unit)
                            .isEqualTo(golden.off);
                    store(plan.toggleAt(), plan.on(), plan.toggleSize());
                    assertThat(hex(address, length))
                            .as("on, %s at %d, unit %d", form, offset, unit)
                            .isEqualTo(golden.on);
                }
            }
        }
        assertThat(used).containsExactly(Golden.values());
    }

    @Test
    void shouldHaveGoldenBytesThatAreWhatTheirMnemonicsSay() throws Exception {
        for (Golden golden : Golden.values()) {
            byte[] off = HexFormat.ofDelimiter(" ").parseHex(golden.off);
            assertThat(GnuTools.disassemble(directory, off, 0).getFirst())
                    .as(golden.name())
                    .isEqualTo(golden.offMnemonic);
        }
    }

    private static String hex(long address, int length) {
        return HexFormat.ofDelimiter(" ").formatHex(Memory.copy(address, length));
    }

    @Test
    void shouldNeedEmptyFunctionOnlyBehindOneByte() {
        memory.fill((byte) 0x90);
        Memory.put(memory.address(), original(Form.CALL));
        Memory.put(memory.address() + 15, original(Form.CALL));
        InstructionSet instructions = InstructionSet.ofAtomicUnit(8);
        long far = memory.address() + (1L << 40);

        PatchPlan whole = instructions
                .sites()
                .plan(new SiteInstruction(memory.address(), Form.CALL, SiteInstruction.Role.ENTRY, 0), stub, far);

        assertThat(whole.toggleAt()).isEqualTo(memory.address());
        SiteInstruction split = new SiteInstruction(memory.address() + 15, Form.CALL, SiteInstruction.Role.ENTRY, 0);
        assertThatThrownBy(() -> instructions.sites().plan(split, stub, far))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0x" + Long.toHexString(far) + " is out of reach");
    }

    @Test
    void shouldRefuseOtherInstruction() {
        memory.fill((byte) 0x90);
        List<Form> refused = new ArrayList<>();
        for (Form form : TRANSFERS) {
            assertThatThrownBy(() -> InstructionSet.ofAtomicUnit(8)
                            .sites()
                            .plan(
                                    new SiteInstruction(memory.address(), form, SiteInstruction.Role.ENTRY, 0),
                                    stub,
                                    returnStub))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(form.name());
            refused.add(form);
        }
        assertThat(refused).hasSize(5);
    }
}
