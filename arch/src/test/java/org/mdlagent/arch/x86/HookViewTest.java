package org.mdlagent.arch.x86;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.HookSite;
import org.mdlagent.arch.HookSite.Form;
import org.mdlagent.arch.Memory;
import org.mdlagent.arch.PatchPlan;

/// What a site decodes to after each step of its patch, at every offset against the atomic unit, by objdump.
class HookViewTest {
    private static final int[] UNITS = {8, 64};

    @TempDir
    Path directory;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(256, 64);
    private final long stub = memory.address() + 0x12345678;
    private final long returnStub = memory.address() + 0x02040608;

    @AfterEach
    void close() {
        arena.close();
    }

    @Test
    void shouldLeadToStubWhenOnAndNowhereWhenOffAtEveryOffset() throws Exception {
        int checked = 0;
        for (int unit : UNITS) {
            for (Form form : Form.values()) {
                for (int offset = 0; offset < 64; offset++) {
                    check(unit, form, offset);
                    checked++;
                }
            }
        }
        assertThat(checked).isEqualTo(2 * 5 * 64);
    }

    private void check(int unit, Form form, int offset) throws Exception {
        byte[] original = original(form);
        long address = memory.address() + offset;
        memory.fill((byte) 0x90);
        Memory.put(address, original);
        PatchPlan plan = new X86InstructionSet(unit).plan(new HookSite(address, form, false, 0), stub, returnStub);

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
        assertThat(decode(address, original.length).getFirst())
                .as("on, %s at %d", form, offset)
                .endsWith((jump ? "jmp 0x" : "call 0x") + Long.toHexString(stub));
        store(plan.toggleAt(), plan.off(), plan.toggleSize());
        assertNothing(form, address, original.length, "off again");
        assertThat(Memory.getByte(address + original.length)).isEqualTo((byte) 0x90);
        if (offset > 0) {
            assertThat(Memory.getByte(address - 1)).isEqualTo((byte) 0x90);
        }
    }

    /// Whether execution goes on behind the instruction (or returns, for a sibling call) without another effect than
    /// on EAX and flags.
    private void assertNothing(Form form, long address, int length, String state) throws Exception {
        List<String> decoded = decode(address, length);
        String first = decoded.getFirst();
        boolean jump = form == Form.JUMP || form == Form.JUMP_INDIRECT;
        if (jump) {
            assertThat(first).as(state).isEqualTo("1 ret");
            return;
        }
        String behind = Long.toHexString(address + length);
        assertThat(first)
                .as("%s of %s at %d", state, form, address & 63)
                .satisfiesAnyOf(
                        s -> assertThat(s).startsWith(length + " ").contains("nop"),
                        s -> assertThat(s).startsWith("2 jmp 0x" + behind),
                        s -> assertThat(s).isEqualTo("5 call 0x" + Long.toHexString(returnStub)),
                        s -> assertThat(s).startsWith("6 addr32 adc $").endsWith(",%eax"));
    }

    private List<String> decode(long address, int length) throws Exception {
        return GnuTools.disassemble(directory, Memory.copy(address, length), address);
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
        };
    }

    private static void store(long address, int value, int size) {
        for (int i = 0; i < size; i++) {
            Memory.putByte(address + i, (byte) (value >> 8 * i));
        }
    }

    @Test
    void shouldRefuseOtherInstruction() {
        memory.fill((byte) 0x90);
        List<Form> refused = new ArrayList<>();
        for (Form form : Form.values()) {
            assertThatThrownBy(() -> new X86InstructionSet(8)
                            .plan(new HookSite(memory.address(), form, false, 0), stub, returnStub))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(form.name());
            refused.add(form);
        }
        assertThat(refused).hasSize(5);
    }
}
