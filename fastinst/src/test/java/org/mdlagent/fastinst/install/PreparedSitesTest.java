package org.mdlagent.fastinst.install;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.cpu.Membarrier;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.callpatch.CallPatch;

/// [CallPatch#prepare] against [CallPatch#install], the protocol for text that runs.
class PreparedSitesTest {
    private static final NativeApi API = NativeApi.ofHarness(Path.of("../native-shim/target/cmake/libmdl_harness.so"));
    private static final int LINE = 64;

    private final CodeMemory code = new CodeMemory(API);
    private final CodeArena arena = new CodeArena(code, 1 << 20);
    private final Membarrier sync = new Membarrier(API);
    private final InstructionSet instructions = InstructionSet.host();
    private final CallPatch callPatch = new CallPatch(API, code, arena, sync, instructions);
    private final Random random = new Random(1);
    private final byte[] before = new byte[LINE];

    /// Words of every size, anywhere in the instruction, that overlap as they like; then the tail, behind them or not.
    @Test
    void shouldLeaveWhatTheProtocolLeaves() throws IOException {
        long line = line();
        for (int i = 0; i < 20_000; i++) {
            long address = line + random.nextInt(20);
            byte[] tail = new byte[random.nextInt(5)];
            random.nextBytes(tail);
            assertSame(
                    line,
                    new PatchPlan(
                            address,
                            12,
                            address + random.nextInt(8),
                            1 << random.nextInt(3),
                            random.nextInt(),
                            address + random.nextInt(8),
                            tail,
                            address + random.nextInt(8),
                            1 << random.nextInt(3),
                            random.nextInt(),
                            random.nextInt(),
                            rewritten(random.nextInt(2) * 8)));
        }
    }

    @Test
    void shouldPutAJumpThereThatNoOneStoreMakes() throws IOException {
        long line = line();
        byte[] expected = before.clone();
        System.arraycopy(new byte[] {(byte) 0xE9, 1, 2, 3, 4}, 0, expected, 6, 5);

        callPatch.prepareOn(PatchPlan.asItIs(line + 6, 6, 5, 0x04_03_02_01_E9L, 0));

        assertThat(Memory.copy(line, LINE)).isEqualTo(expected);
    }

    @Test
    void shouldLeaveAloneWhatIsMade() throws IOException {
        long line = line();
        callPatch.prepare(PatchPlan.asItIs(line, 8, 5, 1, 2));

        assertThat(Memory.copy(line, LINE)).isEqualTo(before);
    }

    private void assertSame(long line, PatchPlan plan) {
        Memory.put(code.alias(line), before);
        Memory.put(code.alias(plan.address()), plan.rewritten());
        callPatch.install(List.of(plan));
        byte[] expected = Memory.copy(line, LINE);
        Memory.put(code.alias(line), before);

        callPatch.prepare(plan);

        assertThat(Memory.copy(line, LINE)).as(plan.toString()).isEqualTo(expected);
    }

    private byte[] rewritten(int size) {
        byte[] bytes = new byte[size];
        random.nextBytes(bytes);
        return bytes;
    }

    private long line() throws IOException {
        random.nextBytes(before);
        long line = code.allocateNear(API.session(), API.session(), 4096);
        Memory.put(code.alias(line), before);
        return line;
    }
}
