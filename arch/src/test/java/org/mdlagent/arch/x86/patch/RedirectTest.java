package org.mdlagent.arch.x86.patch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.Redirect;

/// Bytes by `as`; what a thread does that meets a trapping byte in their place.
class RedirectTest {
    private static final long ADDRESS = 0x401000;

    private final InstructionSet instructions = InstructionSet.ofAtomicUnit(8);

    private Redirect redirect(String hex) {
        return instructions.relocation().redirect(HexFormat.of().parseHex(hex), ADDRESS);
    }

    @ParameterizedTest
    @CsvSource({
        "nop,                      90,                 401001",
        "xchg %ax %ax,             6690,               401002",
        "nopl (%rax),              0f1f00,             401003",
        "nopl 0(%rax %rax),        0f1f440000,         401005",
        "nopw 0(%rax %rax),        660f1f440000,       401006",
        "addr32 nopl 0(%eax %eax), 670f1f440000,       401006",
        "jmp .+0x10,               eb0e,               401010",
        "jmp .-0x10,               ebee,               400ff0",
        "jmp .+0x1000,             e9fb0f0000,         402000"
    })
    void shouldJumpInPlaceOfNopsAndJumps(String mnemonic, String hex, String target) {
        assertThat(redirect(hex)).as(mnemonic).isEqualTo(new Redirect.Jump(Long.parseLong(target, 16)));
    }

    @ParameterizedTest
    @CsvSource({
        "call .+0x1000,        e8fb0f0000,   402000, 5",
        "call .-0x1000,        e8fbefffff,   400000, 5",
        "addr32 call .+0x1000, 67e8fa0f0000, 402000, 6"
    })
    void shouldCallInPlaceOfDirectCalls(String mnemonic, String hex, String target, int length) {
        assertThat(redirect(hex)).as(mnemonic).isEqualTo(new Redirect.Call(Long.parseLong(target, 16), length));
    }

    @ParameterizedTest
    @CsvSource({
        "xchg %eax %r8d,    4190",
        "mov $1 %eax,       b801000000",
        "data16 call,       66e8fb0f0000",
        "data16 jmp,        66e9fa0f0000",
        "lea 0x10(%rip),    8d0510000000",
        "call *0x10(%rip),  ff1510000000",
        "ret,               c3",
        "cpuid,             0fa2",
        "prefetch (%rax),   0f0d00"
    })
    void shouldWantACopyOfAllElse(String mnemonic, String hex) {
        assertThat(redirect(hex)).as(mnemonic).isNull();
    }
}
