package org.mdlagent.arch.x86.emit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.x86.bytes.GnuTools;

/// What the stubs decode to, by objdump, and that other code finds its places in them.
class FunctionStubTest {
    private static final long SITE = 0x7F1122334455L;
    private static final long AT = 0x40000;
    private static final long BODY = 0x12345;
    private static final long ENTRY = 0x50000;
    private static final long EXIT = 0x50080;

    @TempDir
    Path directory;

    private final InstructionSet instructions = InstructionSet.ofAtomicUnit(8);

    @Test
    void shouldCallTheBodyBetweenEntryAndExit() throws Exception {
        byte[] stub = instructions.stubs().functionStub(SITE, AT, BODY, ENTRY, EXIT);

        assertThat(stub).hasSize(instructions.stubs().functionStubSize());
        assertThat(GnuTools.disassemble(directory, stub, AT))
                .startsWith(
                        "5 mov %r11,-0x10(%rsp)",
                        "10 movabs $0x7f1122334455,%r11",
                        "5 call 0x50000",
                        "2 je 0x40030",
                        "4 pop 0x20(%r11)",
                        "4 mov %rbx,0x28(%r11)",
                        "3 mov %r11,%rbx",
                        "5 mov -0x18(%rsp),%r11",
                        "5 call 0x12345",
                        "5 jmp 0x50080",
                        "5 mov -0x10(%rsp),%r11",
                        "5 jmp 0x12345");
    }

    @Test
    void shouldHaveItsPlacesWhereUnwindersLook() throws Exception {
        List<String> lines =
                GnuTools.disassemble(directory, instructions.stubs().functionStub(SITE, AT, BODY, ENTRY, EXIT), AT);

        assertThat(offsetBehind(lines, "pop 0x20(%r11)")).isEqualTo(FunctionStub.POPPED_AT);
        assertThat(offsetBehind(lines, "mov %r11,%rbx")).isEqualTo(FunctionStub.FRAMED_AT);
        // STUB_RETURN of calls.h.
        assertThat(offsetBehind(lines, "call 0x12345")).isEqualTo(43);
        assertThat(offsetBehind(lines, "jmp 0x50080")).isEqualTo(FunctionStub.PASS_AT);
    }

    @Test
    void shouldLetOneAlignedStoreRetargetEntryAndExit() throws Exception {
        byte[] stub = instructions.stubs().functionStub(SITE, AT, BODY, ENTRY, EXIT);
        byte[] other = instructions.stubs().functionStub(SITE, AT, BODY, ENTRY + 0x01020304, EXIT + 0x01020304);

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
        assertThatThrownBy(() -> instructions.stubs().functionStub(SITE, AT + 32, BODY, ENTRY, EXIT))
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
