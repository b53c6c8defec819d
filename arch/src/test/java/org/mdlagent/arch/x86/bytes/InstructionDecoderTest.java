package org.mdlagent.arch.x86.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Section;
import org.mdlagent.arch.shim.Harness;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.x86.bytes.Instruction.Kind;

/// The decoder against objdump, on all the code of libraries that every machine has.
class InstructionDecoderTest {
    private static final InstructionDecoder DECODER = new NativeInstructionDecoder(Harness.API);

    private static final Pattern LINE = Pattern.compile("^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t?(.*)$");
    private static final Pattern SECTION = Pattern.compile("^Disassembly of section (.*):$");

    private static final String PREFIX = "(?:(?:bnd|notrack|data16|addr32|lock|repz?|repnz|rex[.WRXB]*|[cdefgs]s) )*";
    private static final Pattern BRANCH =
            Pattern.compile(PREFIX + "(call|jmp|j\\w+|loop\\w*|xbegin)(?:,p[nt])? +([0-9a-f]+)(?: <.*)?");
    private static final Pattern OPERAND = Pattern.compile("\\(%rip\\).*# (?:0x)?([0-9a-f]+)(?: <.*)?$");
    private static final Pattern LAST = Pattern.compile(PREFIX + "(?:l?jmp|l?ret|iret|ud[012]|hlt)[wlq]?\\b.*");

    /// What objdump prints as one instruction and the processor executes as two, the first `fwait`.
    private static final Pattern WAITING = Pattern.compile("f(?:stcw|stsw|stenv|save|clex|init|eni|disi)\\b.*");

    private static final int REPORTED = 20;

    private int instructions;
    private final Map<Kind, Integer> kinds = new TreeMap<>();
    private final List<String> differences = new ArrayList<>();

    @Test
    void shouldDecodeEveryInstructionOfTheSystemsLibrariesAsObjdumpDoes() throws Exception {
        for (String library : List.of("libc.so.6", "libstdc++.so.6", "libm.so.6", "ld-linux-x86-64.so.2")) {
            compare(Path.of(GnuTools.run("g++", "-print-file-name=" + library).strip())
                    .toRealPath());
        }
        System.out.println("decoder against objdump: " + instructions + " instructions, " + kinds + ", "
                + differences.size() + " differences");

        assertThat(differences.stream().limit(REPORTED)).isEmpty();
        assertThat(instructions).isGreaterThan(500_000);
        assertThat(kinds.keySet())
                .contains(
                        Kind.PLAIN,
                        Kind.RIP_RELATIVE,
                        Kind.CALL,
                        Kind.JUMP,
                        Kind.CONDITIONAL_JUMP,
                        Kind.COUNTED_JUMP,
                        Kind.TRANSACTION,
                        Kind.INDIRECT_CALL);
    }

    private void compare(Path library) throws Exception {
        Process objdump = new ProcessBuilder("objdump", "-d", "-w", "-z", library.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        int before = instructions;
        try (ElfFile elf = ElfFile.open(library);
                var lines = objdump.inputReader()) {
            byte[] file = Files.readAllBytes(library);
            byte[] code = new byte[0];
            byte[] lengths = code;
            long address = 0;
            int offset = 0;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Matcher header = SECTION.matcher(line);
                Matcher instruction = LINE.matcher(line);
                if (header.matches()) {
                    assertThat(offset).isEqualTo(code.length);
                    Section section = elf.section(header.group(1));
                    assertThat(section).isNotNull();
                    code = new byte[(int) section.size()];
                    System.arraycopy(file, (int) section.offset(), code, 0, code.length);
                    address = section.address();
                    offset = 0;
                    lengths = lengths(code);
                } else if (instruction.matches()) {
                    int length = instruction.group(2).length() / 3;
                    String text = instruction.group(3).strip();
                    assertThat(Long.parseUnsignedLong(instruction.group(1), 16)).isEqualTo(address + offset);
                    if (code[offset] == (byte) 0x9B && WAITING.matcher(text).matches()) {
                        compare(code, lengths, offset, address, 1, "fwait");
                        compare(code, lengths, offset + 1, address, length - 1, text);
                    } else {
                        compare(code, lengths, offset, address, length, text);
                    }
                    offset += length;
                }
            }
            assertThat(offset).isEqualTo(code.length);
        }
        assertThat(objdump.waitFor()).isZero();
        assertThat(instructions - before).as(library.toString()).isGreaterThan(10_000);
    }

    /// As the decoder of lengths alone has them: at the start of each instruction, 0 inside.
    private static byte[] lengths(byte[] code) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(2L * code.length);
            MemorySegment.copy(code, 0, memory, ValueLayout.JAVA_BYTE, 0, code.length);
            long out = memory.address() + code.length;
            assertThat(Harness.API.decode(memory.address(), code.length, out)).isEqualTo(code.length);
            return Memory.copy(out, code.length);
        }
    }

    private void compare(byte[] code, byte[] lengths, int offset, long address, int length, String text) {
        instructions++;
        String place = Long.toHexString(address + offset) + ": " + text;
        for (int i = 0; i < length; i++) {
            if (lengths[offset + i] != (i == 0 ? length : 0)) {
                differences.add(place + ": length " + lengths[offset] + ", then " + lengths[offset + i]);
                break;
            }
        }
        try {
            Instruction found = DECODER.decode(code, offset, address);
            kinds.merge(found.kind(), 1, Integer::sum);
            Instruction expected = expected(found, length, text);
            if (!found.equals(expected)) {
                differences.add(place + ": " + found + ", expected " + expected);
            }
        } catch (IllegalArgumentException e) {
            differences.add(place + ": " + e.getMessage());
        }
    }

    /// What objdump's text tells; where the displacement stands and the opcode are not in it.
    private static Instruction expected(Instruction found, int length, String text) {
        Kind kind = Kind.PLAIN;
        long target = 0;
        Matcher branch = BRANCH.matcher(text);
        Matcher operand = OPERAND.matcher(text);
        if (branch.matches()) {
            kind = branchKind(branch.group(1));
            target = Long.parseUnsignedLong(branch.group(2), 16);
        } else {
            if (operand.find()) {
                kind = Kind.RIP_RELATIVE;
                target = Long.parseUnsignedLong(operand.group(1), 16);
            }
            if (text.matches(PREFIX + "call .*")) {
                kind = Kind.INDIRECT_CALL;
            }
        }
        boolean fallsThrough = !LAST.matcher(text).matches();
        return new Instruction(
                length, kind, target, found.relativeAt(), found.relativeSize(), found.opcode(), fallsThrough);
    }

    private static Kind branchKind(String mnemonic) {
        return switch (mnemonic) {
            case "call" -> Kind.CALL;
            case "jmp" -> Kind.JUMP;
            case "xbegin" -> Kind.TRANSACTION;
            case "jrcxz", "jecxz", "loop", "loope", "loopne" -> Kind.COUNTED_JUMP;
            default -> Kind.CONDITIONAL_JUMP;
        };
    }

    @Test
    void shouldSayWhereTheDisplacementStands() {
        assertThat(decode("488d0510000000", 0x1000)) // lea 0x10(%rip),%rax
                .isEqualTo(new Instruction(7, Kind.RIP_RELATIVE, 0x1017, 3, 4, 0x8D, true));
        assertThat(decode("c705f0ffffff2a000000", 0x1000)) // movl $42,-16(%rip): an immediate follows
                .isEqualTo(new Instruction(10, Kind.RIP_RELATIVE, 0xFFA, 2, 4, 0xC7, true));
        assertThat(decode("7ffe", 0x1000)) // jg to itself
                .isEqualTo(new Instruction(2, Kind.CONDITIONAL_JUMP, 0x1000, 1, 1, 0x7F, true));
        assertThat(decode("67e37f", 0xFFFFFFFFFFFFFFF0L)) // jecxz across the end of the address space
                .isEqualTo(new Instruction(3, Kind.COUNTED_JUMP, 0x72, 2, 1, 0xE3, true));
        assertThat(decode("ff1500000080", 0x1_0000_0000L)) // call *-0x80000000(%rip)
                .isEqualTo(new Instruction(6, Kind.INDIRECT_CALL, 0x80000006L, 2, 4, 0xFF, true));
        assertThat(decode("ffd0", 0x1000)) // call *%rax
                .isEqualTo(new Instruction(2, Kind.INDIRECT_CALL, 0, 0, 0, 0xFF, true));
    }

    @Test
    void shouldNotTakeControlRegisterForAnOperandInMemory() {
        assertThat(decode("0f2205", 0).kind()).isEqualTo(Kind.PLAIN); // mov %rbp,%cr0: mod is ignored
    }

    @Test
    void shouldSetApartWhatIsBoundToItsPlace() {
        assertThat(decode("678b0510000000", 0).kind()).isEqualTo(Kind.BOUND); // mov 0x10(%eip),%eax
        assertThat(decode("ff1d10000000", 0).kind()).isEqualTo(Kind.BOUND); // lcall *0x10(%rip)
        assertThat(decode("c7f800000000", 0).kind()).isEqualTo(Kind.TRANSACTION); // xbegin
    }

    @Test
    void shouldRefuseBranchThatProcessorsDisagreeOn() {
        for (String branch : new String[] {"66e800000000", "66e900000000", "66eb00", "667400", "66e300", "66ffd0"}) {
            assertThatThrownBy(() -> decode(branch, 0)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(decode("666648e800000000", 0).kind()).isEqualTo(Kind.CALL); // of __tls_get_addr
    }

    @Test
    void shouldRefuseCutInstruction() {
        byte[] whole = HexFormat.of().parseHex("48c7050102030405060708"); // movq $imm32,disp32(%rip)
        assertThat(DECODER.decode(whole, 0, 0).length()).isEqualTo(whole.length);
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = java.util.Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> DECODER.decode(cut, 0, 0x1234))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("0x1234");
        }
    }

    @Test
    void shouldDecodeOrRefuseAnyBytes() {
        SplittableRandom random = new SplittableRandom(1);
        int decoded = 0;
        int refused = 0;
        for (int i = 0; i < 300_000; i++) {
            byte[] code = new byte[random.nextInt(18)];
            random.nextBytes(code);
            try {
                Instruction instruction = DECODER.decode(code, 0, random.nextLong());
                assertThat(instruction.length()).isBetween(1, Math.min(code.length, InstructionDecoder.LENGTH_MAX));
                assertThat(instruction.relativeAt() + instruction.relativeSize())
                        .isBetween(0, instruction.length());
                decoded++;
            } catch (IllegalArgumentException e) {
                refused++;
            }
        }
        assertThat(decoded).isGreaterThan(100_000);
        assertThat(refused).isGreaterThan(30_000);
    }

    @Test
    void shouldDecodeInSeveralThreadsAtOnce() throws Exception {
        byte[] code = HexFormat.of().parseHex("488d0510000000");
        Instruction expected = DECODER.decode(code, 0, 0);
        List<Integer> right = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            threads.add(Thread.ofPlatform().start(() -> {
                int equal = 0;
                for (int i = 0; i < 20_000; i++) {
                    equal += DECODER.decode(code, 0, 0).equals(expected) ? 1 : 0;
                }
                synchronized (right) {
                    right.add(equal);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(right).containsExactly(20_000, 20_000, 20_000, 20_000);
    }

    private static Instruction decode(String bytes, long address) {
        return DECODER.decode(HexFormat.of().parseHex(bytes), 0, address);
    }
}
