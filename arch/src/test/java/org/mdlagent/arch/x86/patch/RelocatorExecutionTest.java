package org.mdlagent.arch.x86.patch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.mdlagent.arch.shim.Harness;
import org.mdlagent.arch.x86.bytes.Instruction;
import org.mdlagent.arch.x86.bytes.Instruction.Kind;
import org.mdlagent.arch.x86.bytes.InstructionDecoder;
import org.mdlagent.arch.x86.bytes.NativeInstructionDecoder;
import org.mdlagent.arch.x86.bytes.RandomInstructions;
import org.mdlagent.arch.x86.bytes.RandomInstructions.Sample;
import org.mdlagent.arch.x86.bytes.Register;

/// Random instructions in place, and their copies elsewhere, run from the same state: the effect on registers, flags,
/// vector and x87 state and memory has to be the same. `native-shim/test/run_relocated.c` runs and compares them. Not
/// compared are the two words below an indirect call's return address, which are dead, and, when it faults, more than
/// the signal: the processor takes its push back, the copy does not.
class RelocatorExecutionTest {
    private static final InstructionDecoder DECODER = new NativeInstructionDecoder(Harness.API);
    private static final int CASES = 100_000;
    private static final int CANDIDATES = 150_000;

    private static final long CODE = 0x1000_0000_0000L;
    private static final long GATES_AT = CODE + 0x1000_0000L;
    private static final long DATA = CODE + 0x2000_0000L;
    private static final long STACK = CODE + 0x2FFF_F000L;
    private static final long COPIES = CODE + 0x4000_0000L;
    private static final long FAR = CODE + 0x100_0000_0000L;
    private static final int DATA_BYTES = 8192;
    private static final int STACK_BYTES = 8192;

    /// Where a run ends: before the code, behind it, behind that, elsewhere. The first three have a jump near the code.
    private static final int GATES = 4;

    private static final int GATE_BYTES = 16;
    private static final int ELSEWHERE = 3;
    private static final int LANDING = 16;
    private static final long RETURN = GATES_AT + 0x100;
    private static final int RSP = Register.RSP.ordinal();
    private static final int RCX = Register.RCX.ordinal();

    @TempDir
    Path directory;

    private final SplittableRandom random = new SplittableRandom(20_261_121);
    private final Map<Kind, Integer> kinds = new TreeMap<>();
    private final List<Case> cases = new ArrayList<>();
    private final Map<String, Integer> refused = new TreeMap<>();

    /// @param around the code with what surrounds it, from `address - LANDING` on
    private record Case(
            long address, byte[] around, int length, long at, byte[] copy, long[] registers, List<Sample> samples) {}

    /// An instruction to be placed: a sample as it is, or a branch whose displacement is chosen then.
    private record Element(Sample sample, int displacementSize) {
        boolean isBranch() {
            return displacementSize != 0;
        }

        int length() {
            return sample.bytes().length + displacementSize;
        }
    }

    @Test
    void shouldHaveTheSameEffectElsewhere() throws Exception {
        List<Sample> samples = RandomInstructions.generate(random, CANDIDATES, directory);
        Relocator relocator = new Relocator(DECODER);
        while (cases.size() < CASES) {
            addCase(samples, relocator, 1 + random.nextInt(3));
        }
        Result result = run();

        TreeSet<String> completed = new TreeSet<>();
        Map<String, Integer> ends = new TreeMap<>();
        int instructions = 0;
        int executed = 0;
        for (int i = 0; i < CASES; i++) {
            List<Sample> block = cases.get(i).samples();
            int end = result.ends()[i];
            ends.merge(end < GATES ? "gate " + end : "signal " + (end - 100), 1, Integer::sum);
            instructions += block.size();
            if (end < GATES) {
                executed++;
                completed.add(block.getFirst().mnemonic());
            }
        }
        System.out.printf(
                "relocator: %d cases of %d instructions %s; refused %s; ended at %s; %d distinct mnemonics ran to a gate%n%s%n",
                CASES, instructions, kinds, refused, ends, completed.size(), result.output());

        assertThat(result.differing().stream().map(this::describe)).isEmpty();
        assertThat(result.output()).isEqualTo(CASES + " cases, 0 differences");
        assertThat(executed).isGreaterThan(CASES / 2);
        assertThat(completed).hasSizeGreaterThan(400);
        assertThat(ends.keySet()).contains("gate 0", "gate 1", "gate 2", "gate 3", "signal 11");
        assertThat(kinds.keySet())
                .contains(
                        Kind.PLAIN,
                        Kind.RIP_RELATIVE,
                        Kind.CALL,
                        Kind.JUMP,
                        Kind.CONDITIONAL_JUMP,
                        Kind.COUNTED_JUMP,
                        Kind.INDIRECT_CALL);
    }

    /// The broken twins: one forgets to re-aim operands, one lets callees return into the copy.
    @ParameterizedTest
    @EnumSource(names = {"RIP_RELATIVE", "INDIRECT_CALL"})
    void shouldCatchRelocatorThatTakesKindForPlain(Kind kind) throws Exception {
        List<Sample> samples = RandomInstructions.generate(random, 5_000, directory);
        Relocator broken = new Relocator((code, offset, address) -> {
            Instruction found = DECODER.decode(code, offset, address);
            return found.kind() == kind
                    ? new Instruction(found.length(), Kind.PLAIN, 0, 0, 0, found.opcode(), found.fallsThrough())
                    : found;
        });
        while (cases.size() < 1_000) {
            addCase(samples, broken, 1);
        }
        assertThat(kinds.get(kind)).isGreaterThan(50);

        assertThat(run().differing()).hasSizeGreaterThan(10).allSatisfy(number -> {
            Case differing = cases.get(number);
            assertThat(DECODER.decode(differing.around(), LANDING, differing.address() - LANDING)
                            .kind())
                    .isEqualTo(kind);
        });
    }

    private void addCase(List<Sample> samples, Relocator relocator, int count) {
        List<Element> elements = new ArrayList<>();
        while (elements.size() < count) {
            boolean last = elements.size() == count - 1;
            elements.add(random.nextInt(4) == 0 ? control(last) : element(samples));
        }
        boolean far = random.nextInt(8) == 0;
        long address = CODE + 0x1000 + random.nextInt(0xE000);
        byte[] code = new byte[elements.stream().mapToInt(Element::length).sum()];
        long[] registers = registers();
        try {
            place(elements, code, address, registers);
            long at = (far ? FAR : COPIES) + random.nextInt(0xF000);
            byte[] copy = relocator.relocate(code, address, at);
            byte[] around = surround(code, address);
            List<Sample> texts = elements.stream().map(Element::sample).toList();
            cases.add(new Case(address, around, code.length, at, copy, registers, texts));
            for (int offset = 0; offset < code.length; ) {
                Instruction instruction = DECODER.decode(code, offset, address);
                kinds.merge(instruction.kind(), 1, Integer::sum);
                offset += instruction.length();
            }
        } catch (IllegalArgumentException e) {
            refused.merge(e.getMessage().replaceAll("0x\\w+|: \\w+$", "..."), 1, Integer::sum);
        }
    }

    private Element element(List<Sample> samples) {
        return new Element(samples.get(random.nextInt(samples.size())), 0);
    }

    private Element control(boolean last) {
        int condition = random.nextInt(16);
        return switch (random.nextInt(last ? 10 : 7)) {
            case 0, 1 -> branch("jcc", 1, 0x70 | condition);
            case 2 -> branch("jcc", 4, 0x0F, 0x80 | condition);
            case 3, 4 -> branch("loop", 1, 0xE0 | condition & 3);
            case 5 -> branch("loop", 1, 0x67, 0xE0 | condition & 3);
            case 6 ->
                switch (random.nextInt(4)) {
                    case 0 -> branch("jmp", 1, 0xEB);
                    case 1 -> branch("jmp", 4, 0xE9);
                    case 2 -> branch("jmp", 4, 0xF2, 0xE9); // bnd
                    default -> branch("jcc", 1, 0x3E, 0x70 | condition); // a hint
                };
            case 7 -> branch("call", 4, 0xE8);
            case 8 -> sample("call *%r", 0x41, 0xFF, 0xD0 | random.nextInt(8));
            default ->
                random.nextBoolean()
                        ? sample("call *(%rip)", 0xFF, 0x15, 0, 0, 0, 0)
                        // through the stack, beginning with where the return address goes
                        : sample("call *(%rsp)", 0xFF, 0x54, 0x24, random.nextInt(-1, 8) * 8);
        };
    }

    private static Element branch(String name, int displacementSize, int... opcode) {
        return new Element(new Sample(bytes(opcode), name), displacementSize);
    }

    private static Element sample(String text, int... bytes) {
        return new Element(new Sample(bytes(bytes), text), 0);
    }

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    /// Writes the elements one behind the other: branches to a landing, to one of the elements, or, if they reach so
    /// far, to a gate; operands that are relative to the instruction into the data.
    private void place(List<Element> elements, byte[] code, long address, long[] registers) {
        ByteBuffer out = ByteBuffer.wrap(code).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < elements.size(); i++) {
            Element element = elements.get(i);
            int start = out.position();
            out.put(element.sample().bytes());
            if (element.isBranch()) {
                long target = target(elements, i, start, address, code.length, registers);
                long displacement = target - (address + start + element.length());
                if (element.displacementSize() == 1) {
                    assertThat(displacement).isBetween(-128L, 127L);
                    out.put((byte) displacement);
                } else {
                    out.putInt((int) displacement);
                }
            } else {
                Instruction instruction = DECODER.decode(code, start, address);
                assertThat(instruction.length())
                        .as(element.sample().text() + ", as objdump has it")
                        .isEqualTo(element.length());
                if (instruction.relativeSize() == 4) {
                    out.putInt(start + instruction.relativeAt(), (int)
                            (data() - (address + start + instruction.length())));
                }
            }
        }
    }

    private long target(List<Element> elements, int index, int start, long address, int length, long[] registers) {
        Element branch = elements.get(index);
        boolean call = branch.sample().text().equals("call");
        switch (random.nextInt(6)) {
            case 0 -> {
                return address - LANDING;
            }
            case 1 -> {
                return address + length;
            }
            case 2 -> {
                return address + length + LANDING;
            }
            case 3 -> {
                if (branch.displacementSize() == 4) {
                    return GATES_AT + ELSEWHERE * GATE_BYTES;
                }
            }
            case 4 -> {
                if (call) {
                    return RETURN;
                }
                if (index == 0 && branch.sample().text().equals("loop")) {
                    registers[RCX] = 1 + random.nextInt(9); // or it would run until doomsday
                    return address + start;
                }
            }
            default -> {}
        }
        if (call) {
            return address + length; // pushes the address that it goes to
        }
        int ahead = index + 1 + random.nextInt(elements.size() - index);
        return address
                + elements.subList(0, ahead).stream().mapToInt(Element::length).sum();
    }

    private static byte[] surround(byte[] code, long address) {
        ByteBuffer out = ByteBuffer.allocate(code.length + 3 * LANDING).order(ByteOrder.LITTLE_ENDIAN);
        long start = address - LANDING;
        int[] landings = {0, LANDING + code.length, 2 * LANDING + code.length};
        for (int gate = 0; gate < landings.length; gate++) {
            out.put(landings[gate], (byte) 0xE9);
            out.putInt(landings[gate] + 1, (int) (GATES_AT + gate * GATE_BYTES - (start + landings[gate] + 5)));
        }
        out.put(LANDING, code);
        return out.array();
    }

    private long data() {
        long offset = random.nextInt(4) == 0 ? random.nextInt(-64, 64) * 8 : random.nextInt(-8, 8) * 64;
        return DATA + DATA_BYTES / 2 + offset;
    }

    private long[] registers() {
        long[] registers = new long[16];
        for (int i = 0; i < registers.length; i++) {
            registers[i] = word(50);
        }
        registers[RCX] = random.nextInt(3) == 0 ? registers[RCX] : random.nextInt(9);
        registers[RSP] = STACK + STACK_BYTES / 2 + random.nextInt(-16, 16) * 8;
        return registers;
    }

    /// @param pointers how many in a hundred lead into the data
    private long word(int pointers) {
        int choice = random.nextInt(100);
        if (choice < pointers) {
            return data();
        }
        return switch (random.nextInt(3)) {
            case 0 -> random.nextInt(16);
            case 1 -> random.nextInt(3) == 0 ? RETURN : GATES_AT + random.nextInt(GATES) * GATE_BYTES;
            default -> random.nextLong();
        };
    }

    /// @param differing the cases that were reported
    /// @param ends of each case: a gate, or 100 and a signal
    private record Result(List<Integer> differing, String output, byte[] ends) {}

    private Result run() throws Exception {
        Path file = directory.resolve("cases");
        Path ends = directory.resolve("ends");
        try (OutputStream out = Files.newOutputStream(file)) {
            out.write(header());
            for (Case each : cases) {
                out.write(bytes(each));
            }
        }
        Process process = new ProcessBuilder(
                        Harness.file("mdl_run_relocated").toString(), file.toString(), ends.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        process.waitFor();
        List<Integer> differing = new ArrayList<>();
        for (String line : output.lines().toList()) {
            if (line.startsWith("case ")) {
                differing.add(Integer.valueOf(line.substring(5, line.indexOf(':'))));
            }
        }
        byte[] endOfEach = Files.readAllBytes(ends);
        assertThat(endOfEach)
                .as(output + differing.stream().map(this::describe).toList())
                .hasSize(cases.size());
        return new Result(differing, output, endOfEach);
    }

    private byte[] header() {
        ByteBuffer out = ByteBuffer.allocate(7 * 8 + DATA_BYTES + STACK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(GATES_AT)
                .putLong(CODE)
                .putLong(COPIES)
                .putLong(FAR)
                .putLong(DATA)
                .putLong(STACK)
                .putLong(cases.size());
        while (out.remaining() > STACK_BYTES) {
            out.putLong(word(20));
        }
        while (out.hasRemaining()) {
            out.putLong(random.nextBoolean() ? GATES_AT + random.nextInt(GATES) * GATE_BYTES : word(20));
        }
        return out.array();
    }

    private byte[] bytes(Case test) {
        int size = 2 * 8 + 17 * 8 + 4 * 2 + 2 * 4;
        ByteBuffer out = ByteBuffer.allocate(size + test.around().length + test.copy().length)
                .order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(test.address()).putLong(test.at());
        for (long register : test.registers()) {
            out.putLong(register);
        }
        out.putLong(flags());
        out.putShort((short) test.length()).putShort((short) test.copy().length);
        out.putShort((short) LANDING).putShort((short) test.around().length);
        out.putInt(test.samples().getLast().text().contains("call *") ? 1 : 0).putInt(0);
        return out.put(test.around()).put(test.copy()).array();
    }

    /// Any of the arithmetic ones, seldom the direction.
    private long flags() {
        return random.nextInt() & (random.nextInt(8) == 0 ? 0xCD5 : 0x8D5) | 0x202;
    }

    private String describe(int number) {
        Case test = cases.get(number);
        byte[] code = Arrays.copyOfRange(test.around(), LANDING, LANDING + test.length());
        return number + ": " + test.samples().stream().map(Sample::text).toList() + " "
                + HexFormat.of().formatHex(code) + " at 0x" + Long.toHexString(test.address()) + ", copy "
                + HexFormat.of().formatHex(test.copy()) + " at 0x" + Long.toHexString(test.at());
    }
}
