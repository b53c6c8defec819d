package org.mdlagent.arch.x86.patch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.code.RelocatedCode;
import org.mdlagent.arch.shim.Harness;
import org.mdlagent.arch.x86.bytes.GnuTools;
import org.mdlagent.arch.x86.bytes.NativeInstructionDecoder;
/// The form of each copy: golden bytes, and what objdump reads in them.

class RelocatorTest {
    private static final long ADDRESS = 0x7f12_9456_7000L;
    private static final long NEAR = ADDRESS + 0x1000_0000;
    private static final long FAR = ADDRESS + 0x1_0000_0000L;

    @TempDir
    Path directory;

    private final Relocator relocator = new Relocator(new NativeInstructionDecoder(Harness.API));

    @Test
    void shouldCopyWhatIsTheSameEverywhere() throws Exception {
        assertCopy(
                NEAR,
                List.of("4 endbr64", "1 push %rbp", "3 mov %rsp,%rbp"),
                "f30f1efa 55 4889e5",
                List.of("4 endbr64", "1 push %rbp", "3 mov %rsp,%rbp", "5 jmp 0x7f1294567008"),
                "f30f1efa 55 4889e5 e9fbffffef");
        assertCopy(NEAR, List.of("2 syscall"), "0f05", List.of("2 syscall", "5 jmp 0x7f1294567002"), "0f05 e9fbffffef");
    }

    @Test
    void shouldMoveWhatIsTheSameEverywhereButForItsLastJump() {
        byte[] plain = HexFormat.of().parseHex("f30f1efa554889e5");
        RelocatedCode made = relocator.relocated(plain, ADDRESS, ADDRESS);

        assertThat(made.isMovable()).isTrue();
        for (long at : new long[] {NEAR, ADDRESS - 0x1000_0000, ADDRESS + 5}) {
            RelocatedCode moved = made.moved(at - ADDRESS);
            RelocatedCode anew = relocator.relocated(plain, ADDRESS, at);
            assertThat(moved.bytes()).isEqualTo(anew.bytes());
            assertThat(moved.starts()).isEqualTo(anew.starts());
        }
        assertThatThrownBy(() -> made.moved(FAR - ADDRESS)).hasMessageContaining("out of reach");
    }

    @Test
    void shouldNotMoveWhatDependsOnWhereItStands() {
        // A relative operand; a jump; a branch to itself; what does not go on.
        for (String code : List.of("488b0510000000", "55eb10", "55ebfe", "7410", "c3")) {
            RelocatedCode made = relocator.relocated(HexFormat.of().parseHex(code), ADDRESS, ADDRESS);

            assertThat(made.isMovable()).as(code).isFalse();
            assertThatThrownBy(() -> made.moved(64)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldAddNothingBehindWhatDoesNotGoOn() throws Exception {
        for (String code : List.of("c3", "f3c3", "c20800", "ffe0", "0f0b", "f4")) {
            assertThat(relocate(code, NEAR)).isEqualTo(code);
        }
    }

    @Test
    void shouldReaimOperandRelativeToInstruction() throws Exception {
        assertCopy(
                NEAR,
                List.of("7 mov 0x10(%rip),%rax # 0x7f1294567017"),
                "488b0510000000",
                List.of("7 mov -0xffffff0(%rip),%rax # 0x7f1294567017", "5 jmp 0x7f1294567007"),
                "488b05100000f0 e9fbffffef");
        // Behind the displacement stands an immediate.
        assertCopy(
                NEAR,
                List.of("10 movl $0x2a,-0x10(%rip) # 0x7f1294566ffa"),
                "c705f0ffffff2a000000",
                List.of("10 movl $0x2a,-0x10000010(%rip) # 0x7f1294566ffa", "5 jmp 0x7f129456700a"),
                "c705f0ffffef2a000000 e9fbffffef");
        assertCopy(
                NEAR,
                List.of("10 vaddps 0x40(%rip),%zmm1,%zmm0 # 0x7f129456704a"),
                "62f174485805 40000000",
                List.of("10 vaddps -0xfffffc0(%rip),%zmm1,%zmm0 # 0x7f129456704a", "5 jmp 0x7f129456700a"),
                "62f174485805 400000f0 e9fbffffef");
        assertCopy(
                NEAR,
                List.of("6 jmp *0x10(%rip) # 0x7f1294567016"),
                "ff2510000000",
                List.of("6 jmp *-0xffffff0(%rip) # 0x7f1294567016"),
                "ff25100000f0");
    }

    @Test
    void shouldWidenShortBranches() throws Exception {
        assertCopy(NEAR, List.of("2 jmp 0x7f1294567012"), "eb10", List.of("5 jmp 0x7f1294567012"), "e90d0000f0");
        assertCopy(
                NEAR,
                List.of("2 jg 0x7f1294566ff2"),
                "7ff0",
                List.of("6 jg 0x7f1294566ff2", "5 jmp 0x7f1294567002"),
                "0f8fecffffef e9f7ffffef");
        assertCopy(
                NEAR,
                List.of("6 jns 0x7f1294567106"),
                "0f8900010000",
                List.of("6 jns 0x7f1294567106", "5 jmp 0x7f1294567006"),
                "0f89000100f0 e9fbffffef");
    }

    @Test
    void shouldGiveCountedJumpsTwoJumps() throws Exception {
        assertCopy(
                NEAR,
                List.of("2 loop 0x7f1294567012"),
                "e210",
                List.of(
                        "2 loop 0x7f12a4567004",
                        "2 jmp 0x7f12a4567009",
                        "5 jmp 0x7f1294567012",
                        "5 jmp 0x7f1294567002"),
                "e202 eb05 e9090000f0 e9f4ffffef");
        assertCopy(
                NEAR,
                List.of("2 jrcxz 0x7f1294567012"),
                "e310",
                List.of(
                        "2 jrcxz 0x7f12a4567004",
                        "2 jmp 0x7f12a4567009",
                        "5 jmp 0x7f1294567012",
                        "5 jmp 0x7f1294567002"),
                "e302 eb05 e9090000f0 e9f4ffffef");
        assertCopy(
                NEAR,
                List.of("3 jecxz 0x7f1294567013"),
                "67e310",
                List.of(
                        "3 jecxz 0x7f12a4567005",
                        "2 jmp 0x7f12a456700a",
                        "5 jmp 0x7f1294567013",
                        "5 jmp 0x7f1294567003"),
                "67e302 eb05 e9090000f0 e9f4ffffef");
    }

    @Test
    void shouldPushTheOriginalReturnAddress() throws Exception {
        assertCopy(
                NEAR,
                List.of("5 call 0x7f1294567105"),
                "e800010000",
                List.of("5 push $0xffffffff94567005", "8 movl $0x7f12,0x4(%rsp)", "5 jmp 0x7f1294567105"),
                "6805705694 c7442404127f0000 e9f30000f0");
        assertCopy(
                NEAR,
                List.of("2 call *%rax"),
                "ffd0",
                List.of(
                        "2 push %rax",
                        "4 pop -0x10(%rsp)",
                        "5 push $0xffffffff94567002",
                        "8 movl $0x7f12,0x4(%rsp)",
                        "4 jmp *-0x8(%rsp)"),
                "fff0 8f4424f0 6802705694 c7442404127f0000 ff6424f8");
        assertCopy(
                NEAR,
                List.of("6 call *0x10(%rip) # 0x7f1294567016"),
                "ff1510000000",
                List.of(
                        "6 push -0xffffff0(%rip) # 0x7f1294567016",
                        "4 pop -0x10(%rsp)",
                        "5 push $0xffffffff94567006",
                        "8 movl $0x7f12,0x4(%rsp)",
                        "4 jmp *-0x8(%rsp)"),
                "ff35100000f0 8f4424f0 6806705694 c7442404127f0000 ff6424f8");
        assertCopy(
                NEAR,
                List.of("5 call *0x8(%rsp,%r9,8)"),
                "42ff54cc08",
                List.of(
                        "5 push 0x8(%rsp,%r9,8)",
                        "4 pop -0x10(%rsp)",
                        "5 push $0xffffffff94567005",
                        "8 movl $0x7f12,0x4(%rsp)",
                        "4 jmp *-0x8(%rsp)"),
                "42ff74cc08 8f4424f0 6805705694 c7442404127f0000 ff6424f8");
    }

    @Test
    void shouldReachAnyTargetThroughMemory() throws Exception {
        assertCopy(
                FAR,
                List.of("2 jmp 0x7f1294567012"),
                "eb10",
                List.of("6 jmp *0x0(%rip) # 0x7f1394567006"),
                "ff2500000000 12705694127f0000");
        assertCopy(
                FAR,
                List.of("2 je 0x7f1294567012"),
                "7410",
                List.of("2 jne 0x7f1394567010", "6 jmp *0x0(%rip) # 0x7f1394567008"),
                "750e ff2500000000 12705694127f0000 ff2500000000 02705694127f0000");
        assertCopy(
                FAR,
                List.of("2 loopne 0x7f1294567012"),
                "e010",
                List.of("2 loopne 0x7f1394567004", "2 jmp 0x7f1394567012", "6 jmp *0x0(%rip) # 0x7f139456700a"),
                "e002 eb0e ff2500000000 12705694127f0000 ff2500000000 02705694127f0000");
        assertCopy(
                FAR,
                List.of("5 call 0x7f1294567105"),
                "e800010000",
                List.of("5 push $0xffffffff94567005", "8 movl $0x7f12,0x4(%rsp)", "6 jmp *0x0(%rip) # 0x7f1394567013"),
                "6805705694 c7442404127f0000 ff2500000000 05715694127f0000");
    }

    @Test
    void shouldLeadBranchesAmongTheInstructionsToTheirCopies() throws Exception {
        assertCopy(
                NEAR,
                List.of("2 jmp 0x7f1294567004", "2 dec %ecx", "2 jne 0x7f1294567002", "2 jmp 0x7f1294567006"),
                "eb02 ffc9 75fc ebfe",
                List.of("5 jmp 0x7f12a4567007", "2 dec %ecx", "6 jne 0x7f12a4567005", "5 jmp 0x7f12a456700d"),
                "e902000000 ffc9 0f85f8ffffff e9fbffffff");
        // The end is not among them.
        assertCopy(
                NEAR,
                List.of("2 jmp 0x7f1294567003", "1 nop"),
                "eb01 90",
                List.of("5 jmp 0x7f1294567003", "1 nop", "5 jmp 0x7f1294567003"),
                "e9feffffef 90 e9f8ffffef");
    }

    @Test
    void shouldTellWhereTheCopyOfEachInstructionBegins() {
        int[] starts =
                relocator.relocated(bytes("eb02 ffc9 75fc ebfe"), ADDRESS, NEAR).starts();
        assertThat(starts).containsExactly(0, -1, 5, -1, 7, -1, 13, -1);
        starts = relocator.relocated(bytes("55 e210 ffd0"), ADDRESS, NEAR).starts();
        assertThat(starts).containsExactly(0, 1, -1, 10, -1);
    }

    @Test
    void shouldReaimAsFarAsDisplacementsReach() {
        long next = ADDRESS + 7;
        String lea = "488d0500000000"; // lea 0(%rip),%rax
        assertThat(relocate(lea, ADDRESS + 0x8000_0000L)).startsWith("488d0500000080");
        assertThat(relocate(lea, ADDRESS - 0x7FFF_FFFFL)).startsWith("488d05ffffff7f");
        for (long at : new long[] {ADDRESS + 0x8000_0001L, ADDRESS - 0x8000_0000L, ADDRESS + Long.MIN_VALUE}) {
            assertThatThrownBy(() -> relocate(lea, at))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(Long.toHexString(next) + " is out of reach of 0x" + Long.toHexString(at + 7));
        }
    }

    @Test
    void shouldTellWhatToAllocateByRelocatingInPlace() {
        for (String code : List.of("eb10", "7ff0", "e210", "e800010000", "ff1510000000", "488b0510000000", "5590")) {
            assertThat(relocate(code, ADDRESS)).hasSameSizeAs(relocate(code, NEAR));
        }
    }

    @Test
    void shouldRefuseWithReason() {
        assertRefused("c7f800000000", "0x7f1294567000", "transaction");
        assertRefused("ff1d10000000", "0x7f1294567000", "far call");
        assertRefused("678b0510000000", "0x7f1294567000", "low half of the instruction pointer");
        assertRefused("90 e800000000 90", "0x7f1294567001", "must be the last");
        assertRefused("ffd0 90", "0x7f1294567000", "must be the last");
        assertRefused("eb01 4889e5", "0x7f1294567003", "no instruction begins there");
        assertRefused("90 06", "0x7f1294567001", "no instruction");
        assertRefused("90 4889", "0x7f1294567001", "no instruction");
    }

    @Test
    void shouldRelocateOrRefuseAnyBytes() {
        SplittableRandom random = new SplittableRandom(7);
        int relocated = 0;
        int refused = 0;
        for (int i = 0; i < 200_000; i++) {
            byte[] code = new byte[random.nextInt(24)];
            random.nextBytes(code);
            long address = random.nextLong();
            long at = random.nextBoolean() ? random.nextLong() : address + random.nextInt();
            try {
                assertThat(relocator.relocate(code, address, at)).hasSizeBetween(1, 16 * code.length + 14);
                relocated++;
            } catch (IllegalArgumentException e) {
                assertThat(e).hasMessageContaining("0x");
                refused++;
            }
        }
        assertThat(relocated).isGreaterThan(20_000);
        assertThat(refused).isGreaterThan(20_000);
    }

    /// The first lines of what objdump reads are enough where addresses stand between the instructions.
    private void assertCopy(long at, List<String> text, String code, List<String> copiedText, String copy)
            throws Exception {
        assertThat(GnuTools.disassemble(directory, bytes(code), ADDRESS)).isEqualTo(text);
        assertThat(relocate(code, at)).isEqualTo(copy.replace(" ", ""));
        List<String> copied = GnuTools.disassemble(directory, bytes(copy), at);
        assertThat(at == FAR ? copied.subList(0, copiedText.size()) : copied).isEqualTo(copiedText);
    }

    private void assertRefused(String code, String... reasons) {
        assertThatThrownBy(() -> relocate(code, NEAR))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(reasons);
    }

    private String relocate(String code, long at) {
        return HexFormat.of().formatHex(relocator.relocate(bytes(code), ADDRESS, at));
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }
}
