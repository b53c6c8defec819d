package org.mdlagent.arch.x86.emit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeStore;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.SiteInstruction.Form;
import org.mdlagent.arch.x86.bytes.GnuTools;

/// What hook stubs decode to, by objdump, as made and after a store that retargets them.
class HookStubTest {
    private static final long RECORD = 0x7F1122334455L;

    @TempDir
    Path directory;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(256, 64);
    private final InstructionSet instructions = InstructionSet.ofAtomicUnit(8);
    private final long body = memory.address() + 0x1234567;
    private final long otherBody = memory.address() - 0x7654321;

    @AfterEach
    void close() {
        arena.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "CALL | 7 | 16 | 8 lea 0x18(%rsp),%rax | 1 nop",
                "CALL_INDIRECT | 7 | 16 | 8 lea 0x18(%rsp),%rax | 1 nop",
                "JUMP | 7 | 8 | 8 lea 0x8(%rsp),%rax | 1 nop",
                "CALL | 6 | 16 | 7 lea 0x10(%rbp),%rax | 2 xchg %ax,%ax",
                "CALL | -1 | 0 | 5 mov $0x8,%eax | 4 data16 data16 xchg %ax,%ax"
            })
    void shouldComputeKeyLoadRecordAndGoOnWhereItIsTold(
            Form form, int register, long offset, String keyInstruction, String filling) throws Exception {
        long at = memory.address() + 24;
        SiteInstruction site = new SiteInstruction(memory.address() + 200, form, SiteInstruction.Role.ENTRY, 0);
        byte[] stub = instructions.stubs().hookStub(site, new FrameKey(register, offset), RECORD, at, body);
        assertThat(stub).hasSize(instructions.stubs().hookStubSize()).hasSize(24);
        Memory.put(at, stub);
        assertThat(decode(at)).containsExactly(keyInstruction, filling, "10 movabs $0x7f1122334455,%r10", jump(body));

        CodeStore store = instructions.sites().retarget(at, otherBody);

        assertThat(store.size()).isEqualTo(4);
        assertThat(store.address() % 4).as("naturally aligned").isZero();
        for (int i = 0; i < store.size(); i++) {
            Memory.putByte(store.address() + i, (byte) (store.word() >> 8 * i));
        }
        assertThat(decode(at))
                .containsExactly(keyInstruction, filling, "10 movabs $0x7f1122334455,%r10", jump(otherBody));
    }

    @Test
    void shouldRefuseToRetargetAnythingElse() {
        SiteInstruction site = new SiteInstruction(memory.address() + 200, Form.CALL, SiteInstruction.Role.ENTRY, 0);
        byte[] stub = instructions.stubs().hookStub(site, new FrameKey(7, 16), RECORD, memory.address(), body);
        for (int damaged : new int[] {9, 10, 19}) {
            Memory.put(memory.address(), stub);
            Memory.putByte(memory.address() + damaged, (byte) 0x90);
            assertThatThrownBy(() -> instructions.sites().retarget(memory.address(), otherBody))
                    .as("byte %d", damaged)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("no hook stub at 0x" + Long.toHexString(memory.address()));
        }
        Memory.put(memory.address() + 4, stub);
        assertThatThrownBy(() -> instructions.sites().retarget(memory.address() + 4, otherBody))
                .isInstanceOf(IllegalArgumentException.class);
        Memory.put(memory.address(), stub);
        assertThatThrownBy(() -> instructions.sites().retarget(memory.address(), memory.address() + (1L << 32)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("out of reach");
    }

    @Test
    void shouldRefuseUnalignedPlace() {
        SiteInstruction site = new SiteInstruction(memory.address() + 200, Form.CALL, SiteInstruction.Role.ENTRY, 0);

        assertThatThrownBy(
                        () -> instructions.stubs().hookStub(site, FrameKey.UNKNOWN, RECORD, memory.address() + 4, body))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private List<String> decode(long at) throws Exception {
        return GnuTools.disassemble(directory, Memory.copy(at, 24), at);
    }

    private static String jump(long target) {
        return "5 jmp 0x" + Long.toHexString(target);
    }
}
