package org.mdlagent.arch.x86.emit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.x86.bytes.Encoding;
import org.mdlagent.arch.x86.bytes.GnuTools;

/// What the stubs decode to, by objdump, and that other code finds its places in them.
class FunctionStubTest {
    private static final long SITE = 0x7F1122334455L;
    private static final long AT = 0x40000;
    private static final long BODY = 0x12345;
    private static final long ENTRY = 0x50000;
    private static final long EXIT = 0x50080;
    private static final long SIBLING = 0x50100;

    @TempDir
    Path directory;

    private final InstructionSet instructions = InstructionSet.ofAtomicUnit(8);

    @Test
    void shouldCallTheBodyBetweenEntryAndExit() throws Exception {
        byte[] stub = instructions.stubs().functionStub(SITE, AT, BODY, ENTRY, EXIT, SIBLING);

        assertThat(stub).hasSize(instructions.stubs().functionStubSize());
        assertThat(GnuTools.disassemble(directory, stub, AT))
                .startsWith(
                        "8 mov %r11,-0x28(%rsp)",
                        "4 sub $0x18,%rsp",
                        "10 movabs $0x7f1122334455,%r11",
                        "1 nop",
                        "5 call 0x50000",
                        "2 jb 0x40035",
                        "2 je 0x4002c",
                        "2 xchg %ax,%ax",
                        "5 call 0x12345",
                        "5 jmp 0x50080",
                        "4 add $0x18,%rsp",
                        "5 jmp 0x12345",
                        "4 add $0x20,%rsp",
                        "5 jmp 0x50100");
    }

    /// Those of `stub.h` too.
    @Test
    void shouldHaveItsPlacesWhereOthersLook() throws Exception {
        List<String> lines = GnuTools.disassemble(
                directory, instructions.stubs().functionStub(SITE, AT, BODY, ENTRY, EXIT, SIBLING), AT);

        assertThat(offsetBehind(lines, "sub $0x18,%rsp")).isEqualTo(FunctionStub.WORDS_AT);
        assertThat(offsetBehind(lines, "movabs $0x7f1122334455,%r11"))
                .isEqualTo(FunctionStub.SITE_AT + Long.BYTES)
                .isEqualTo(14 + Long.BYTES);
        assertThat(offsetBehind(lines, "call 0x50000")).isEqualTo(28);
        assertThat(offsetBehind(lines, "call 0x12345"))
                .isEqualTo(FunctionStub.RETURN_AT)
                .isEqualTo(39);
        assertThat(offsetBehind(lines, "add $0x18,%rsp")).isEqualTo(FunctionStub.PASSED_AT);
        assertThat(offsetBehind(lines, "add $0x20,%rsp")).isEqualTo(FunctionStub.SIBLING_AT + 4);
        assertThat(offsetBehind(lines, "jmp 0x50100")).isEqualTo(FunctionStub.END);
    }

    @Test
    void shouldCountInPlaceOfTheFirstInstruction() throws Exception {
        long at = AT + 0x1000;
        byte[] stub = instructions.stubs().functionStub(SITE, AT, BODY, ENTRY, EXIT, SIBLING);
        long head = instructions.stubs().counterHead((int) (at - AT));

        byte[] counting = stub.clone();
        Encoding.putLong(counting, 0, head);

        assertThat(GnuTools.disassemble(directory, Arrays.copyOf(counting, 5), AT))
                .containsExactly("5 jmp 0x41000");
        assertThat(Arrays.copyOfRange(counting, 5, stub.length))
                .as("what else is there")
                .isEqualTo(Arrays.copyOfRange(stub, 5, stub.length));
        assertThat(GnuTools.disassemble(directory, instructions.stubs().counter(at, AT, BODY, 0x10000, -0x48), at))
                .startsWith(
                        "5 mov %r11,-0x28(%rsp)",
                        "9 mov %fs:0xffffffffffffffb8,%r11",
                        "3 test %r11,%r11",
                        "2 je 0x41037",
                        "4 mov 0x58(%r11),%r11",
                        "3 test %r11,%r11",
                        "2 je 0x41037",
                        "8 testb $0x3f,0x80000(%r11)",
                        "2 je 0x41037",
                        "7 incq 0x80000(%r11)",
                        "5 mov -0x28(%rsp),%r11",
                        "5 jmp 0x12345",
                        "5 jmp 0x40008");
    }

    /// `STUB_HEAD` of `stub.h`.
    @Test
    void shouldBeginAsTheShimSays() {
        byte[] stub = instructions.stubs().functionStub(SITE, AT, BODY, ENTRY, EXIT, SIBLING);

        assertThat(Arrays.copyOf(stub, 8))
                .isEqualTo(new byte[] {0x4C, (byte) 0x89, (byte) 0x9C, 0x24, (byte) 0xD8, -1, -1, -1});
    }

    @Test
    void shouldLetOneAlignedStoreRetargetEntryAndExit() throws Exception {
        byte[] stub = instructions.stubs().functionStub(SITE, AT, BODY, ENTRY, EXIT, SIBLING);
        byte[] other =
                instructions.stubs().functionStub(SITE, AT, BODY, ENTRY + 0x01020304, EXIT + 0x01020304, SIBLING);

        int[] changed = java.util.stream.IntStream.range(0, stub.length)
                .filter(i -> stub[i] != other[i])
                .map(i -> i & -Integer.BYTES)
                .distinct()
                .toArray();

        assertThat(changed).hasSize(2);
    }

    @Test
    void shouldLeaveTheReturnToWhatCounts() throws Exception {
        assertThat(GnuTools.disassemble(directory, instructions.stubs().countStub(SITE, AT, ENTRY, 0), AT))
                .startsWith("5 mov %r11,-0x8(%rsp)", "10 movabs $0x7f1122334455,%r11", "5 jmp 0x50000");
    }

    /// A site that jumps: the stack is the caller's again when the body begins.
    @Test
    void shouldCallItselfAndGoOnInTheBody() throws Exception {
        byte[] stub = instructions.stubs().countStub(SITE, AT, ENTRY, BODY);

        List<String> lines = GnuTools.disassemble(directory, stub, AT);

        assertThat(stub).hasSize(instructions.stubs().countStubSize());
        assertThat(lines.subList(3, 5))
                .containsExactly("5 call 0x" + Long.toHexString(AT), "5 jmp 0x" + Long.toHexString(BODY));
        assertThat(instructions.stubs().countEntryAt()).isEqualTo(5 + 10 + 5);
    }

    @Test
    void shouldRefuseUnalignedPlace() {
        assertThatThrownBy(() -> instructions.stubs().functionStub(SITE, AT + 32, BODY, ENTRY, EXIT, SIBLING))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static int offsetBehind(List<String> lines, String instruction) {
        int offset = 0;
        for (String line : lines) {
            int space = line.indexOf(' ');
            offset += Integer.parseInt(line.substring(0, space));
            if (line.substring(space + 1).equals(instruction)) {
                return offset;
            }
        }
        throw new AssertionError("no " + instruction + " in " + lines);
    }
}
