package org.mdlagent.arch.x86.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.x86.bytes.Assembler.Label;

class AssemblerTest {
    private static final List<Register> REGISTERS = List.of(Register.values());

    @TempDir
    Path directory;

    private final Assembler out = new Assembler(0);
    private final StringBuilder source = new StringBuilder(".intel_syntax noprefix\n");

    @Test
    void shouldEncodeAsGnuAsDoes() throws Exception {
        for (Register a : REGISTERS) {
            for (int displacement : new int[] {0, 8, -32, 0x1234}) {
                String memory = "[" + a + "+" + displacement + "]";
                both("mov r9," + memory, x -> x.load(Register.R9, a, displacement));
                both("mov esi," + memory, x -> x.loadInt(Register.RSI, a, displacement));
                both("mov " + memory + ",rax", x -> x.store(a, displacement, Register.RAX));
                both("mov " + memory + ",r11d", x -> x.storeInt(a, displacement, Register.R11));
                both("mov qword ptr " + memory + ",77", x -> x.store(a, displacement, 77));
                both("lea rdx," + memory, x -> x.lea(Register.RDX, a, displacement));
                both("add r8," + memory, x -> x.add(Register.R8, a, displacement));
                both("sub r8," + memory, x -> x.sub(Register.R8, a, displacement));
                both("bt qword ptr " + memory + ",5", x -> x.bitTest(a, displacement, 5));
                both("bts qword ptr " + memory + ",63", x -> x.bitSet(a, displacement, 63));
                both("btr qword ptr " + memory + ",63", x -> x.bitReset(a, displacement, 63));
                both("and r8," + memory, x -> x.and(Register.R8, a, displacement));
                both("add " + memory + ",rcx", x -> x.addTo(a, displacement, Register.RCX));
                both("inc qword ptr " + memory, x -> x.increment(a, displacement));
                both("dec qword ptr " + memory, x -> x.decrement(a, displacement));
                both("imul r9," + memory, x -> x.multiply(Register.R9, a, displacement));
                both("test byte ptr " + memory + ",2", x -> x.testByte(a, displacement, 2));
                both("jmp " + memory, x -> x.jumpThrough(a, displacement));
                both("movzx r8,byte ptr " + memory, x -> x.load(Register.R8, a, displacement, 1, false));
                both("movsx r8,byte ptr " + memory, x -> x.load(Register.R8, a, displacement, 1, true));
                both("movzx r8,word ptr " + memory, x -> x.load(Register.R8, a, displacement, 2, false));
                both("movsx r8,word ptr " + memory, x -> x.load(Register.R8, a, displacement, 2, true));
                both("mov r8d," + memory, x -> x.load(Register.R8, a, displacement, 4, false));
                both("movsxd r8,dword ptr " + memory, x -> x.load(Register.R8, a, displacement, 4, true));
                both("mov r8," + memory, x -> x.load(Register.R8, a, displacement, 8, false));
                both("lock inc dword ptr " + memory, x -> x.lockIncrementInt(a, displacement));
                both("mov dword ptr " + memory + ",7", x -> x.storeInt(a, displacement, 7));
                both("dec dword ptr " + memory, x -> x.decrementInt(a, displacement));
                both("lock dec dword ptr " + memory, x -> x.lockDecrementInt(a, displacement));
                both("cmpxchg " + memory + ",rcx", x -> x.compareExchange(a, displacement, Register.RCX));
                both("cmp rdi," + memory, x -> x.cmp(Register.RDI, a, displacement));
                both("cmp dword ptr " + memory + ",3", x -> x.cmpInt(a, displacement, 3));
                both("add edx,dword ptr " + memory, x -> x.addInt(Register.RDX, a, displacement));
                both("test dword ptr " + memory + ",r8d", x -> x.testInt(a, displacement, Register.R8));
                both("cmp byte ptr " + memory + ",0", x -> x.cmpByte(a, displacement, 0));
                both("mov byte ptr " + memory + ",8", x -> x.storeByte(a, displacement, 8));
                both("cmp qword ptr " + memory + ",0", x -> x.cmp(a, displacement, 0));
                both("cmp qword ptr " + memory + ",1000", x -> x.cmp(a, displacement, 1000));
                both("add qword ptr " + memory + ",-1000", x -> x.addTo(a, displacement, -1000));
                both("add qword ptr " + memory + ",64", x -> x.addTo(a, displacement, 64));
                both("push " + memory, x -> x.push(a, displacement));
                if (a != Register.RSP) { // the address is computed behind the pop
                    both("pop " + memory, x -> x.pop(a, displacement));
                }
                if (a != Register.RSP) {
                    String indexed = "[rdx+" + a + "*8+" + displacement + "]";
                    both("mov r10," + indexed, x -> x.loadIndexed(Register.R10, Register.RDX, a, displacement));
                }
            }
            both("mov " + a + ",r10", x -> x.mov(a, Register.R10));
            both("movabs " + a + ",0x123456789abcdef0", x -> x.mov(a, 0x123456789abcdef0L));
            both("mov " + a.name().toLowerCase(java.util.Locale.ROOT) + ",-5", x -> x.set(a, -5));
            both("movabs " + a + ",0x123456789abcdef1", x -> x.set(a, 0x123456789abcdef1L));
            both("imul " + a + ",r9", x -> x.multiply(a, Register.R9));
            both("neg " + a, x -> x.negate(a));
            both("cqo\nidiv " + a, x -> x.divide(a));
            both("cmp " + a + ",-1", x -> x.cmp(a, -1));
            both("add " + a + ",rsi", x -> x.add(a, Register.RSI));
            both("sub " + a + ",r12", x -> x.sub(a, Register.R12));
            both("or " + a + ",rdx", x -> x.or(a, Register.RDX));
            both("sub " + a + ",7", x -> x.sub(a, 7));
            both("and " + a + ",127", x -> x.and(a, 127));
            both("or " + a + ",255", x -> x.or(a, 255));
            both("shl " + a + ",32", x -> x.shiftLeft(a, 32));
            both("shr " + a + ",7", x -> x.shiftRight(a, 7));
            both("shr " + a + ",cl", x -> x.shiftRightByCl(a));
            both("and " + a + ",rdx", x -> x.and(a, Register.RDX));
            both("imul " + a + ",rdx,3", x -> x.multiplyBy(a, Register.RDX, 3));
            both("imul " + a + ",r9,300", x -> x.multiplyBy(a, Register.R9, 300));
            both("sar " + a + ",17", x -> x.shiftRightSigned(a, 17));
            both("bsf " + a + ",rcx", x -> x.bitScanForward(a, Register.RCX));
            both("bsr " + a + ",rcx", x -> x.bitScanReverse(a, Register.RCX));
            both("test " + a + "," + a, x -> x.test(a));
            both("cmp " + a + ",rax", x -> x.cmp(a, Register.RAX));
            both("jmp " + a, x -> x.jump(a));
            both("mov " + a + ",qword ptr fs:[-0x1234]", x -> x.loadThreadWord(a, -0x1234));
            if (a != Register.RSP) {
                both("lea r10,[r11+" + a + "*8]", x -> x.leaIndexed(Register.R10, Register.R11, a));
                both("inc qword ptr [rsi+" + a + "*8]", x -> x.incrementIndexed(Register.RSI, a));
                both("test byte ptr [r10+" + a + "*8],63", x -> x.testLowByteIndexed(Register.R10, a, 63));
                both("dec dword ptr [rsi+" + a + "*8]", x -> x.decrementIntIndexed(Register.RSI, a));
                both("cmp dword ptr [r10+" + a + "*8+4],1", x -> x.cmpIntIndexed(Register.R10, a, 4, 1));
            }
        }
        both("mov edx,1", x -> x.movInt(Register.RDX, 1));
        both("mov r9d,-1", x -> x.movInt(Register.R9, -1));
        both("mov r9d,7", x -> x.set(Register.R9, 7));
        both("syscall", Assembler::systemCall);
        both("lea rax,[rsp+0x11111111]", x -> x.leaWide(Register.RAX, Register.RSP, 0x11111111));
        both("lea rax,[rbp+0x11111111]", x -> x.leaWide(Register.RAX, Register.RBP, 0x11111111));
        both("rdtsc", Assembler::rdtsc);
        both("ret", Assembler::ret);

        assertThat(out.toBytes()).isEqualTo(GnuTools.assemble(directory, source.toString()));
    }

    @Test
    void shouldResolveLabelsInBothDirections() throws Exception {
        Label back = new Label();
        Label ahead = new Label();
        out.bind(back);
        out.jump(ahead);
        out.jump(Condition.EQUAL, back);
        out.bind(ahead);
        out.ret();

        assertThat(GnuTools.disassemble(directory, out.toBytes(), 0x1000))
                .containsExactly("5 jmp 0x100b", "6 je 0x1000", "1 ret");
    }

    @Test
    void shouldJumpThroughLiteral() throws Exception {
        Label literal = new Label();
        out.jumpThrough(literal);
        out.literal(literal, 0x1122334455667788L);

        assertThat(out.toBytes()).hasSize(16).endsWith(0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11);
        assertThat(GnuTools.disassemble(directory, out.toBytes(), 0x1000)).startsWith("6 jmp *0x2(%rip) # 0x1008");
    }

    @Test
    void shouldRefuseShortJumpThatIsTooLong() throws Exception {
        Label near = new Label();
        Label far = new Label();
        out.jumpShort(Condition.EQUAL, near);
        out.bind(near);
        assertThat(GnuTools.disassemble(directory, out.toBytes(), 0x1000)).containsExactly("2 je 0x1002");

        out.jumpShort(Condition.EQUAL, far);
        for (int i = 0; i < 128; i++) {
            out.ret();
        }
        out.bind(far);
        assertThatThrownBy(out::toBytes)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("128");
    }

    @Test
    void shouldRefuseLabelThatIsNotBound() {
        out.jump(new Label());
        assertThatThrownBy(out::toBytes).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldRefuseTargetOutOfReach() {
        assertThatThrownBy(() -> out.jump(1L << 32)).isInstanceOf(IllegalArgumentException.class);
    }

    private void both(String line, Consumer<Assembler> emit) {
        source.append(line.toLowerCase(java.util.Locale.ROOT)).append('\n');
        emit.accept(out);
    }
}
